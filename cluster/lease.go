package cluster

import (
	"context"
	"sync"
	"time"

	"dormouse/agent"
)

const (
	// renewRetry is the first pause after a lease could not be renewed; each is
	// twice the one before, up to a sixth of the ttl.
	renewRetry = 5 * time.Millisecond
	// driftPart is the part of a lease that its owner gives up for clocks that
	// do not run alike.
	driftPart = 20
	// endMax bounds the goodbye of a process that stops.
	endMax = time.Second
)

// Placement says what this node has to do with the partitions of instances.
// The zero value is a node that owns none, in a cluster where it places none.
type Placement struct {
	Table PartitionTable // the machine's; nil: nothing is placed here
	// LeaseTTL is how long this node keeps what it owns though nobody hears
	// from it; 0: it takes no lease, and owns nothing. Who gives one has to
	// release what drains.
	LeaseTTL time.Duration
	// Handlers are the Go handlers of this process, as agent.HandlerVersion has
	// them, in order.
	Handlers []string
	// Alive is a hint whether a node seems to be alive; nil: all do. One that
	// does not is given nothing, and loses nothing for it.
	Alive func(node string) bool
	// Ask asks the node at addr, as Peers do; nil on a node that is alone.
	Ask func(ctx context.Context, addr string, r OwnRequest) (OwnResponse, error)
}

// PartitionTable is who owns what, as this node has applied it.
type PartitionTable interface {
	Partition(n int) agent.Partition
	Partitions() []*agent.Partition // by number; nobody may change them. One that stays as it is stays the same pointer
	NodeLeases() []agent.NodeLease
	// PartitionsChanged is closed after the next change of owners or of who has
	// a lease.
	PartitionsChanged() <-chan struct{}

	// The encoders make whole commits, as Submit takes them.
	EncodeRenewNodeLease(l agent.NodeLease, host *agent.Member) []byte
	EncodeEndNodeLease(node, life string) []byte
	EncodeMovePartitions(moves []agent.PartitionMove, why string) []byte
}

// Lease is the right of a process to keep what it owns, as that one knows it. Make
// it with NewLease. Its methods may be called concurrently, Keep once.
type Lease struct {
	mu    sync.Mutex
	until time.Time          // guarded by mu
	quit  context.CancelFunc // of the newest renewal; nil where the cluster was never asked. Guarded by mu
	begun chan struct{}      // closed once there is one
	ended chan struct{}      // closed once there will be none any more
	busy  chan struct{}      // a token of one: who asks the cluster to renew it, or to end it
}

// NewLease is a lease that is not there yet.
func NewLease() *Lease {
	return &Lease{begun: make(chan struct{}), ended: make(chan struct{}), busy: make(chan struct{}, 1)}
}

// Begun is closed once there is a lease.
func (l *Lease) Begun() <-chan struct{} { return l.begun }

// Until is until when the process may keep what it owns, by its own monotonic
// clock; the zero time where it has no lease.
func (l *Lease) Until() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.until
}

// extend moves the lease's end on, never back; nothing does once it has ended.
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

// Keep renews the lease every third of its ttl, until ctx ends, the lease is
// ended, or renew fails for good, with its error. renew tells whether the lease
// is renewed and this process sees what was before that. A failure is tried again,
// sooner where the channel that news gave before it is closed.
func (l *Lease) Keep(ctx context.Context, ttl time.Duration, news func() <-chan struct{}, renew func(context.Context) (bool, error)) error {
	for retry := renewRetry; ctx.Err() == nil && !closed(l.ended); {
		wake, next := news(), ttl/3
		switch renewed, err := l.renew(ctx, ttl, renew); {
		case err != nil:
			return err
		case renewed:
			retry, wake = renewRetry, nil
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

// renew renews the lease once. It counts from before the call, and from when
// that has come through: whoever looks at the table then sees what happened
// before it.
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
	if !l.ask(cancel) {
		return false, nil
	}
	renewed, err := renew(ctx)
	if renewed {
		l.extend(until)
	}
	return renewed, err
}

// ask notes that the cluster is asked until quit is called; false once that must
// not be any more.
func (l *Lease) ask(quit context.CancelFunc) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if closed(l.ended) {
		return false
	}
	l.quit = quit
	return true
}

// End gives the lease up, for as long as the process lives: tell tells the
// cluster so, within endMax. It is told once, and only if it was ever asked for a
// lease. A renewal under way is waited for until half of that is over, and then is
// cut short: if it came after the end, it would begin the lease anew.
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
		l.quit() // no renewal begins any more: this one was the last
	case <-ctx.Done():
	}
	tell(ctx)
}

// end makes the lease none, and tells whether the cluster is to hear of it.
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

// Life is this process of the node, minted with each start: the incarnation of
// what it owns.
func (g *Group) Life() string { return g.self.Process }

// LeaseUntil is until when this node may keep what it owns, by its own
// monotonic clock; the zero time where it has no lease. The table that this node
// sees is no older than the lease.
func (g *Group) LeaseUntil() time.Time { return g.lease.Until() }

// keepLease keeps this node's lease, until ctx ends or the lease is ended.
func (g *Group) keepLease(ctx context.Context) error {
	ttl := g.o.Placement.LeaseTTL
	if g.o.Placement.Table == nil || ttl == 0 {
		return nil
	}
	var refused OwnResponse // as it was logged last: a renewal is tried again for ever
	return g.lease.Keep(ctx, ttl, g.LeaderChanged, func(ctx context.Context) (bool, error) {
		if _, known := g.member(g.o.NodeID); !known || g.self.ClusterID() == "" {
			return false, nil // a founder's row comes a moment after its cluster
		}
		answer := g.own(ctx, OwnRequest{Kind: OwnRenew, TTL: ttl, Handlers: g.o.Placement.Handlers})
		if answer.Refused != "" && (answer.Refused != refused.Refused || answer.Detail != refused.Detail) {
			g.logger.Warn("the cluster refuses this node a lease: it owns nothing", "code", answer.Refused, "why", answer.Detail)
		}
		if answer.Refused != "" || answer.Index != 0 {
			refused = answer
		}
		return answer.Index != 0 && g.machine.WaitApplied(ctx, answer.Index) == nil, nil
	})
}

// EndLease gives up whatever this process owns, at once, for as long as it
// lives. What was not heard in time lapses.
func (g *Group) EndLease(ctx context.Context) {
	g.lease.End(ctx, func(ctx context.Context) { g.own(ctx, OwnRequest{Kind: OwnEnd}) })
}
