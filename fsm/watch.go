package fsm

import (
	"strings"
	"sync"
	"sync/atomic"

	"dormouse/fsm/kv"
)

// watches are the subscriptions to changes of rows and scopes.
type watches struct {
	count atomic.Int64
	mu    sync.Mutex
	rows  map[string]map[chan struct{}]bool // :: row key → channels to signal; guarded by mu
}

// WatchThread signals after each entry that changed the thread; signals that follow each other
// closely are merged. Read a view after each signal, and once after WatchThread has returned.
// cancel ends the watch; the channel is never closed.
func (w *watches) WatchThread(scope, thread string) (changed <-chan struct{}, cancel func()) {
	return w.add(kv.IDKey(kv.KindThread, scope, thread))
}

// WatchClaim is WatchThread for a claim. A claim that expires is signalled by the entry that
// removes it.
func (w *watches) WatchClaim(scope, claim string) (changed <-chan struct{}, cancel func()) {
	return w.add(kv.IDKey(kv.KindClaim, scope, claim))
}

// WatchChanges is WatchThread for all changes in a scope.
func (w *watches) WatchChanges(scope string) (changed <-chan struct{}, cancel func()) {
	return w.add(kv.FeedKey(scope))
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

// wake signals the watchers of the touched rows and scopes.
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

// wakeAll signals all watchers: the whole state may have been replaced.
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
		default: // a signal is pending already
		}
	}
}
