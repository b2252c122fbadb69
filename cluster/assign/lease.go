package assign

import (
	"context"
	"sync"
	"time"
)

const (
	// renewRetry is the first pause after a renewal that failed; each pause is
	// twice the one before, up to a sixth of the TTL.
	renewRetry = 5 * time.Millisecond
	// driftPart is the part of a lease that its holder gives up for clocks that run
	// at different speeds.
	driftPart = 20
	// endMax bounds the end of a lease when the process stops.
	endMax = time.Second
)

// Lease is a process's own view of its lease: the right to keep its partitions.
// Its methods may be called concurrently, Keep once.
type Lease struct {
	mu    sync.Mutex
	until time.Time          // guarded by mu
	quit  context.CancelFunc // of the newest renewal; nil if there was none; guarded by mu
	begun chan struct{}      // closed when the lease begins
	ended chan struct{}      // closed when the lease has ended for good
	busy  chan struct{}      // holds one token: a renewal or the end is under way
}

// NewLease returns a lease that has not begun.
func NewLease() *Lease {
	return &Lease{begun: make(chan struct{}), ended: make(chan struct{}), busy: make(chan struct{}, 1)}
}

// Begun returns a channel that is closed when the lease begins.
func (l *Lease) Begun() <-chan struct{} { return l.begun }

// Until returns when the lease expires, on the process's own monotonic clock; the
// zero time without a lease.
func (l *Lease) Until() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.until
}

// extend moves the expiry forward, never back. It has no effect on a lease that
// has ended.
func (l *Lease) extend(until time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if closed(l.ended) || !until.After(l.until) {
		return
	}
	if l.until = until; !closed(l.begun) {
		close(l.begun)
	}
}

// Keep begins to renew the lease every third of ttl, until ctx ends, End is called,
// or renew fails for good, with renew's error. renew reports whether the lease is renewed
// and this process has applied all that was committed before. Keep retries a
// renewal that failed, at once if the channel that changed returned is closed.
func (l *Lease) Keep(ctx context.Context, ttl time.Duration, changed func() <-chan struct{}, renew func(context.Context) (bool, error)) error {
	for retry := renewRetry; ctx.Err() == nil && !closed(l.ended); {
		wake, began := changed(), time.Now()
		var next time.Duration
		switch renewed, err := l.renew(ctx, ttl, renew); {
		case err != nil:
			return err
		case renewed:
			retry, wake = renewRetry, nil
			next = max(ttl/3-time.Since(began), renewRetry) // the lease counts from began
		default:
			next, retry = retry, min(2*retry, ttl/6)
		}
		again := time.NewTimer(next)
		select {
		case <-again.C:
		case <-wake:
			retry = renewRetry
		case <-l.ended:
		case <-ctx.Done():
		}
		again.Stop()
	}
	return nil
}

// renew renews the lease once. The lease counts from before the call, and holds
// once the call has returned: callers that look at the table then see what
// happened before it.
func (l *Lease) renew(ctx context.Context, ttl time.Duration, renew func(context.Context) (bool, error)) (bool, error) {
	select {
	case l.busy <- struct{}{}:
		defer func() { <-l.busy }()
	case <-l.ended:
		return false, nil
	}
	until := time.Now().Add(ttl - ttl/driftPart)
	ctx, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	if !l.begin(cancel) {
		return false, nil
	}
	renewed, err := renew(ctx)
	if renewed {
		l.extend(until)
	}
	return renewed, err
}

// begin records that a renewal is under way until quit is called. It returns false
// if the lease has ended.
func (l *Lease) begin(quit context.CancelFunc) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if closed(l.ended) {
		return false
	}
	l.quit = quit
	return true
}

// End gives the lease up for as long as the process lives. It calls tell, which
// tells the cluster, at most once, with a context of 1 s, and only after a
// renewal. End waits up to half a second for a renewal that is under way and then
// cancels it: a renewal that arrived after the end would begin the lease again.
func (l *Lease) End(ctx context.Context, tell func(context.Context)) {
	if !l.end() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, endMax)
	defer cancel()
	half := time.NewTimer(endMax / 2)
	defer half.Stop()
	select {
	case l.busy <- struct{}{}:
		defer func() { <-l.busy }()
	case <-half.C:
		l.quit() // the last renewal: no other begins after end
	case <-ctx.Done():
	}
	tell(ctx)
}

// end marks the lease as ended, and reports whether the cluster must be told.
func (l *Lease) end() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if closed(l.ended) {
		return false
	}
	l.until = time.Time{}
	close(l.ended)
	return l.quit != nil
}

// LeaseUntil returns when this process's lease expires, on its own monotonic
// clock; the zero time without a lease. The table that this node sees is no older
// than the lease.
func (a *Assigner) LeaseUntil() time.Time { return a.lease.Until() }

// KeepLease renews this process's lease until ctx ends or EndLease is called.
func (a *Assigner) KeepLease(ctx context.Context) error {
	ttl := a.LeaseTTL
	if a.Table == nil || ttl == 0 {
		return nil
	}
	var refused Response // that was logged last
	return a.lease.Keep(ctx, ttl, a.Leadership.LeaderChanged, func(ctx context.Context) (bool, error) {
		if a.Self.ClusterID() == "" || !a.isMember() {
			return false, nil // a founder's row follows its cluster after a moment
		}
		answer := a.ask(ctx, Request{Kind: Renew, TTL: ttl, Handlers: a.Handlers})
		if answer.Refused != "" && (answer.Refused != refused.Refused || answer.Detail != refused.Detail) {
			a.Logger.Warn("the cluster refuses this node a lease: it owns nothing", "code", answer.Refused, "why", answer.Detail)
		}
		if answer.Refused != "" || answer.Index != 0 {
			refused = answer
		}
		return answer.Index != 0 && a.Machine.WaitApplied(ctx, answer.Index) == nil, nil
	})
}

// EndLease gives up all partitions of this process at once, for as long as the
// process lives. If the leader does not receive it, the lease expires.
func (a *Assigner) EndLease(ctx context.Context) {
	a.lease.End(ctx, func(ctx context.Context) { a.ask(ctx, Request{Kind: End}) })
}

func (a *Assigner) isMember() bool {
	for _, m := range a.Machine.Members() {
		if m.ID == a.Self.Node {
			return true
		}
	}
	return false
}
