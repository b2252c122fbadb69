package transport

import "github.com/hashicorp/raft"

// admitNewVoter returns the command, so changed that Raft considers a candidate that is no voter in
// this node's configuration, if the candidate has entries that this node lacks: one of them may
// have made it a voter. Raft refuses such a candidate by its id. If the leader is lost before all
// voters have that entry, no node could be elected: the others refuse the new voter, and it refuses
// their shorter logs. In Raft (Ongaro, "Consensus: Bridging Theory and Practice", 4.1) a vote does
// not depend on the voter's configuration. So the request gets the id of a voter; Raft compares the
// id with its configuration only, and then terms and logs. It notes the vote by the candidate's
// address. The request itself is not written to: in one process, several nodes receive the same.
func (g *Guard) admitNewVoter(command any) any {
	switch request := command.(type) {
	case *raft.RequestVoteRequest:
		if voter := g.voterInPlaceOf(request.RPCHeader, request.LastLogIndex); voter != "" {
			admitted := *request
			admitted.ID = []byte(voter)
			return &admitted
		}
	case *raft.RequestPreVoteRequest:
		if voter := g.voterInPlaceOf(request.RPCHeader, request.LastLogIndex); voter != "" {
			admitted := *request
			admitted.ID = []byte(voter)
			return &admitted
		}
	}
	return command
}

// voterInPlaceOf returns the id of a voter, if the candidate is a non-voter here and its last entry
// comes after this node's; "" otherwise.
func (g *Guard) voterInPlaceOf(candidate raft.RPCHeader, last uint64) raft.ServerID {
	r := g.raft.Load()
	if r == nil || last <= r.LastIndex() {
		return ""
	}
	voter, learner := raft.ServerID(""), false
	for _, s := range r.GetConfiguration().Configuration().Servers {
		if s.Suffrage == raft.Voter {
			voter = s.ID
		}
		if s.ID == raft.ServerID(candidate.ID) {
			learner = s.Suffrage != raft.Voter
		}
	}
	if !learner || voter == "" {
		return ""
	}
	g.logger.Info("considering a candidate that is no voter here yet: it has entries that this node lacks", "candidate", string(candidate.ID), "its_last", last)
	return voter
}
