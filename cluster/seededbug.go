package cluster

import (
	"context"
	"time"

	"github.com/hashicorp/raft"

	"dormouse/agent"
)

// What seeded bugs need beyond a line. Nothing here is in a program without
// the build tag seeded.

// justWon tells whether this node has won an election and has not applied all
// that was committed before.
func (g *Group) justWon() bool { return g.raft.State() == raft.Leader && !g.IsLeader() }

// verifyLeader is the barrier that hashicorp/raft seems to offer.
func (g *Group) verifyLeader(ctx context.Context) (uint64, error) {
	if err := wait(ctx, g.raft.VerifyLeader()); err != nil {
		return 0, agent.Errorf(agent.CodeUnavailable, "barrier: %v", err)
	}
	return g.machine.Applied(), nil
}

// unheard tells whether a member did not answer when it was asked last.
func (g *Group) unheard(row agent.Member) bool {
	_, heard := g.followed.applied(row.Incarnation)
	return !heard
}

// optimistMax is how long an optimist waits for an answer.
const optimistMax = 100 * time.Millisecond

// optimist is a transport that takes a follower's silence for success.
type optimist struct{ unpiped }

// AppendEntries implements raft.Transport.
func (t optimist) AppendEntries(id raft.ServerID, target raft.ServerAddress, args *raft.AppendEntriesRequest, resp *raft.AppendEntriesResponse) error {
	answer := make(chan *raft.AppendEntriesResponse, 1)
	go func() {
		var real raft.AppendEntriesResponse
		if t.unpiped.AppendEntries(id, target, args, &real) == nil {
			answer <- &real
		}
	}()
	select {
	case real := <-answer:
		*resp = *real
	case <-time.After(optimistMax):
		*resp = raft.AppendEntriesResponse{Term: args.Term, LastLog: args.PrevLogEntry + uint64(len(args.Entries)), Success: true}
	}
	return nil
}
