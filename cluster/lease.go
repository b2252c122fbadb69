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
	// driftPart is the part of a lease that its node gives up for clocks that
	// do not run alike.
	driftPart = 20
	// endMax bounds the goodbye of a node that stops.
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
	Partitions() []agent.Partition
	NodeLeases() []agent.NodeLease
	// PartitionsChanged is closed after the next change of owners or of who has
	// a lease.
	PartitionsChanged() <-chan struct{}

	// The encoders make whole commits, as Submit takes them.
	EncodeRenewNodeLease(l agent.NodeLease, host *agent.Member) []byte
	EncodeEndNodeLease(node, life string) []byte
	EncodeMovePartitions(moves []agent.PartitionMove, why string) []byte
}

// holding is this process's own lease.
type holding struct {
	mu    sync.Mutex
	until time.Time     // guarded by mu
	ended chan struct{} // closed by EndLease
	once  sync.Once
}

// Life is this process of the node, minted with each start: the incarnation of
// what it owns.
func (g *Group) Life() string { return g.id.run }

// LeaseUntil is until when this node may keep what it owns, by its own
// monotonic clock; the zero time where it has no lease. The table that this node
// sees is no older than the lease.
func (g *Group) LeaseUntil() time.Time {
	g.lease.mu.Lock()
	defer g.lease.mu.Unlock()
	return g.lease.until
}

// setUntil moves the lease's end on, never back; nothing does once it has ended.
func (h *holding) setUntil(until time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	select {
	case <-h.ended:
	default:
		if until.After(h.until) {
			h.until = until
		}
	}
}

// keepLease renews this node's lease every third of its ttl, until ctx ends or
// the lease is ended.
func (g *Group) keepLease(ctx context.Context) error {
	ttl := g.o.Placement.LeaseTTL
	if g.o.Placement.Table == nil || ttl == 0 {
		return nil
	}
	for retry := renewRetry; ctx.Err() == nil; {
		changed := g.LeaderChanged()
		pause := ttl / 3
		if g.renewLease(ctx, ttl) {
			retry, changed = renewRetry, nil
		} else {
			pause, retry = retry, min(2*retry, ttl/6)
		}
		again := time.NewTimer(pause)
		select {
		case <-again.C:
		case <-changed:
			retry = renewRetry
		case <-g.lease.ended:
		case <-ctx.Done():
		}
		again.Stop()
		select {
		case <-g.lease.ended:
			return nil
		default:
		}
	}
	return nil
}

// renewLease renews the lease once, and tells whether that came through. The
// lease counts from before the call, and from when its entry is applied here:
// whoever looks at the table then sees what happened before it.
func (g *Group) renewLease(ctx context.Context, ttl time.Duration) bool {
	if g.id.clusterID() == "" {
		return false
	}
	began := time.Now()
	until := began.Add(ttl - ttl/driftPart)
	ctx, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	answer := g.own(ctx, OwnRequest{Kind: OwnRenew, TTL: ttl, Handlers: g.o.Placement.Handlers})
	if answer.Index == 0 || g.machine.WaitApplied(ctx, answer.Index) != nil {
		return false
	}
	g.lease.setUntil(until)
	return true
}

// EndLease gives up whatever this process owns, at once, for as long as it
// lives. What was not heard in time lapses.
func (g *Group) EndLease(ctx context.Context) {
	if g.o.Placement.Table == nil || g.o.Placement.LeaseTTL == 0 {
		return
	}
	g.lease.once.Do(func() {
		g.lease.mu.Lock()
		had := !g.lease.until.IsZero()
		g.lease.until = time.Time{}
		close(g.lease.ended)
		g.lease.mu.Unlock()
		if !had {
			return
		}
		ctx, cancel := context.WithTimeout(ctx, endMax)
		defer cancel()
		g.own(ctx, OwnRequest{Kind: OwnEnd})
	})
}
