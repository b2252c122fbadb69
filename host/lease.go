package host

import (
	"context"
	"fmt"
	"sync"
	"time"

	"dormouse/agent"
	"dormouse/cluster"
	"dormouse/internal/version"

	"dormouse/internal/pause"
)

const (
	// renewRetry is the first pause after the lease could not be renewed; each is
	// twice the one before, up to a sixth of the ttl.
	renewRetry = 20 * time.Millisecond
	// driftPart is the part of a lease that its owner gives up for clocks that do
	// not run alike.
	driftPart = 20
	// askMax bounds one question to one node.
	askMax = time.Second
	// takenMax is how many leases long a host waits for its name, which an
	// earlier life of it may still have.
	takenMax = 3
	// endMax bounds the goodbye.
	endMax = time.Second
)

// lease is this host's right to keep what it owns.
type lease struct {
	mu    sync.Mutex
	until time.Time     // guarded by mu
	ended bool          // guarded by mu
	first chan struct{} // closed once there is one
	once  sync.Once
}

func (l *lease) get() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.until
}

func (l *lease) setUntil(until time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.ended && until.After(l.until) {
		l.until = until
		l.once.Do(func() { close(l.first) })
	}
}

// end makes the lease none, for as long as this host lives, and tells whether
// there was one.
func (l *lease) end() (had bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	had = !l.until.IsZero()
	l.until, l.ended = time.Time{}, true
	return had
}

// keepLease renews the lease every third of its ttl until ctx ends. The error
// says why the cluster will not have this host.
func (h *Host) keepLease(ctx context.Context) error {
	ttl := h.o.LeaseTTL
	began := time.Now()
	for retry := renewRetry; ctx.Err() == nil; {
		next := ttl / 3
		switch refused := h.renew(ctx, ttl); {
		case refused == nil:
			retry, began = renewRetry, time.Now()
		case refused.Code == agent.CodeUnavailable, refused.Code == agent.CodeAlreadyClaimed && time.Since(began) < takenMax*ttl:
			next, retry = retry, min(2*retry, ttl/6)
		default:
			return fmt.Errorf("%w: %s", cluster.ErrRefused, refused.Detail)
		}
		pause.For(ctx, next)
	}
	return nil
}

// renew renews the lease once. It counts from before the call, and from when the
// table is as of the renewal: what others were given before it is seen then.
func (h *Host) renew(ctx context.Context, ttl time.Duration) *agent.Error {
	until := time.Now().Add(ttl - ttl/driftPart)
	ctx, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	answer := h.own(ctx, cluster.OwnRequest{Kind: cluster.OwnRenew, TTL: ttl, Handlers: h.handlers, Host: &agent.Member{
		RaftAddr: h.line.Addr(), Version: version.String(), Zone: h.o.Zone, Weight: h.o.Weight, Host: true,
	}})
	switch {
	case answer.Refused != "":
		return agent.Errorf(answer.Refused, "%s", answer.Detail)
	case answer.Index == 0:
		return agent.Errorf(agent.CodeUnavailable, "no leader answers")
	case h.table.WaitApplied(ctx, answer.Index) != nil:
		return agent.Errorf(agent.CodeUnavailable, "no node tells who owns what")
	}
	h.lease.setUntil(until)
	return nil
}

// endLease gives up whatever this host owns, at once. What nobody hears lapses.
func (h *Host) endLease() {
	if h.lease.end() {
		ctx, cancel := context.WithTimeout(context.Background(), endMax)
		defer cancel()
		h.own(ctx, cluster.OwnRequest{Kind: cluster.OwnEnd})
	}
}

// own asks the leader, wherever it is: each node that is known once, until one
// has an answer.
func (h *Host) own(ctx context.Context, r cluster.OwnRequest) cluster.OwnResponse {
	r.Node, r.Incarnation, r.Life = h.o.Name, h.line.Incarnation(), h.line.Life()
	asked := map[string]bool{}
	for queue := h.table.nodes(h.o.Join); len(queue) > 0 && ctx.Err() == nil; {
		addr := queue[0]
		queue = queue[1:]
		if asked[addr] {
			continue
		}
		asked[addr] = true
		ask, cancel := context.WithTimeout(ctx, askMax)
		answer, err := h.pool.Own(ask, addr, r)
		cancel()
		switch {
		case err != nil:
			h.o.Logger.Debug("asked about what is owned here, without an answer", "addr", addr, "kind", r.Kind, "error", err)
		case answer.Index != 0 || answer.Refused != "":
			return answer
		case answer.LeaderAddr != "":
			queue = append([]string{answer.LeaderAddr}, queue...)
		}
	}
	return cluster.OwnResponse{}
}
