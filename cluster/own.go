package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"dormouse/agent"
	"dormouse/internal/clip"
	"dormouse/internal/invariant"
)

// OwnKind is what a node asks of the leader for itself.
type OwnKind string

// The kinds of requests.
const (
	OwnRenew   OwnKind = "renew"   // renew the lease, or begin it
	OwnEnd     OwnKind = "end"     // end it: the process stops
	OwnRelease OwnKind = "release" // let partitions go
	OwnKeep    OwnKind = "keep"    // keep one that drains
)

// OwnRequest is what a node asks of the leader for itself.
type OwnRequest struct {
	Kind        OwnKind
	Node        string
	Incarnation string // of its data directory
	Life        string // of its process
	TTL         time.Duration
	Held        []Held // what to release or keep: all of it, or none
	Why         string
	Handlers    []string      // OwnRenew: the process's, in order
	Host        *agent.Member // OwnRenew, of a host: its member row; nil of a node
}

// Held is a partition as its owner holds it.
type Held struct {
	Partition int
	Epoch     uint64
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

// ReleasePartitions lets partitions go that this node owns under those epochs and
// that drain: their next owners have them. It returns nil once none of them
// drains under its epoch any more as far as this node sees, whoever brought it
// about. Otherwise the error is unknown: it may yet be so.
func (g *Group) ReleasePartitions(ctx context.Context, held []Held) error {
	return g.insist(ctx, OwnRequest{Kind: OwnRelease, Held: held})
}

// KeepPartition keeps a partition that was to drain, since its owner could not
// let it go; why is shown. It is let alone for a while then. It returns as
// ReleasePartitions does.
func (g *Group) KeepPartition(ctx context.Context, held Held, why string) error {
	return g.insist(ctx, OwnRequest{Kind: OwnKeep, Held: []Held{held}, Why: why})
}

// clipWhy is as much of a reason as is kept.
func clipWhy(why string) string {
	return clip.Text(why, agent.PlacementWhyBytesMax)
}

func (g *Group) insist(ctx context.Context, r OwnRequest) error {
	table := g.o.Placement.Table
	if table == nil {
		return agent.Errorf(agent.CodeInternal, "this node places nothing")
	}
	return Insist(ctx, table, r, func(ctx context.Context, r OwnRequest) bool {
		answer := g.own(ctx, r)
		return answer.Index != 0 && g.machine.WaitApplied(ctx, answer.Index) == nil
	})
}

// Owners is who owns what, as this process knows it.
type Owners interface {
	Partition(n int) agent.Partition
	PartitionsChanged() <-chan struct{} // closed at the next change of any of them
}

// Insist asks until nothing drains any more of what is held, as far as this
// process knows. ask asks once, and tells whether that was done and is known
// here. An error is unknown: it may yet be so.
func Insist(ctx context.Context, table Owners, r OwnRequest, ask func(context.Context, OwnRequest) bool) error {
	r.Why = clipWhy(r.Why)
	drains := func(h Held) bool {
		invariant.Check(h.Partition >= 0 && h.Partition < agent.Partitions, "partition %d", h.Partition)
		p := table.Partition(h.Partition)
		return p.Epoch == h.Epoch && p.State == agent.PartitionDraining
	}
	for retry := renewRetry; ; retry = min(2*retry, time.Second) {
		changed := table.PartitionsChanged()
		r.Held = slices.DeleteFunc(slices.Clone(r.Held), func(h Held) bool { return !drains(h) })
		if len(r.Held) == 0 {
			return nil
		}
		if ask(ctx, r) {
			return nil
		}
		again := time.NewTimer(retry)
		select {
		case <-again.C:
		case <-changed:
		case <-ctx.Done():
			again.Stop()
			return agent.Errorf(agent.CodeUnknown, "%d partitions may yet change hands: %v", len(r.Held), context.Cause(ctx))
		}
		again.Stop()
	}
}

// own asks the leader, once, wherever it is.
func (g *Group) own(ctx context.Context, r OwnRequest) OwnResponse {
	r.Node, r.Incarnation, r.Life = g.o.NodeID, g.self.Incarnation, g.Life()
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
	if answer.Refused != "" && r.Kind != OwnRenew { // which keepLease tells of
		g.logger.Warn("the cluster refused what this node asked for itself", "kind", r.Kind, "partitions", len(r.Held), "why", answer.Detail)
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
		cmd = table.EncodeRenewNodeLease(agent.NodeLease{
			Node: r.Node, Incarnation: r.Incarnation, Life: r.Life, TTL: r.TTL, Handlers: r.Handlers,
		}, r.Host)
	case OwnEnd:
		cmd = table.EncodeEndNodeLease(r.Node, r.Life)
	case OwnRelease, OwnKeep:
		if refused := g.notOwner(r); refused != "" {
			return OwnResponse{Refused: agent.CodeConflict, Detail: refused}
		}
		cmd = g.encodeHeld(r)
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

// notOwner says why the node has no say in a partition that it names; "" where it
// has in all. An epoch is known to all nodes, so it alone is no proof; the log
// judges it again.
func (g *Group) notOwner(r OwnRequest) string {
	if len(r.Held) > agent.Partitions {
		return "there are not so many partitions"
	}
	for _, h := range r.Held {
		if h.Partition < 0 || h.Partition >= agent.Partitions {
			return fmt.Sprintf("there is no partition %d", h.Partition)
		}
		if p := g.o.Placement.Table.Partition(h.Partition); p.Epoch != h.Epoch || p.Owner != r.Node || p.Incarnation != r.Life {
			return fmt.Sprintf("partition %d is not this node's at that epoch", h.Partition)
		}
	}
	return ""
}

// encodeHeld encodes the moves of what a node releases or keeps.
func (g *Group) encodeHeld(r OwnRequest) []byte {
	action, why := agent.PartitionRelease, "node "+r.Node+" released it"
	if r.Kind == OwnKeep {
		action, why = agent.PartitionKeep, clipWhy(r.Why)
	}
	moves := make([]agent.PartitionMove, len(r.Held))
	for i, h := range r.Held {
		moves[i] = agent.PartitionMove{Partition: h.Partition, Epoch: h.Epoch, Action: action}
		if r.Kind == OwnKeep {
			g.kept.note(h.Partition)
		}
	}
	return g.o.Placement.Table.EncodeMovePartitions(moves, why)
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
