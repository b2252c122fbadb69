package cluster

import (
	"context"

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
