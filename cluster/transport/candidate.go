package transport

import "github.com/hashicorp/raft"

// admitNewVoter lets Raft consider a candidate that is no voter in this node's configuration, if
// the candidate has entries that this node lacks: one of them may have made it a voter. Raft
// refuses such a candidate by its id. If the leader is lost before all voters have that entry, no
// node could be elected: the others refuse the new voter, and it refuses their shorter logs. In
// Raft (Ongaro, "Consensus: Bridging Theory and Practice", 4.1) a vote does not depend
// on the voter's configuration. So the request gets the id of a voter; Raft compares the id with
// its configuration only, and then terms and logs. It notes the vote by the candidate's address.
func (g *Guard) admitNewVoter(command any) {
	var header *raft.RPCHeader
	var last uint64
	switch request := command.(type) {
	case *raft.RequestVoteRequest:
		header, last = &request.RPCHeader, request.LastLogIndex
	case *raft.RequestPreVoteRequest:
		header, last = &request.RPCHeader, request.LastLogIndex
	default:
		return
	}
	r := g.raft.Load()
	if r == nil || last <= r.LastIndex() {
		return
	}
	candidate, voter := raft.ServerID(header.ID), raft.ServerID("")
	learner := false
	for _, s := range r.GetConfiguration().Configuration().Servers {
		if s.Suffrage == raft.Voter {
			voter = s.ID
		}
		if s.ID == candidate {
			learner = s.Suffrage != raft.Voter
		}
	}
	if learner && voter != "" {
		g.logger.Info("considering a candidate that is no voter here yet: it has entries that this node lacks", "candidate", string(candidate), "its_last", last)
		header.ID = []byte(voter)
	}
}
