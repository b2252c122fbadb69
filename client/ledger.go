package client

import (
	"context"
	"crypto/rand"
	"sync"

	"golang.org/x/sync/semaphore"

	"dormouse/agent"
)

// requestWindow numbers a client's commits and tracks the lowest one still awaited.
//
// Invariant: low <= next <= low + len(settled), which is at most agent.RequestWindowMax,
// the number of answers that the cluster keeps for one client. One slow commit holds low
// while others complete, so a limit on commits in flight is not enough.
type requestWindow struct {
	slots *semaphore.Weighted // commits in flight

	mu      sync.Mutex
	next    uint64        // guarded by mu; the next number, from 1
	low     uint64        // guarded by mu; the lowest still awaited, or next
	settled []bool        // guarded by mu; by number modulo its length, which never changes, for low..next-1
	moved   chan struct{} // guarded by mu; closed when low moves; nil while no caller waits
}

func newRequestWindow(inFlightMax int) *requestWindow {
	return &requestWindow{slots: semaphore.NewWeighted(int64(inFlightMax)), next: 1, low: 1, settled: make([]bool, agent.RequestWindowMax)}
}

// full reports whether there is no next number. mu is held.
func (l *requestWindow) full() bool { return l.next-l.low >= uint64(len(l.settled)) }

// place returns where settled has a number. mu is held.
func (l *requestWindow) place(seq uint64) *bool { return &l.settled[seq%uint64(len(l.settled))] }

// try returns the next number, unless the window is full.
func (l *requestWindow) try() (seq, low uint64, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.full() {
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
	for l.full() {
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
	*l.place(seq) = true
	before := l.low
	for l.low < l.next && *l.place(l.low) {
		*l.place(l.low) = false
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

// signalWindowSpan is how many numbers a window of signals has. The cluster keeps the answers of a window
// from the lowest awaited number on, and a signal may take an hour.
const signalWindowSpan = 256

// signalWindows number the signals of a client. A slow signal holds the lowest number of its window: when
// that is full, the next signals are of another one, whose client id is its own.
type signalWindows struct {
	slots *semaphore.Weighted // signals in flight; they bound the windows, because each full one has a signal

	mu  sync.Mutex
	all []signalWindow // guarded by mu; a signal uses the first that is not full
}

type signalWindow struct {
	client string
	*requestWindow
}

func newSignalWindows() *signalWindows {
	return &signalWindows{slots: semaphore.NewWeighted(agent.RequestWindowMax)}
}

// take waits for a slot, and returns a request id. Call settle when the signal is no longer awaited.
func (s *signalWindows) take(ctx context.Context) (request agent.Request, settle func(), err error) {
	if err := s.slots.Acquire(ctx, 1); err != nil {
		return agent.Request{}, nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := 0; ; i++ {
		if i == len(s.all) {
			s.all = append(s.all, signalWindow{"signals/" + rand.Text(), &requestWindow{next: 1, low: 1, settled: make([]bool, signalWindowSpan)}})
		}
		w := s.all[i]
		if seq, low, ok := w.try(); ok {
			return agent.Request{Client: w.client, Seq: seq, Low: low}, func() { w.settle(seq); s.slots.Release(1) }, nil
		}
	}
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
