package client

import (
	"context"
	"sync"

	"golang.org/x/sync/semaphore"

	"dormouse/agent"
)

// requestWindow numbers a client's commits and tracks the lowest one still awaited.
//
// Invariant: low <= next <= low + agent.RequestWindowMax, the number of answers that
// the cluster keeps for one client. One slow commit holds low while others complete,
// so a limit on commits in flight is not enough.
type requestWindow struct {
	slots *semaphore.Weighted // commits in flight

	mu      sync.Mutex
	next    uint64                       // guarded by mu; the next number, from 1
	low     uint64                       // guarded by mu; the lowest still awaited, or next
	settled [agent.RequestWindowMax]bool // guarded by mu; by number modulo its length, for low..next-1
	moved   chan struct{}                // guarded by mu; closed when low moves; nil while no caller waits
}

func newRequestWindow(inFlightMax int) *requestWindow {
	return &requestWindow{slots: semaphore.NewWeighted(int64(inFlightMax)), next: 1, low: 1}
}

// try returns the next number, unless the window is full.
func (l *requestWindow) try() (seq, low uint64, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.next-l.low >= agent.RequestWindowMax {
		return 0, 0, false
	}
	seq = l.next
	l.next++
	return seq, l.low, true
}

// take returns the next number; it waits while the window is full.
func (l *requestWindow) take(ctx context.Context) (seq, low uint64, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.next-l.low >= agent.RequestWindowMax {
		if l.moved == nil {
			l.moved = make(chan struct{})
		}
		moved := l.moved
		l.mu.Unlock()
		select {
		case <-moved:
		case <-ctx.Done():
			err = ctx.Err()
		}
		l.mu.Lock()
		if err != nil {
			return 0, 0, err
		}
	}
	seq = l.next
	l.next++
	return seq, l.low, nil
}

// settle records that seq is no longer awaited.
func (l *requestWindow) settle(seq uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.settled[seq%agent.RequestWindowMax] = true
	before := l.low
	for l.low < l.next && l.settled[l.low%agent.RequestWindowMax] {
		l.settled[l.low%agent.RequestWindowMax] = false
		l.low++
	}
	if l.low != before && l.moved != nil {
		close(l.moved)
		l.moved = nil
	}
}

// lowest returns the lowest number still awaited.
func (l *requestWindow) lowest() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.low
}

// another returns an unused number, for seededbug.RetryWithFreshID, or seq if the
// window is full. Programs without the build tag seeded do not contain it.
func (l *requestWindow) another(seq uint64) uint64 {
	fresh, _, ok := l.try()
	if !ok {
		return seq
	}
	l.settle(fresh)
	return fresh
}
