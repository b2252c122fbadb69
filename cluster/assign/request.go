package assign

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/cluster/transport"
	"dormouse/internal/clip"
	"dormouse/internal/invariant"
	"dormouse/internal/retry"
)

// Kind is the kind of a Request.
type Kind string

// The kinds of requests.
const (
	Renew   Kind = "renew"   // renew the lease, or begin it
	End     Kind = "end"     // end the lease: the process stops
	Release Kind = "release" // release partitions that drain
	Keep    Kind = "keep"    // keep a partition that drains
)

// Request is what a process asks of the leader for itself.
type Request struct {
	Kind        Kind
	Node        string
	Incarnation string // of its data directory
	Process     string
	TTL         time.Duration
	Held        []Held // to release or keep: all of them, or none
	Why         string
	Handlers    []string       // Renew: of the process, in order
	Host        *layout.Member // Renew, of a host: its member row; nil for a node
	FromHost    bool           // the sender has proved that it is a host; it may not be a node
}

// Held is a partition and the epoch under which its owner holds it.
type Held struct {
	Partition int
	Epoch     uint64
}

// Response answers a Request. Index is set if it was committed, Refused if the
// state machine refused it, and Leader if another node leads. If none of them is
// set, the outcome is unknown.
type Response struct {
	Leader     string
	LeaderAddr string
	Index      uint64
	Refused    agent.Code
	Detail     string
}

// Release releases partitions that this node owns under these epochs and that
// drain, so that their next owners can have them. It returns nil once none of them
// drains under its epoch as far as this node sees, regardless of what ended the
// drain. If ctx ends first, the error has code unknown: the release may still take
// effect.
func (a *Assigner) Release(ctx context.Context, held []Held) error {
	return a.retry(ctx, Request{Kind: Release, Held: held})
}

// Keep keeps a partition that drains because its owner cannot release it. Status
// pages show why. The leader does not drain it again for 30 s. Keep returns as
// Release does.
func (a *Assigner) Keep(ctx context.Context, held Held, why string) error {
	return a.retry(ctx, Request{Kind: Keep, Held: []Held{held}, Why: why})
}

// clipWhy returns the part of a reason that is stored.
func clipWhy(why string) string {
	return clip.Text(why, layout.PlacementWhyBytesMax)
}

func (a *Assigner) retry(ctx context.Context, r Request) error {
	if a.Table == nil {
		return agent.Errorf(agent.CodeInternal, "this cluster assigns no partitions")
	}
	return RetryUntilReleased(ctx, a.Table, r, func(ctx context.Context, r Request) bool {
		answer := a.ask(ctx, r)
		return answer.Index != 0 && a.Machine.WaitApplied(ctx, answer.Index) == nil
	})
}

// Owners is the table of partitions as this process knows it.
type Owners interface {
	Partition(n int) layout.Partition
	PartitionsChanged() <-chan struct{} // closed at the next change of any of them
}

// RetryUntilReleased calls ask until none of r.Held drains as far as this process
// knows. ask sends the request once, and reports whether it was committed and
// this process has applied it. If ctx ends first, the error has code unknown: the
// request may still take effect.
func RetryUntilReleased(ctx context.Context, table Owners, r Request, ask func(context.Context, Request) bool) error {
	r.Why = clipWhy(r.Why)
	drains := func(h Held) bool {
		invariant.Check(h.Partition >= 0 && h.Partition < layout.Partitions, "partition %d", h.Partition)
		p := table.Partition(h.Partition)
		return p.Epoch == h.Epoch && p.State == layout.PartitionDraining
	}
	for attempts := retry.New(renewRetry, time.Second); ; {
		changed := table.PartitionsChanged()
		r.Held = slices.DeleteFunc(slices.Clone(r.Held), func(h Held) bool { return !drains(h) })
		if len(r.Held) == 0 {
			return nil
		}
		if ask(ctx, r) {
			return nil
		}
		again := time.NewTimer(attempts.Next())
		select {
		case <-again.C:
		case <-changed:
		case <-ctx.Done():
			again.Stop()
			return agent.Errorf(agent.CodeUnknown, "the release of %d partitions is not confirmed: %v", len(r.Held), context.Cause(ctx))
		}
		again.Stop()
	}
}

