package proposer

import (
	"context"

	"dormouse/agent"
)

// reading is the answer to a read that waits: the index at which it may read,
// which is applied here.
type reading struct {
	index uint64
	err   error
}

// Barrier returns the index of an entry that was proposed after the call, once it
// is applied here. Every commit that was acknowledged before the call is below
// that index. All reads that wait share the next entry; if no commits wait, it is
// empty. The error has code unavailable if this node does not lead.
func (p *Proposer) Barrier(ctx context.Context) (uint64, error) { return await(ctx, p.join) }

// await joins the reads that wait, and waits for the answer.
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

// join adds a read to the next entry.
func (p *Proposer) join(wait chan reading) *agent.Error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.refusal(); err != nil {
		return err
	}
	if len(p.readers) >= readersMax {
		return p.overloaded("reads")
	}
	p.readers = append(p.readers, wait)
	p.Wake()
	return nil
}

// joinAll adds reads to the next entry, and answers those that it refuses.
func (p *Proposer) joinAll(waits []chan reading) {
	for _, wait := range waits {
		if err := p.join(wait); err != nil {
			wait <- reading{err: err}
		}
	}
}
