package cluster

import (
	"context"

	"dormouse/agent"
	"dormouse/internal/seededbug"
)

// reading is what a waiting read gets: the index it may read at, applied here.
type reading struct {
	index uint64
	err   error
}

// Barrier returns an index no older than the call, once it is applied here.
// Only the leader can; elsewhere the error is unavailable.
//
// What was acknowledged before the call, by whichever leader, is at or below
// that index. See readIndex for how; where it gets no answer, or by
// Options.ReadBarrier, the read goes through the log: it rides the next entry
// that has not been sent, and an empty one is proposed where none is due. All
// reads that wait share it. Whatever was acknowledged before stands before that
// entry in the log, or the entry does not commit.
func (g *Group) Barrier(ctx context.Context) (uint64, error) {
	switch {
	case seededbug.Is(seededbug.LeaderLocalRead) && g.IsLeader(),
		seededbug.Is(seededbug.NewLeaderServesEarly) && g.justWon():
		return g.machine.Applied(), nil
	case seededbug.Is(seededbug.VerifyLeaderRead):
		return g.verifyLeader(ctx)
	case g.o.ReadBarrier == BarrierLog:
		return g.entryBarrier(ctx)
	}
	return await(ctx, g.index.join)
}

// entryBarrier is Barrier through the log.
func (g *Group) entryBarrier(ctx context.Context) (uint64, error) {
	return await(ctx, g.proposer.join)
}

// await joins those who wait for a reading, and waits.
func await(ctx context.Context, join func(chan reading) *agent.Error) (uint64, error) {
	wait := make(chan reading, 1)
	if err := join(wait); err != nil {
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
func (p *proposer) join(wait chan reading) *agent.Error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.closedTo(); err != nil {
		return err
	}
	if len(p.readers) >= readersMax {
		return p.overloaded("reads")
	}
	p.readers = append(p.readers, wait)
	p.nudge()
	return nil
}

// joinAll is join for many, who are told where it fails.
func (p *proposer) joinAll(waits []chan reading) {
	for _, wait := range waits {
		if err := p.join(wait); err != nil {
			wait <- reading{err: err}
		}
	}
}
