package proposer

import (
	"context"
	"errors"
	"time"

	"dormouse/agent"
	"dormouse/internal/tracing"
)

// pending is one commit that has not been sent.
type pending struct {
	ctx    context.Context //nolint:containedctx // the caller's, who may give up while the commit waits
	cmd    []byte
	done   func(agent.Decided, error)
	remote bool           // another node submitted it
	parts  *tracing.Parts // may be nil
}

// Submit proposes one encoded commit and returns. It calls done exactly once,
// from another goroutine or before Submit returns, with the state machine's
// decision or an *agent.Error. done must not block. cmd must not change until
// then. A commit whose ctx ends before it is sent is refused with code unavailable; one
// that was sent is decided. remote says that another node submitted the commit and waits
// until it has applied it. Commits of one tenant are decided in order; tenants share the
// log fairly. The parts of the commit's time are recorded in those of ctx.
func (p *Proposer) Submit(ctx context.Context, tenant string, cmd []byte, remote bool, done func(agent.Decided, error)) {
	parts := tracing.PartsOf(ctx)
	parts.Enqueue()
	if err := p.enqueue(tenant, pending{ctx: ctx, cmd: cmd, done: done, remote: remote, parts: parts}); err != nil {
		done(agent.Decided{}, err)
	}
}

// Commit proposes one of this node's own commits, waits for the decision, and
// returns the index of its entry. The error is the commit's refusal, has code
// unknown if ctx ends first, and has code unavailable if this node does not lead.
func (p *Proposer) Commit(ctx context.Context, cmd []byte) (index uint64, err error) {
	type outcome struct {
		decided agent.Decided
		err     error
	}
	settled := make(chan outcome, 1)
	p.Submit(ctx, "", cmd, false, func(d agent.Decided, err error) { settled <- outcome{d, err} })
	select {
	case o := <-settled:
		if o.err == nil && o.decided.Err != nil {
			return 0, o.decided.Err
		}
		return o.decided.Result.Index, o.err
	case <-ctx.Done():
		return 0, agent.Errorf(agent.CodeUnknown, "commit: %v", context.Cause(ctx))
	}
}

func (p *Proposer) enqueue(tenant string, w pending) *agent.Error {
	if len(w.cmd) > CommitBytesMax {
		return agent.TooLarge("commit", "commit_bytes_max", len(w.cmd), CommitBytesMax)
	}
	if err := p.Writable(); err != nil {
		return asRefusal(err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.refusal(); err != nil {
		return err
	}
	if !p.queue.add(tenant, w) {
		return p.overloaded("commits")
	}
	if p.complete() {
		p.Wake()
	}
	return nil
}

// refusal returns why nothing is accepted now, or nil. Callers hold mu.
func (p *Proposer) refusal() *agent.Error {
	switch {
	case p.closed != nil:
		return p.closed
	case p.Term.Load() == nil:
		return ErrNotLeader()
	case p.stalled:
		return agent.Errorf(agent.CodeUnavailable, "the log does not answer")
	}
	return nil
}

// ErrNotLeader returns the error of a node that does not lead.
func ErrNotLeader() *agent.Error {
	return agent.Errorf(agent.CodeUnavailable, "this node does not lead")
}

func errStopping() *agent.Error {
	return agent.Errorf(agent.CodeUnavailable, "this node is stopping")
}

// asRefusal returns err as an *agent.Error; its code is read_only by default.
func asRefusal(err error) *agent.Error {
	var e *agent.Error
	if errors.As(err, &e) {
		return e
	}
	return agent.Errorf(agent.CodeReadOnly, "%v", err)
}

// overloaded returns an error that asks the caller to retry when about half of a
// full queue has been proposed. Callers hold mu.
func (p *Proposer) overloaded(what string) *agent.Error {
	p.Metrics.refused.Add(1)
	e := agent.Errorf(agent.CodeOverloaded, "too many %s wait", what)
	cycle := time.Duration(p.Metrics.cycleNS.Load())
	e.RetryAfterMS = min(max((cycle*QueueCommitsMax/BatchCommitsMax/2).Milliseconds(), 10), 1000)
	return e
}

// Close refuses all commits and reads that wait, and all that come later, with
// why. Later calls of Close have no effect.
func (p *Proposer) Close(why *agent.Error) {
	p.mu.Lock()
	if p.closed == nil {
		p.closed = why
	}
	p.mu.Unlock()
	p.refuse(why)
}

// refuse answers all that waits with why. None of it was applied.
func (p *Proposer) refuse(why *agent.Error) {
	p.mu.Lock()
	queue, readers := p.queue.clear(), p.readers
	p.readers = nil
	p.mu.Unlock()
	for _, w := range queue {
		w.done(agent.Decided{}, why)
	}
	for _, r := range readers {
		r <- reading{err: why}
	}
}

// cut takes the commits of one entry off the queue, and all reads that wait. It
// returns nil if there are none. It refuses commits whose callers have given up: their
// retries may wait behind them.
func (p *Proposer) cut() *batch {
	b, gone := p.cutQueue()
	p.Metrics.abandoned.Add(uint64(len(gone)))
	for _, w := range gone {
		w.done(agent.Decided{}, agent.Errorf(agent.CodeUnavailable, "the caller gave up before the commit was sent"))
	}
	return b
}

func (p *Proposer) cutQueue() (b *batch, gone []pending) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.queue.count == 0 && len(p.readers) == 0 {
		return nil, nil
	}
	cut, gone := p.queue.cut()
	if len(cut) == 0 && len(p.readers) == 0 {
		return nil, gone
	}
	b = &batch{readers: p.readers, cmds: make([][]byte, len(cut)), done: make([]func(agent.Decided, error), len(cut)), parts: make([]*tracing.Parts, len(cut))}
	for i, w := range cut {
		b.cmds[i], b.done[i], b.parts[i] = w.cmd, w.done, w.parts
		b.remote = b.remote || w.remote
	}
	p.readers = nil
	return b, gone
}

// Hold makes the proposer send nothing until resume is called; commits wait. It
// returns once nothing is in flight. If ctx ends first, it returns ctx's error and
// holds nothing.
func (p *Proposer) Hold(ctx context.Context) (resume func(), err error) {
	p.mu.Lock()
	if p.holds == 0 {
		p.quiet = make(chan struct{})
	}
	p.holds++
	quiet := p.quiet
	p.mu.Unlock()
	p.Wake()
	resume = func() {
		p.mu.Lock()
		p.holds--
		p.mu.Unlock()
		p.Wake()
	}
	select {
	case <-quiet:
		return resume, nil
	case <-ctx.Done():
		resume()
		return nil, context.Cause(ctx)
	}
}

// held reports whether nothing may be sent now, and tells the callers of Hold.
// Run calls it while nothing is in flight.
func (p *Proposer) held() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.holds == 0 {
		return false
	}
	select {
	case <-p.quiet:
	default:
		close(p.quiet)
	}
	return true
}
