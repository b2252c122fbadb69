package transport

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hashicorp/raft"
)

// termStepMax bounds how far the term of a Raft message may be ahead of this
// node's own. Raft adopts and persists every higher term that it receives, and
// never lowers a term again: after one message with the highest term, the next
// election overflows to term 0, and no leader can be elected any more.
// A cluster that holds an election every second needs 136 years for 2³² terms.
const termStepMax = 1 << 32

// checkTerm returns an error if term is too far ahead of this node's own.
func (g *Guard) checkTerm(term uint64) error {
	current := g.stores.Votes.Term.Load()
	if term > current && term-current > termStepMax {
		return fmt.Errorf("refused a Raft message of term %d: this node is in term %d, and no election can lie so far ahead (at most %d terms)", term, current, uint64(termStepMax))
	}
	return nil
}

// strangerQuiet is how long a node must have been without a leader before it
// accepts entries from a sender that its configuration does not name.
const strangerQuiet = 2 * time.Second

// checkName returns an error for a message in the name of a node that has no
// connection to this one. Raft's transport does not say which connection a message
// came from, so a member could still take the name of another connected member.
func (g *Guard) checkName(header raft.RPCHeader) error {
	if g.connected == nil || g.connected(string(header.ID)) {
		return nil
	}
	return fmt.Errorf("refused a Raft message in the name of node %q at %s: no connection to this node is that node's", header.ID, header.Addr)
}

// checkSender returns an error if a node that is no member sends entries, a
// heartbeat or a snapshot while this node leads or follows a member.
//
// Otherwise this node accepts an unknown sender: this node may be new, or every
// member may have been replaced while it was away, and only the leader can send it
// the configurations that say so.
func (g *Guard) checkSender(header raft.RPCHeader) error {
	r := g.raft.Load()
	if r == nil || len(header.ID) == 0 {
		return nil
	}
	servers := r.GetConfiguration().Configuration().Servers // a copy; it never waits
	member := func(id raft.ServerID) bool {
		return slices.ContainsFunc(servers, func(s raft.Server) bool { return s.ID == id })
	}
	if member(raft.ServerID(header.ID)) {
		return nil
	}
	_, leader := r.LeaderWithID()
	if r.State() != raft.Leader && (!member(leader) || time.Since(r.LastContact()) > strangerQuiet) {
		return nil
	}
	return fmt.Errorf("refused a Raft message of node %q at %s: it is no member of this cluster", header.ID, header.Addr)
}

// checkCall returns an error for a message that Raft must not see because of
// its term or its sender.
func (g *Guard) checkCall(command any) error {
	switch request := command.(type) {
	case *raft.RequestVoteRequest:
		return errors.Join(g.checkTerm(request.Term), g.checkName(request.RPCHeader))
	case *raft.RequestPreVoteRequest:
		return errors.Join(g.checkTerm(request.Term), g.checkName(request.RPCHeader))
	case *raft.AppendEntriesRequest:
		return errors.Join(g.checkTerm(request.Term), g.checkName(request.RPCHeader), g.checkSender(request.RPCHeader))
	case *raft.InstallSnapshotRequest:
		return errors.Join(g.checkTerm(request.Term), g.checkName(request.RPCHeader), g.checkSender(request.RPCHeader))
	case *raft.TimeoutNowRequest:
		return g.checkName(request.RPCHeader)
	}
	return nil
}
