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

// LeaseWatcher watches the leases of a scope's sessions for all Runners that
// use it. With it, a turn that is interrupted or whose session is cancelled
// notices at once; without it, at the next renewal. It only triggers a renewal,
// whose answer decides. The next periodic renewal covers a missed update.
//
// It uses one watch of the scope's feed for any number of turns, and none after
// a while without turns. It works while Run does. Methods may be called
// concurrently.
type LeaseWatcher struct {
	service agent.Service
	scope   string

	mu          sync.Mutex
	subscribers map[string]map[chan leaseUpdate]bool // :: claim → the channels of its turns; guarded by mu
	stop        context.CancelFunc                   // ends the watch; nil without one; guarded by mu
	idleTimer   *time.Timer                          // calls stopIdle after watchIdleTimeout without turns; guarded by mu
	subscribed  chan struct{}                        // capacity 1: there is a new subscriber
}

// leaseUpdate is the epoch of a claim at an index; 0 if it is not held.
type leaseUpdate struct{ index, epoch uint64 }

const (
	watchIdleTimeout = 10 * time.Second // a watch without turns stays open for this long
	watchRetry       = time.Second      // delay after a watch that failed
)

// NewLeaseWatcher makes a LeaseWatcher for the runners of a scope; "" means
// agent.DefaultScope.
func NewLeaseWatcher(service agent.Service, scope string) *LeaseWatcher {
	return &LeaseWatcher{service: service, scope: scope, subscribers: map[string]map[chan leaseUpdate]bool{}, subscribed: make(chan struct{}, 1)}
}

// Run watches until ctx ends.
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

// watch watches until stopIdle ends it or it fails. It reports whether
// subscribers remain.
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
	started := false
	for event, err := range w.service.Watch(ctx, agent.Watch{Scope: w.scope, Changes: true, Prefix: string(agent.ChangedClaim) + "/" + agent.SessionClaim("")}) {
		if err != nil || event.Last() {
			break
		}
		if !started {
			if started = true; w.catchUp(ctx) != nil {
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

// catchUp publishes the current leases of all subscribers. The watch does not
// report changes before its start.
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

// publish sends an update to the subscribers of a claim.
func (w *LeaseWatcher) publish(claim string, update leaseUpdate) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for updates := range w.subscribers[claim] {
		select {
		case <-updates: // replace an older update
		default:
		}
		updates <- update
	}
}

// subscribe returns a channel of updates of a session's lease, and a function
// that ends them. A nil LeaseWatcher sends none.
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
		return // turns unsubscribe twice: early, and in a deferred call
	}
	if delete(w.subscribers[claim], updates); len(w.subscribers[claim]) == 0 {
		delete(w.subscribers, claim)
	}
	if len(w.subscribers) == 0 {
		w.idleTimer = time.AfterFunc(watchIdleTimeout, w.stopIdle)
	}
}

// stopIdle ends the watch if it has no subscribers.
func (w *LeaseWatcher) stopIdle() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.subscribers) == 0 && w.stop != nil {
		w.stop()
	}
}