// ask sends a request to the leader once. It waits for the answer only as long as the same node leads as
// far as this node knows: a leader that fell silent never answers.
func (a *Assigner) ask(ctx context.Context, r Request) Response {
	r.Node, r.Incarnation, r.Process = a.Self.Node, a.Self.Incarnation, a.Self.Process
	if a.Leadership.IsLeader() {
		return a.Handle(ctx, r)
	}
	changed := a.Leadership.LeaderChanged() // taken before the leader is read
	_, addr := a.Leadership.Leader()
	if addr == "" || addr == a.Addr || a.Ask == nil {
		return Response{}
	}
	ctx, cancel := context.WithTimeout(ctx, transport.RequestTimeout)
	defer cancel()
	go func() {
		select {
		case <-changed:
			cancel()
		case <-ctx.Done():
		}
	}()
	answer, err := a.Ask(ctx, addr, r)
	if err != nil {
		a.Logger.Debug("the leader did not answer a request about this node's partitions", "kind", r.Kind, "error", err)
		return Response{}
	}
	if answer.Refused != "" && r.Kind != Renew { // KeepLease logs those of Renew
		a.Logger.Warn("the cluster refused a request about this node's partitions", "kind", r.Kind, "partitions", len(r.Held), "why", answer.Detail)
	}
	return answer
}

// Handle carries out a request on the leader.
func (a *Assigner) Handle(ctx context.Context, r Request) Response {
	id, addr := a.Leadership.Leader()
	elsewhere := Response{Leader: id, LeaderAddr: addr}
	if a.Table == nil || !a.Leadership.IsLeader() {
		return elsewhere
	}
	if r.FromHost && (r.Kind == Renew && r.Host == nil || a.isNode(r.Node)) {
		return Response{Refused: agent.CodeInvalid, Detail: fmt.Sprintf("%q is the name of a node: give the host another", r.Node)}
	}
	var cmd []byte
	switch r.Kind {
	case Renew:
		cmd = a.Table.EncodeRenewNodeLease(layout.NodeLease{
			Node: r.Node, Incarnation: r.Incarnation, Life: r.Process, TTL: r.TTL, Handlers: r.Handlers,
		}, r.Host)
	case End:
		cmd = a.Table.EncodeEndNodeLease(r.Node, r.Process)
	case Release, Keep:
		if refused := a.notOwner(r); refused != "" {
			return Response{Refused: agent.CodeConflict, Detail: refused}
		}
		cmd = a.encodeHeld(r)
	default:
		return Response{Refused: agent.CodeInvalid, Detail: "unknown kind " + string(r.Kind)}
	}
	index, err := a.Commit(ctx, cmd)
	if err == nil {
		return Response{Index: index}
	}
	var refusal *agent.Error
	if errors.As(err, &refusal) && refusal.Final {
		return Response{Refused: refusal.Code, Detail: refusal.Detail}
	}
	return elsewhere
}

// isNode reports whether a member that is a node has this name.
func (a *Assigner) isNode(name string) bool {
	return slices.ContainsFunc(a.Machine.Members(), func(m layout.Member) bool { return m.ID == name && !m.Host })
}

// notOwner returns why the sender does not own a partition that it names, or "" if
// it owns all of them. All nodes know the epochs, so an epoch alone proves
// nothing. The state machine checks again.
func (a *Assigner) notOwner(r Request) string {
	if len(r.Held) > layout.Partitions {
		return fmt.Sprintf("%d partitions named, of %d", len(r.Held), layout.Partitions)
	}
	for _, h := range r.Held {
		if h.Partition < 0 || h.Partition >= layout.Partitions {
			return fmt.Sprintf("there is no partition %d", h.Partition)
		}
		if p := a.Table.Partition(h.Partition); p.Epoch != h.Epoch || p.Owner != r.Node || p.Incarnation != r.Process {
			return fmt.Sprintf("node %s does not own partition %d at epoch %d", r.Node, h.Partition, h.Epoch)
		}
	}
	return ""
}

// encodeHeld encodes the moves of a Release or Keep.
func (a *Assigner) encodeHeld(r Request) []byte {
	action, why := layout.PartitionRelease, "node "+r.Node+" released it"
	if r.Kind == Keep {
		action, why = layout.PartitionKeep, clipWhy(r.Why)
	}
	moves := make([]layout.PartitionMove, len(r.Held))
	for i, h := range r.Held {
		moves[i] = layout.PartitionMove{Partition: h.Partition, Epoch: h.Epoch, Action: action}
		if r.Kind == Keep {
			a.kept.note(h.Partition)
		}
	}
	return a.Table.EncodeMovePartitions(moves, why)
}
