package proposer

import (
	"errors"
	"time"

	"github.com/hashicorp/raft"

	"dormouse/agent"
	"dormouse/internal/seededbug"
	"dormouse/internal/tracing"
)

// batch is one log entry and the callers that wait for it.
type batch struct {
	p        *Proposer
	started  time.Time
	took     time.Duration // until it was settled
	applying time.Duration // of took, in the state machine
	cmds     [][]byte
	done     []func(agent.Decided, error) // one a commit
	parts    []*tracing.Parts             // one a commit, or nil
	readers  []chan reading
	due      bool // proposed because something is due
	remote   bool // a remote node waits until it has applied the entry
	entry    []byte
	future   raft.ApplyFuture

	index   uint64
	decided []agent.Decided
	err     *agent.Error
}

// settle records the outcome of b.
func (b *batch) settle(err error) {
	b.p.Metrics.settled(b, err)
	if err != nil {
		b.err = outcome(err)
		return
	}
	b.index = b.future.Index()
	decided, ok := b.future.Response().([]agent.Decided)
	if !ok || len(decided) != len(b.cmds) {
		b.err = agent.Errorf(agent.CodeUnknown, "the state machine did not decide entry %d: %v", b.index, b.future.Response())
		b.p.Fatal(b.err)
		return
	}
	b.decided = decided
}

// answer tells the callers, once.
func (b *batch) answer() {
	for i, done := range b.done {
		b.parts[i].Settle(b.started, b.took, b.applying)
		if b.err != nil {
			done(agent.Decided{}, b.err)
		} else {
			done(b.decided[i], nil)
		}
	}
	for _, r := range b.readers {
		if b.err != nil {
			r <- reading{err: agent.Errorf(agent.CodeUnavailable, "barrier: %s", b.err.Detail)}
		} else {
			r <- reading{index: b.index}
		}
	}
	b.done, b.readers = nil, nil
}

// outcome maps Raft's errors. A commit was definitely not applied only if Raft
// refused it before it wrote anything.
func outcome(err error) *agent.Error {
	switch {
	case errors.Is(err, raft.ErrNotLeader),
		errors.Is(err, raft.ErrEnqueueTimeout):
		return agent.Errorf(agent.CodeUnavailable, "%v", err)
	case seededbug.Is(seededbug.UnknownAsRefused):
		return agent.Errorf(agent.CodeReadOnly, "%v", err)
	default:
		return agent.Errorf(agent.CodeUnknown, "%v", err)
	}
}
