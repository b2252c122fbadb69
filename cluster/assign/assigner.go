package assign

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"dormouse/agent/layout"
	"dormouse/cluster/transport"
	"dormouse/internal/pause"
	"dormouse/placement"
)

const (
	// assignInterval is how often the leader looks at the table when nothing
	// changes: gossip and the passing of time send no notification.
	assignInterval = 500 * time.Millisecond
	// assignGap is the least time between two plans, so that partitions that are
	// released one by one share a plan.
	assignGap = 50 * time.Millisecond
)

// Placement configures the part of a node in the placement of instances. With the
// zero value, the node owns no partitions and its cluster assigns none.
type Placement struct {
	Table Table // the state machine's; nil: this cluster assigns nothing
	// LeaseTTL is how long this process keeps its partitions without contact to
	// the leader. 0 means that it takes no lease and owns nothing. A process with
	// a lease must release the partitions that drain.
	LeaseTTL time.Duration
	// Handlers are the Go handlers of this process, formatted by
	// layout.HandlerVersion, in order.
	Handlers []string
	// Alive reports whether a node seems to be alive; nil means that all do. A
	// node that does not is given no partitions, and loses none.
	Alive func(node string) bool
	// Ask sends a request to the node at addr; nil on a node that is alone.
	Ask func(ctx context.Context, addr string, r Request) (Response, error)
}

// Table is the table of partitions as this node has applied it.
type Table interface {
	Partition(n int) layout.Partition
	// Partitions returns all partitions by number. Callers must not change them. A
	// partition that does not change stays the same pointer.
	Partitions() []*layout.Partition
	NodeLeases() []layout.NodeLease
	// DrainedNodes returns the members that may own no partitions, in order. Callers
	// must not change them; nor those that Pins returns.
	DrainedNodes() []layout.DrainedNode
	Pins() []layout.Pin
	// PartitionsChanged returns a channel that is closed after the next change of
	// owners, leases, drained members or pins.
	PartitionsChanged() <-chan struct{}

	// The encoders return whole commits.

	EncodeRenewNodeLease(l layout.NodeLease, host *layout.Member) []byte
	EncodeEndNodeLease(node, process string) []byte
	EncodeLapseNodeLease(node, process string, term uint64) []byte
	EncodeMovePartitions(moves []layout.PartitionMove, why string) []byte
	EncodeDrainNode(node string, drained bool) []byte
	EncodePinPartition(partition int, node string) []byte
}

// Machine is the part of the state machine that an Assigner uses.
type Machine interface {
	Members() []layout.Member
	FeatureLevel() uint32
	Applied() uint64
	WaitApplied(ctx context.Context, index uint64) error
}

// Leadership is what a node knows of the leader.
type Leadership interface {
	IsLeader() bool
	Leader() (id, addr string)
	LeaderChanged() <-chan struct{} // closed at the next change
	Takeover() (t Takeover, leads bool)
	Tick() uint64
}

// Options configures an Assigner.
type Options struct {
	Placement
	Self       *transport.Self
	Addr       string // of this node
	Machine    Machine
	Leadership Leadership
	// Commit proposes a commit of this node's own and returns the index of its
	// entry.
	Commit func(ctx context.Context, cmd []byte) (index uint64, err error)
	Logger hclog.Logger
}

// Assigner assigns partitions while this node leads, and keeps this process's
// lease. Its methods may be called concurrently, Run and KeepLease once.
type Assigner struct {
	Options
	lease   *Lease
	kept    kept
	leaving atomic.Pointer[string] // the node that Vacate empties; nil if none
}

// New returns an Assigner.
func New(o Options) *Assigner { return &Assigner{Options: o, lease: NewLease()} }

// Run assigns the partitions while this node leads, after every change and every
// half second, until ctx ends.
func (a *Assigner) Run(ctx context.Context) error {
	if a.Table == nil {
		return nil
	}
	var last unchanged
	var target target
	var before predecessor
	for ctx.Err() == nil {
		moved, led := a.Table.PartitionsChanged(), a.Leadership.LeaderChanged()
		if a.Leadership.IsLeader() && a.assignOnce(ctx, moved, &last, &target) {
			pause.For(ctx, assignGap)
		}
		again := time.NewTimer(min(assignInterval, a.lapse(ctx, &before)))
		select {
		case <-again.C:
		case <-moved:
		case <-led:
		case <-ctx.Done():
		}
		again.Stop()
	}
	return nil
}

// unchanged is the input of the last plan, if that plan was empty. The same plan
// is not made again: it looks at each partition and node.
type unchanged struct {
	moved <-chan struct{} // of the table
	nodes []placement.Node
}

// assignOnce proposes the moves that are due, and reports whether there were any.
// Each move names what it was planned from, so the state machine refuses a plan
// that has been overtaken, and the next one replaces it. moved was taken before.
func (a *Assigner) assignOnce(ctx context.Context, moved <-chan struct{}, last *unchanged, target *target) (planned bool) {
	nodes := a.Eligible("")
	if len(nodes) == 0 || last.moved == moved && slices.Equal(last.nodes, nodes) && a.kept.none() {
		return false
	}
	rules := rules{drained: a.Table.DrainedNodes(), pins: a.Table.Pins()}
	for _, step := range plan(a.Table.Partitions(), nodes, rules, a.kept.has, target) {
		planned = true
		if _, err := a.Commit(ctx, a.Table.EncodeMovePartitions(step.moves, step.why)); err != nil {
			a.Logger.Info("partitions were not moved yet", "why", step.why, "partitions", len(step.moves), "error", err)
			return true
		}
		a.Logger.Info("moved partitions", "why", step.why, "partitions", len(step.moves))
	}
	if !planned {
		*last = unchanged{moved, nodes}
	}
	return planned
}

// Eligible returns the members that have a lease and may own partitions, except
// the node without; "" excludes none. A node that is drained or being removed may
// own none; see eligible for the other rules. A node that seems dead, or whose lease is
// younger than its TTL, is closed, since it may be unstable. If all nodes are
// closed, young ones are open. On the leader, Eligible is the input of its plans.
func (a *Assigner) Eligible(without string) []placement.Node {
	members := make(map[string]layout.Member)
	for _, m := range a.Machine.Members() {
		members[m.ID] = m
	}
	tick := a.Leadership.Tick()
	remoteTurns := a.Machine.FeatureLevel() >= layout.RemoteTurnsLevel
	var all []candidate
	var young []string
	open := 0
	for _, l := range a.Table.NodeLeases() {
		m, known := members[l.Node]
		if !known || m.Incarnation != l.Incarnation || l.Node == without || a.isLeaving(l.Node) || a.isDrained(l.Node) {
			continue
		}
		n := placement.Node{Name: m.ID, Zone: m.Zone, Weight: m.Weight}
		n.Closed = a.Alive != nil && l.Node != a.Self.Node && !m.Host && !a.Alive(l.Node) // hosts do not gossip
		if !n.Closed && l.BegunTick+uint64(l.TTL.Milliseconds()) > tick {
			n.Closed = true
			young = append(young, n.Name)
		}
		if !n.Closed {
			open++
		}
		all = append(all, candidate{n, l.Handlers, remoteTurns && m.FeatureLevelMax >= layout.RemoteTurnsLevel})
	}
	nodes := eligible(all)
	for i := range nodes {
		if open == 0 && slices.Contains(young, nodes[i].Name) {
			nodes[i].Closed = false
		}
	}
	return nodes
}
