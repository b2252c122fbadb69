package cluster

import (
	"context"

	"github.com/hashicorp/raft"

	"dormouse/agent"
	"dormouse/cluster/raftlog"
	"dormouse/internal/seededbug"
)

// How a linearizable read confirms that this node still leads.
const (
	BarrierIndex = "index" // a majority of the voters confirms the term
	BarrierLog   = "log"   // an entry is committed
)

// Barrier returns a read index: a read that began before the call is linearizable on a
// node that has applied it. Every commit that any leader acknowledged before the call is
// at or below that index. The error has code unavailable if this node does not lead.
func (g *Group) Barrier(ctx context.Context) (uint64, error) {
	switch {
	case seededbug.Is(seededbug.LeaderLocalRead) && g.IsLeader(),
		seededbug.Is(seededbug.NewLeaderServesEarly) && g.raft.State() == raft.Leader && !g.IsLeader():
		return g.machine.Applied(), nil
	case seededbug.Is(seededbug.VerifyLeaderRead):
		return g.verifyLeader(ctx)
	case g.o.ReadBarrier == BarrierLog:
		return g.proposer.Barrier(ctx)
	}
	return g.index.Barrier(ctx)
}

// verifyLeader is the barrier that hashicorp/raft seems to offer. Only programs
// with the build tag seeded use it.
func (g *Group) verifyLeader(ctx context.Context) (uint64, error) {
	if err := raftlog.Wait(ctx, g.raft.VerifyLeader()); err != nil {
		return 0, agent.Errorf(agent.CodeUnavailable, "barrier: %v", err)
	}
	return g.machine.Applied(), nil
}
