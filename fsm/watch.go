package fsm

import (
	"strings"
	"sync"
	"sync/atomic"

	"dormouse/internal/planted"
)

// watches are those who want to know when a thread changes.
type watches struct {
	count   atomic.Int64
	mu      sync.Mutex
	threads map[string]map[chan struct{}]bool // :: thread row → signals; guarded by mu
}

// WatchThread signals after each entry that changed the thread, once for
// several that come together: read a view then, and once after WatchThread
// itself has returned. cancel ends it; the channel is never closed.
func (m *Machine) WatchThread(scope, thread string) (changed <-chan struct{}, cancel func()) {
	w := &m.watches
	key := idKey(kindThread, scope, thread)
	signal := make(chan struct{}, 1)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.threads == nil {
		w.threads = map[string]map[chan struct{}]bool{}
	}
	if w.threads[key] == nil {
		w.threads[key] = map[chan struct{}]bool{}
	}
	w.threads[key][signal] = true
	w.count.Add(1)
	return signal, sync.OnceFunc(func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.threads[key], signal)
		if len(w.threads[key]) == 0 {
			delete(w.threads, key)
		}
		w.count.Add(-1)
	})
}

// wake signals to those who watch a touched thread, or any in a touched scope.
func (w *watches) wake(touched []string) {
	if len(touched) == 0 || w.count.Load() == 0 || planted.Is(planted.WatchNotWoken) && len(touched) > 1 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, key := range touched {
		if _, _, _, one := splitID(key); one {
			signalAll(w.threads[key])
			continue
		}
		for thread, signals := range w.threads {
			if strings.HasPrefix(thread, key) {
				signalAll(signals)
			}
		}
	}
}

// wakeAll signals to everybody: the whole state may be another.
func (w *watches) wakeAll() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, signals := range w.threads {
		signalAll(signals)
	}
}

func signalAll(signals map[chan struct{}]bool) {
	for signal := range signals {
		select {
		case signal <- struct{}{}:
		default: // one is waiting already
		}
	}
}
