// Package watch has those who wait for the state machine: for changes of rows, and for entries.
package watch

import (
	"strings"
	"sync"
	"sync/atomic"

	"dormouse/fsm/erasure"
	"dormouse/fsm/kv"
)

// Rows are the subscriptions to changes of rows and scopes. The zero value has none. It may be used
// concurrently.
type Rows struct {
	count atomic.Int64
	mu    sync.Mutex
	rows  map[string]map[chan struct{}]bool // :: row key → channels to signal; guarded by mu
}

// WatchThread signals after each entry that changed the thread; signals that follow each other
// closely are merged. Read a view after each signal, and once after WatchThread has returned.
// cancel ends the watch; the channel is never closed.
func (w *Rows) WatchThread(scope, thread string) (changed <-chan struct{}, cancel func()) {
	return w.add(kv.IDKey(kv.KindThread, scope, thread))
}

// WatchClaim is WatchThread for a claim. A claim that expires is signalled by the entry that
// removes it.
func (w *Rows) WatchClaim(scope, claim string) (changed <-chan struct{}, cancel func()) {
	return w.add(kv.IDKey(kv.KindClaim, scope, claim))
}

// WatchChanges is WatchThread for all changes in a scope.
func (w *Rows) WatchChanges(scope string) (changed <-chan struct{}, cancel func()) {
	return w.add(kv.FeedKey(scope))
}

func (w *Rows) add(key string) (changed <-chan struct{}, cancel func()) {
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

// WatchEndings signals after each entry that erased an instance: see WatchThread.
func (w *Rows) WatchEndings() (changed <-chan struct{}, cancel func()) {
	return w.add(erasure.EndingsKey)
}

// DueTimersPast returns the position of DueTimers past the timers of a scope.
func (w *Rows) DueTimersPast(scope string) string {
	return kv.After(kv.ScopeKey(kv.KindTimerDue, scope))
}

// WatchDueTimers signals after each entry that made a timer due: see WatchThread.
func (w *Rows) WatchDueTimers() (changed <-chan struct{}, cancel func()) {
	return w.add(kv.TimersDueKey)
}

// Wake signals the watchers of the touched rows and scopes.
func Wake(w *Rows, touched []string) {
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

// WakeAll signals all watchers: the whole state may have been replaced.
func WakeAll(w *Rows) {
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
