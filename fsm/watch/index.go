package watch

import (
	"context"
	"sync"
)

// Index has the goroutines that wait for an entry to be applied. The zero value has none. It may be
// used concurrently.
type Index struct {
	mu      sync.Mutex
	applied uint64                   // guarded by mu
	waiting map[chan struct{}]uint64 // :: closed once applied → index; guarded by mu
}

// Wake releases the waiters of indexes up to applied.
func (w *Index) Wake(applied uint64) {
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

// Wait returns once Wake was called with an index or a later one, or when ctx ends, with its error.
func (w *Index) Wait(ctx context.Context, index uint64) error {
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
