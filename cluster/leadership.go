package cluster

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"

	"dormouse/internal/pause"
)

// openRetry paces attempts to open a term while the node still leads.
const openRetry = 100 * time.Millisecond

// leadership follows raft's announcements that this node won or lost, and runs
// the duties of a leader for as long as its term lasts.
//
// Raft blocks until an announcement is taken, so watch does nothing but take
// them: a term's work is another goroutine, which each new announcement cancels.
type leadership struct {
	raft    *raft.Raft
	machine StateMachine
	metrics *metrics
	logger  hclog.Logger
	notify  chan bool                  // sent by raft; never closed
	ready   *atomic.Pointer[readiness] // nil while nothing may be proposed
	duties  func(ctx context.Context)  // run while ready
	turned  func()                     // told after ready changed

	mu     sync.Mutex
	wins   uint64             // announcements taken; guarded by mu
	leads  bool               // the latest one; guarded by mu
	cancel context.CancelFunc // ends the latest term's work; guarded by mu
	news   chan struct{}      // capacity 1: an announcement was taken
}

// watch takes announcements until ctx ends.
func (l *leadership) watch(ctx context.Context) error {
	defer l.take(false)
	for {
		select {
		case won := <-l.notify:
			l.take(won)
		case <-ctx.Done():
			return nil
		}
	}
}

// take notes an announcement: whatever was ready is no longer.
func (l *leadership) take(won bool) {
	l.mu.Lock()
	l.wins++
	l.leads = won
	l.ready.Store(nil)
	if l.cancel != nil {
		l.cancel()
		l.cancel = nil
	}
	l.mu.Unlock()
	l.turned()
	select {
	case l.news <- struct{}{}:
	default:
	}
}

// serve opens each term that is won and runs its duties, until ctx ends.
func (l *leadership) serve(ctx context.Context) error {
	for {
		select {
		case <-l.news:
		case <-ctx.Done():
			return nil
		}
		l.mu.Lock()
		if !l.leads {
			l.mu.Unlock()
			continue
		}
		wins := l.wins
		term, cancel := context.WithCancel(ctx)
		l.cancel = cancel
		l.mu.Unlock()
		for term.Err() == nil && !l.open(term, wins) {
			pause.For(term, openRetry)
		}
		if term.Err() == nil {
			l.duties(term)
		}
		cancel()
	}
}

// open makes the term ready: all entries of earlier terms are applied here and
// the clock is armed. It tells whether that succeeded.
func (l *leadership) open(ctx context.Context, wins uint64) bool {
	term := l.raft.CurrentTerm()
	if err := wait(ctx, l.raft.Barrier(enqueueMax)); err != nil {
		l.logger.Info("the new term is not open yet", "term", term, "error", err)
		return false
	}
	// The barrier was written in a term between the two readings. Terms only
	// grow, so where they agree it is that one, and it is ours.
	if l.raft.CurrentTerm() != term {
		return false
	}
	tick, wall := l.machine.Stamps()
	r := &readiness{term: term, opened: l.raft.CommitIndex(), clock: armClock(tick, wall, time.Now(), l.metrics)}
	l.mu.Lock()
	current := l.wins == wins
	if current {
		l.ready.Store(r)
	}
	l.mu.Unlock()
	if current {
		l.logger.Info("this node leads", "term", term)
		l.turned()
	}
	return current
}

// wait waits for a future, but not past ctx. The future's goroutine ends when
// raft answers, at the latest when the term or raft ends.
func wait(ctx context.Context, f raft.Future) error {
	settled := make(chan error, 1)
	go func() { settled <- f.Error() }()
	select {
	case err := <-settled:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
