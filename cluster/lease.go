package cluster

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"dormouse/agent"
	"dormouse/internal/invariant"
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
	// from it; 0: it takes no lease, and owns nothing.
	LeaseTTL time.Duration
	// Hosted tells that somebody keeps instances here, and releases what
	// drains; otherwise the node does so at once.
	Hosted bool
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
	EncodeRenewNodeLease(node, incarnation, life string, ttl time.Duration) []byte
	EncodeEndNodeLease(node, life string) []byte
	EncodeMovePartitions(moves []agent.PartitionMove, why string) []byte
}

// OwnKind is what a node asks of the leader for itself.
type OwnKind string

// The kinds of requests.
const (
	OwnRenew   OwnKind = "renew"   // renew the lease, or begin it
	OwnEnd     OwnKind = "end"     // end it: the process stops
	OwnRelease OwnKind = "release" // let a partition go
	OwnKeep    OwnKind = "keep"    // keep one that drains
)

// OwnRequest is what a node asks of the leader for itself.
type OwnRequest struct {
	Kind        OwnKind
	Node        string
	Incarnation string // of its data directory
	Life        string // of its process
	TTL         time.Duration
	Partition   int
	Epoch       uint64
	Why         string
}

// OwnResponse answers: done as of an index, or go elsewhere, or refused by the
// log. None of them means that it may or may not have been done.
type OwnResponse struct {
	Leader     string
	LeaderAddr string
	Index      uint64
	Refused    agent.Code
	Detail     string
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
	answer := g.own(ctx, OwnRequest{Kind: OwnRenew, TTL: ttl})
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

// ReleasePartition lets a partition go that this node owns under that epoch:
// where it drains, its next owner has it. It returns nil once that is so as far
// as this node sees, whoever brought it about. Otherwise the error is unknown:
// it may yet be so.
func (g *Group) ReleasePartition(ctx context.Context, n int, epoch uint64) error {
	return g.insist(ctx, OwnRequest{Kind: OwnRelease, Partition: n, Epoch: epoch}, func(p agent.Partition) bool { return p.Epoch != epoch })
}

// KeepPartition keeps a partition that was to drain, since its owner could not
// let it go; why is shown. It is let alone for a while then.
func (g *Group) KeepPartition(ctx context.Context, n int, epoch uint64, why string) error {
	return g.insist(ctx, OwnRequest{Kind: OwnKeep, Partition: n, Epoch: epoch, Why: clipWhy(why)}, func(p agent.Partition) bool {
		return p.Epoch != epoch || p.State != agent.PartitionDraining
	})
}

// clipWhy is as much of a reason as is kept. Neither the log nor a peer can be
// told what is no UTF-8.
func clipWhy(why string) string {
	return strings.ToValidUTF8(why[:min(len(why), agent.PlacementWhyBytesMax)], "")
}

// insist asks until the partition stands as wanted here.
func (g *Group) insist(ctx context.Context, r OwnRequest, done func(agent.Partition) bool) error {
	invariant.Check(r.Partition >= 0 && r.Partition < agent.Partitions, "partition %d", r.Partition)
	table := g.o.Placement.Table
	if table == nil {
		return agent.Errorf(agent.CodeInternal, "this node places nothing")
	}
	for retry := renewRetry; ; retry = min(2*retry, time.Second) {
		changed := table.PartitionsChanged()
		if done(table.Partition(r.Partition)) {
			return nil
		}
		if answer := g.own(ctx, r); answer.Index != 0 && g.machine.WaitApplied(ctx, answer.Index) == nil {
			return nil
		}
		again := time.NewTimer(retry)
		select {
		case <-again.C:
		case <-changed:
		case <-ctx.Done():
			again.Stop()
			return agent.Errorf(agent.CodeUnknown, "partition %d may yet change hands: %v", r.Partition, context.Cause(ctx))
		}
		again.Stop()
	}
}

// own asks the leader, once, wherever it is.
func (g *Group) own(ctx context.Context, r OwnRequest) OwnResponse {
	r.Node, r.Incarnation, r.Life = g.o.NodeID, g.id.incarnation, g.Life()
	if g.IsLeader() {
		return g.HandleOwn(ctx, r)
	}
	_, addr := g.Leader()
	if addr == "" || addr == g.Addr() || g.o.Placement.Ask == nil {
		return OwnResponse{}
	}
	ctx, cancel := context.WithTimeout(ctx, peerMax)
	defer cancel()
	answer, err := g.o.Placement.Ask(ctx, addr, r)
	if err != nil {
		g.logger.Debug("asked the leader about what is owned here, without an answer", "kind", r.Kind, "error", err)
		return OwnResponse{}
	}
	if answer.Refused != "" {
		g.logger.Warn("the cluster refused what this node asked for itself", "kind", r.Kind, "partition", r.Partition, "why", answer.Detail)
	}
	return answer
}

// HandleOwn does what a node asks for itself, on the leader.
func (g *Group) HandleOwn(ctx context.Context, r OwnRequest) OwnResponse {
	id, addr := g.Leader()
	elsewhere := OwnResponse{Leader: id, LeaderAddr: addr}
	table := g.o.Placement.Table
	if table == nil || g.ready.Load() == nil {
		return elsewhere
	}
	var cmd []byte
	switch r.Kind {
	case OwnRenew:
		cmd = table.EncodeRenewNodeLease(r.Node, r.Incarnation, r.Life, r.TTL)
	case OwnEnd:
		cmd = table.EncodeEndNodeLease(r.Node, r.Life)
	case OwnRelease, OwnKeep:
		action := agent.PartitionRelease
		if r.Kind == OwnKeep {
			action = agent.PartitionKeep
		}
		if refused := g.notOwner(r); refused != "" {
			return OwnResponse{Refused: agent.CodeConflict, Detail: refused}
		}
		if r.Kind == OwnKeep {
			g.kept.note(r.Partition)
			r.Why = clipWhy(r.Why)
		} else {
			r.Why = "node " + r.Node + " released it"
		}
		cmd = table.EncodeMovePartitions([]agent.PartitionMove{{Partition: r.Partition, Epoch: r.Epoch, Action: action}}, r.Why)
	default:
		return OwnResponse{Refused: agent.CodeInvalid, Detail: "unknown kind " + string(r.Kind)}
	}
	index, err := g.commitAt(ctx, cmd)
	if err == nil {
		return OwnResponse{Index: index}
	}
	var refusal *agent.Error
	if errors.As(err, &refusal) && refusal.Final {
		return OwnResponse{Refused: refusal.Code, Detail: refusal.Detail}
	}
	return elsewhere
}

// notOwner says why the node has no say in the partition; "" where it has. An
// epoch is known to all nodes, so it alone is no proof; the log judges it again.
func (g *Group) notOwner(r OwnRequest) string {
	if r.Partition < 0 || r.Partition >= agent.Partitions {
		return "there is no such partition"
	}
	if p := g.o.Placement.Table.Partition(r.Partition); p.Epoch != r.Epoch || p.Owner != r.Node || p.Incarnation != r.Life {
		return "it is not this node's at that epoch"
	}
	return ""
}

// commitAt proposes one of the group's own commits, and waits for the index of
// its entry.
func (g *Group) commitAt(ctx context.Context, cmd []byte) (uint64, error) {
	type settled struct {
		decided agent.Decided
		err     error
	}
	done := make(chan settled, 1)
	g.Submit(cmd, func(d agent.Decided, err error) { done <- settled{d, err} })
	select {
	case s := <-done:
		if s.err == nil && s.decided.Err != nil {
			return 0, s.decided.Err
		}
		return s.decided.Result.Index, s.err
	case <-ctx.Done():
		return 0, agent.Errorf(agent.CodeUnknown, "commit: %v", context.Cause(ctx))
	}
}
