package cluster

import (
	"context"

	"dormouse/agent"
	"dormouse/internal/planted"
)

// reading is what a waiting read gets: the index it may read at, applied here.
type reading struct {
	index uint64
	err   error
}

// Barrier returns an index no older than the call, once it is applied here.
// Only the leader can; elsewhere the error is unavailable.
//
// The read rides the next entry that has not been sent, and an empty one is
// proposed where none is due. All reads that wait share it. Whatever was
// acknowledged before the call, by whichever leader, stands before that entry
// in the log, or the entry does not commit.
func (g *Group) Barrier(ctx context.Context) (uint64, error) { return g.barrier(ctx, false) }

// barrier is Barrier, of a read on another node where afar says so.
func (g *Group) barrier(ctx context.Context, afar bool) (uint64, error) {
	switch {
	case planted.Is(planted.LeaderLocalRead) && g.IsLeader(),
		planted.Is(planted.NewLeaderServesEarly) && g.justWon():
		return g.machine.Applied(), nil
	case planted.Is(planted.VerifyLeaderRead):
		return g.verifyLeader(ctx)
	}
	wait := make(chan reading, 1)
	if err := g.proposer.join(wait, afar); err != nil {
		return 0, err
	}
	select {
	case r := <-wait:
		return r.index, r.err
	case <-ctx.Done():
		return 0, agent.Errorf(agent.CodeUnavailable, "barrier: %v", context.Cause(ctx))
	}
}

// join lets a read ride the next entry.
func (p *proposer) join(wait chan reading, afar bool) *agent.Error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.closedTo(); err != nil {
		return err
	}
	if len(p.readers) >= readersMax {
		return p.overloaded("reads")
	}
	p.readers = append(p.readers, wait)
	p.afar = p.afar || afar
	p.nudge()
	return nil
}
