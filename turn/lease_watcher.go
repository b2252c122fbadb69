package turn

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"dormouse/agent"
)

// LeaseWatcher hears, for all Runners that are given it, which leases of a scope's
// sessions have gone to another or ended. Without it, a turn that was
// interrupted, or whose session was cancelled, hears of that with its next
// renewal; with it, at once. It is a hint: what the store says to the renewal
// that it brings about is what counts, and what it misses the next one tells.
//
// It is one watch of the scope's feed, however many turns run, and none while
// none has run for a while. It works while Run does; its methods may be called
// concurrently.
type LeaseWatcher struct {
	service agent.Service
	scope   string

	mu          sync.Mutex
	subscribers map[string]map[chan leaseUpdate]bool // :: claim → where its turns listen; guarded by mu
	stop        context.CancelFunc                   // ends the watch; nil while there is none; guarded by mu
	idleTimer   *time.Timer                          // calls hush once it has been stopIdle for watchIdleTimeout; guarded by mu
	subscribed  chan struct{}                        // told that somebody listens
}

// leaseUpdate is under which epoch a claim is held, as of an index; 0 where it is not.
type leaseUpdate struct{ index, epoch uint64 }

const (
	watchIdleTimeout = 10 * time.Second // a watch outlives its last turn by this: there may soon be another
	watchRetry       = time.Second      // after a watch that failed
)

// NewLeaseWatcher makes an Ear for the runners of a scope; "" means agent.DefaultScope.
func NewLeaseWatcher(service agent.Service, scope string) *LeaseWatcher {
	return &LeaseWatcher{service: service, scope: scope, subscribers: map[string]map[chan leaseUpdate]bool{}, subscribed: make(chan struct{}, 1)}
}

// Run hears until ctx ends.
func (w *LeaseWatcher) Run(ctx context.Context) {
	for {
		select {
		case <-w.subscribed:
		case <-ctx.Done():
			return
		}
		for w.watch(ctx) {
			select {
			case <-time.After(watchRetry):
			case <-ctx.Done():
				return
			}
		}
	}
}

// watch watches until nobody has listened for a while, or the watch ends before
// that: then it tells so.
func (w *LeaseWatcher) watch(ctx context.Context) (again bool) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	w.mu.Lock()
	if len(w.subscribers) == 0 {
		w.mu.Unlock()
		return false
	}
	w.stop = cancel
	w.mu.Unlock()
	begun := false
	for event, err := range w.service.Watch(ctx, agent.Watch{Scope: w.scope, Changes: true, Prefix: string(agent.ChangedClaim) + "/" + agent.SessionClaim("")}) {
		if err != nil || event.Last() {
			break
		}
		if !begun {
			if begun = true; w.catchUp(ctx) != nil {
				break
			}
		}
		for i := range event.Changes {
			c := &event.Changes[i]
			w.publish(strings.TrimPrefix(c.Path(), string(agent.ChangedClaim)+"/"), leaseUpdate{c.Index, c.Revision})
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stop = nil
	return len(w.subscribers) > 0
}

// catchUp tells how the leases of those stand who listened before the watch had
// begun: what became of them until then, it does not tell.
func (w *LeaseWatcher) catchUp(ctx context.Context) error {
	w.mu.Lock()
	claims := slices.Sorted(maps.Keys(w.subscribers))
	w.mu.Unlock()
	for some := range slices.Chunk(claims, agent.ReadsMax) {
		reads := make([]agent.Read, len(some))
		for i, claim := range some {
			reads[i] = &agent.GetClaim{Claim: claim}
		}
		answers, err := w.service.Read(ctx, agent.Reads{Scope: w.scope, Reads: reads})
		if err != nil {
			return err
		}
		for i, a := range answers.Answers {
			if held, ok := a.Found.(*agent.Claim); ok && a.Err == nil {
				w.publish(some[i], leaseUpdate{answers.Index, held.Epoch})
			} else if agent.CodeOf(a.Err) == agent.CodeNotFound {
				w.publish(some[i], leaseUpdate{answers.Index, 0})
			}
		}
	}
	return nil
}

// publish passes on how a claim is held.
func (w *LeaseWatcher) publish(claim string, update leaseUpdate) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for updates := range w.subscribers[claim] {
		select {
		case <-updates: // of before
		default:
		}
		updates <- update
	}
}

// subscribe begins to hear of a session's lease; leave ends it. A nil Ear hears
// nothing.
func (w *LeaseWatcher) subscribe(session string) (updates chan leaseUpdate, unsubscribe func()) {
	updates = make(chan leaseUpdate, 1) // the newest; written with mu held
	if w == nil {
		return updates, func() {}
	}
	claim := agent.SessionClaim(session)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.subscribers[claim] == nil {
		w.subscribers[claim] = map[chan leaseUpdate]bool{}
	}
	w.subscribers[claim][updates] = true
	if w.idleTimer != nil {
		w.idleTimer.Stop()
	}
	select {
	case w.subscribed <- struct{}{}:
	default:
	}
	return updates, func() { w.unsubscribe(claim, updates) }
}

func (w *LeaseWatcher) unsubscribe(claim string, updates chan leaseUpdate) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.subscribers[claim][updates] {
		return // it left before: turns do so early, and again to be sure
	}
	if delete(w.subscribers[claim], updates); len(w.subscribers[claim]) == 0 {
		delete(w.subscribers, claim)
	}
	if len(w.subscribers) == 0 {
		w.idleTimer = time.AfterFunc(watchIdleTimeout, w.stopIdle)
	}
}

// quiet ends the watch where still nobody listens.
func (w *LeaseWatcher) stopIdle() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.subscribers) == 0 && w.stop != nil {
		w.stop()
	}
}
