package cluster

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"

	"dormouse/cluster/proposer"
	"dormouse/cluster/raftlog"
	"dormouse/internal/pause"
)

// openRetry paces attempts to open a term while the node still leads.
const openRetry = 100 * time.Millisecond

// leadership follows Raft's notifications that this node has won or lost
// leadership, and runs the duties of a leader while its term lasts.
//
// Raft blocks until a notification is received, so watch does nothing else. The
// work of a term runs on another goroutine, which each new notification cancels.
type leadership struct {
	raft    *raft.Raft
	machine StateMachine
	metrics *proposer.Metrics
	logger  hclog.Logger
	notify  chan bool                      // sent by Raft; never closed
	term    *atomic.Pointer[proposer.Term] // nil while nothing may be proposed
	duties  func(ctx context.Context)      // run while term is not nil
	changed func()                         // called after term has changed
	ended   func()                         // called after a term in which this node could propose has ended

	mu     sync.Mutex
	count  uint64             // notifications received; guarded by mu
	leads  bool               // the latest one; guarded by mu
	cancel context.CancelFunc // ends the latest term's work; guarded by mu
	news   chan struct{}      // capacity 1: a notification was received
}

// watch receives notifications until ctx ends.
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

// take records a notification, and ends the term that was ready.
func (l *leadership) take(won bool) {
	l.mu.Lock()
	l.count++
	l.leads = won
	led := l.term.Swap(nil) != nil
	if l.cancel != nil {
		l.cancel()
		l.cancel = nil
	}
	l.mu.Unlock()
	if led {
		l.ended()
	}
	l.changed()
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
		count := l.count
		term, cancel := context.WithCancel(ctx)
		l.cancel = cancel
		l.mu.Unlock()
		for term.Err() == nil && !l.open(term, count) {
			pause.For(term, openRetry)
		}
		if term.Err() == nil {
			l.duties(term)
		}
		cancel()
	}
}

// open makes the term ready, once all entries of earlier terms are applied here.
// It reports whether that succeeded.
func (l *leadership) open(ctx context.Context, count uint64) bool {
	term := l.raft.CurrentTerm()
	if err := raftlog.Wait(ctx, l.raft.Barrier(proposer.EnqueueTimeout)); err != nil {
		l.logger.Info("the new term is not open yet", "term", term, "error", err)
		return false
	}
	// The barrier was written in a term between the two readings. Terms only grow,
	// so if they agree, it was written in that term, and this node won it.
	if l.raft.CurrentTerm() != term {
		return false
	}
	tick, wall := l.machine.Stamps()
	t := &proposer.Term{Number: term, Opened: l.raft.CommitIndex(), Clock: proposer.NewClock(tick, wall, time.Now(), l.metrics)}
	l.mu.Lock()
	current := l.count == count
	if current {
		l.term.Store(t)
	}
	l.mu.Unlock()
	if current {
		l.logger.Info("this node leads", "term", term)
		l.changed()
	}
	return current
}
