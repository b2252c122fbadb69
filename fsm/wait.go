package fsm

import (
	"context"
	"sync"
)

// waiters are the goroutines that wait for an index to be applied.
type waiters struct {
	mu      sync.Mutex
	applied uint64                   // guarded by mu
	waiting map[chan struct{}]uint64 // :: closed once applied → index; guarded by mu
}

// wake releases the waiters of indexes up to applied.
func (w *waiters) wake(applied uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.applied = applied
	for done, index := range w.waiting {
		if index <= applied {
			delete(w.waiting, done)
			close(done)
		}
	}
}

// WaitApplied returns once a view would see the entry at index, or when ctx
// ends, with its error.
func (m *Machine) WaitApplied(ctx context.Context, index uint64) error {
	w := &m.waiters
	w.mu.Lock()
	if index <= w.applied {
		w.mu.Unlock()
		return nil
	}
	done := make(chan struct{})
	if w.waiting == nil {
		w.waiting = map[chan struct{}]uint64{}
	}
	w.waiting[done] = index
	w.mu.Unlock()

	select {
	case <-done:
		return nil
	case <-ctx.Done():
		w.mu.Lock()
		delete(w.waiting, done)
		w.mu.Unlock()
		return context.Cause(ctx)
	}
}
