package fsm

import (
	"strings"
	"sync"
	"sync/atomic"

	"dormouse/fsm/kv"
)

// watches are those who want to know when a thread or a claim changes.
type watches struct {
	count atomic.Int64
	mu    sync.Mutex
	rows  map[string]map[chan struct{}]bool // :: row of a thread or claim → signals; guarded by mu
}

// WatchThread signals after each entry that changed the thread, once for
// several that come together: read a view then, and once after WatchThread
// itself has returned. cancel ends it; the channel is never closed.
func (m *Machine) WatchThread(scope, thread string) (changed <-chan struct{}, cancel func()) {
	return m.watches.add(kv.IDKey(kv.KindThread, scope, thread))
}

// WatchClaim is WatchThread for a claim. One that lapses is told of by the
// entry that clears it away.
func (m *Machine) WatchClaim(scope, claim string) (changed <-chan struct{}, cancel func()) {
	return m.watches.add(kv.IDKey(kv.KindClaim, scope, claim))
}

// WatchChanges is WatchThread for all that changes in a scope.
func (m *Machine) WatchChanges(scope string) (changed <-chan struct{}, cancel func()) {
	return m.watches.add(kv.FeedKey(scope))
}

func (w *watches) add(key string) (changed <-chan struct{}, cancel func()) {
	signal := make(chan struct{}, 1)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.rows == nil {
		w.rows = map[string]map[chan struct{}]bool{}
	}
	if w.rows[key] == nil {
		w.rows[key] = map[chan struct{}]bool{}
	}
	w.rows[key][signal] = true
	w.count.Add(1)
	return signal, sync.OnceFunc(func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.rows[key], signal)
		if len(w.rows[key]) == 0 {
			delete(w.rows, key)
		}
		w.count.Add(-1)
	})
}

// wake signals to those who watch a touched row, or any in a touched scope.
func (w *watches) wake(touched []string) {
	if len(touched) == 0 || w.count.Load() == 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, key := range touched {
		if _, _, _, one := kv.SplitID(key); one {
			signalAll(w.rows[key])
			continue
		}
		for row, signals := range w.rows {
			if strings.HasPrefix(row, key) {
				signalAll(signals)
			}
		}
	}
}

// wakeAll signals to everybody: the whole state may be another.
func (w *watches) wakeAll() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, signals := range w.rows {
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
