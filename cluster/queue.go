package cluster

import (
	"context"
	"errors"
	"time"

	"dormouse/agent"
)

// waiting is one commit that has not been sent.
type waiting struct {
	cmd  []byte
	done func(agent.Decided, error)
	afar bool // of another node
}

// Submit proposes one encoded commit and returns. done is called exactly once,
// from another goroutine or before Submit returns, with how the state machine
// decided or an *agent.Error; it must not block. cmd must not change until then.
func (g *Group) Submit(cmd []byte, done func(agent.Decided, error)) {
	g.submit(waiting{cmd: cmd, done: done})
}

func (g *Group) submit(w waiting) {
	if err := g.proposer.enqueue(w); err != nil {
		w.done(agent.Decided{}, err)
	}
}

// commit proposes one of the group's own commits and waits for it.
func (g *Group) commit(ctx context.Context, cmd []byte) error {
	settled := make(chan error, 1)
	g.Submit(cmd, func(d agent.Decided, err error) {
		if err == nil && d.Err != nil {
			err = d.Err
		}
		settled <- err
	})
	select {
	case err := <-settled:
		return err
	case <-ctx.Done():
		return agent.Errorf(agent.CodeUnknown, "commit: %v", context.Cause(ctx))
	}
}

// Propose proposes a commit of the node's own and waits until it is applied. It
// returns the commit's refusal, unknown where ctx ends first, and not_leader where
// this node does not lead.
func (g *Group) Propose(ctx context.Context, cmd []byte) error { return g.commit(ctx, cmd) }

func (p *proposer) enqueue(w waiting) *agent.Error {
	if len(w.cmd) > commitBytesMax {
		return agent.TooLarge("commit", "commit_bytes_max", len(w.cmd), commitBytesMax)
	}
	if err := p.writable(); err != nil {
		return asRefusal(err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.closedTo(); err != nil {
		return err
	}
	if len(p.queue) >= queueCommitsMax || p.bytes+len(w.cmd) > queueBytesMax {
		return p.overloaded("commits")
	}
	p.queue = append(p.queue, w)
	p.bytes += len(w.cmd)
	if p.gathered() {
		p.nudge()
	}
	return nil
}

// closedTo says why nothing can be taken now. Callers hold mu.
func (p *proposer) closedTo() *agent.Error {
	switch {
	case p.closed != nil:
		return p.closed
	case p.term.Load() == nil:
		return errNotLeader()
	case p.stalled:
		return agent.Errorf(agent.CodeUnavailable, "the log does not answer")
	}
	return nil
}

func errNotLeader() *agent.Error {
	return agent.Errorf(agent.CodeUnavailable, "this node does not lead")
}

func errStopping() *agent.Error {
	return agent.Errorf(agent.CodeUnavailable, "this node is stopping")
}

// asRefusal is why nothing can be stored, as an *agent.Error.
func asRefusal(err error) *agent.Error {
	var e *agent.Error
	if errors.As(err, &e) {
		return e
	}
	return agent.Errorf(agent.CodeReadOnly, "%v", err)
}

// overloaded refuses; it is worth coming back when about half of a full queue
// has gone. Callers hold mu.
func (p *proposer) overloaded(what string) *agent.Error {
	p.metrics.refused.Add(1)
	e := agent.Errorf(agent.CodeOverloaded, "too many %s wait", what)
	cycle := time.Duration(p.metrics.cycleNS.Load())
	e.RetryAfterMS = min(max((cycle*queueCommitsMax/batchCommitsMax/2).Milliseconds(), 10), 1000)
	return e
}

// close refuses all that comes from now on, and all that waits.
func (p *proposer) close(why *agent.Error) {
	p.mu.Lock()
	if p.closed == nil {
		p.closed = why
	}
	p.mu.Unlock()
	p.refuse(why)
}

// refuse answers all that waits: surely not applied.
func (p *proposer) refuse(why *agent.Error) {
	p.mu.Lock()
	queue, readers := p.queue, p.readers
	p.queue, p.readers, p.bytes = nil, nil, 0
	p.mu.Unlock()
	for _, w := range queue {
		w.done(agent.Decided{}, why)
	}
	for _, r := range readers {
		r <- reading{err: why}
	}
}

// cut takes one entry's worth off the queue, and every read that waits.
func (p *proposer) cut() *batch {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.queue) == 0 && len(p.readers) == 0 {
		return nil
	}
	n, size := 0, 0
	for n < len(p.queue) && n < batchCommitsMax && (n == 0 || size+len(p.queue[n].cmd) <= batchBytesMax) {
		size += len(p.queue[n].cmd)
		n++
	}
	b := &batch{readers: p.readers, cmds: make([][]byte, n), done: make([]func(agent.Decided, error), n)}
	for i, w := range p.queue[:n] {
		b.cmds[i], b.done[i] = w.cmd, w.done
		b.afar = b.afar || w.afar
	}
	clear(p.queue[:n])
	if p.queue = p.queue[n:]; len(p.queue) == 0 {
		p.queue = nil
	}
	p.bytes -= size
	p.readers = nil
	return b
}
