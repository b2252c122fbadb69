package layout

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"dormouse/agent"
)

// NodeLease is a node's right to the partitions that it owns, for as long as it renews
// the lease. One lease covers all partitions of a node; each process of a node has its
// own.
type NodeLease struct {
	Node        string
	Incarnation string // of the node's data directory
	Life        string // the id of the node's process
	TTL         time.Duration
	BegunTick   uint64   // the tick of the log when it began, in milliseconds
	ArmedTick   uint64   // the tick of the log when it was last renewed
	Handlers    []string // the process's Go handlers, as HandlerVersion names them, in order
	Replaced    string   // the process that this one took the lease over from; "" if none
}

// PartitionMove is one change of a partition's ownership. It applies only if the
// partition is in the expected state.
type PartitionMove struct {
	Partition int
	Epoch     uint64 // of the expected ownership; 0 for no owner
	Action    PartitionAction
	To        string // PartitionAssign, PartitionDrain: the node
}

// PartitionAction is the kind of a PartitionMove.
type PartitionAction string

// The actions.
const (
	PartitionAssign  PartitionAction = "assign"  // assign a free partition to a node with a lease
	PartitionDrain   PartitionAction = "drain"   // ask its owner to release it, for a node with a lease
	PartitionKeep    PartitionAction = "keep"    // cancel the drain: the owner keeps it
	PartitionRelease PartitionAction = "release" // its owner releases it: to the node that it drains for, if that node has a lease
)

// PlacementEvent is one change of the owner of one or more partitions.
type PlacementEvent struct {
	Index      uint64
	Time       int64 // Unix ms
	Kind       PlacementEventKind
	From, To   string // "" for none
	Epoch      uint64 // of the new ownership; 0 without an owner
	Why        string
	Partitions []int
}

// PlacementEventKind is the kind of a PlacementEvent.
type PlacementEventKind string

// The kinds of events.
const (
	EventAssigned PlacementEventKind = "assigned" // a free partition got an owner
	EventDraining PlacementEventKind = "draining" // its owner was asked to release it
	EventKept     PlacementEventKind = "kept"     // …and then to keep it
	EventMoved    PlacementEventKind = "moved"    // its owner released it, and To owns it now
	EventReleased PlacementEventKind = "released" // its owner released it, and it has no owner
	EventLapsed   PlacementEventKind = "lapsed"   // its owner's lease expired
	EventEnded    PlacementEventKind = "ended"    // its owner's process ended
)

// ClaimedPartition returns the partition that a fence's claim names.
func ClaimedPartition(claim string) (n int, ok bool) {
	digits, ok := strings.CutPrefix(claim, agent.PartitionClaimPrefix)
	if !ok {
		return 0, false
	}
	n, err := strconv.Atoi(digits)
	return n, err == nil && n >= 0 && n < Partitions && PartitionClaim(n) == claim
}

// RulesLevel is the feature level from which on members may be drained and partitions pinned.
const RulesLevel = 9

// LapseLevel is the feature level from which on a leader may end the lease of the leader before it, once
// that has lapsed for its holder, and a process that was replaced cannot take its node's lease back.
const LapseLevel = 9

// DrainedNode is a member that an operator has drained: it owns no partitions and gets none, and
// stays a member.
type DrainedNode struct {
	Node  string
	Since int64 // Unix ms
}

// Pin is an operator's rule that a member is to own a partition. While that member cannot, the
// partition is placed as others are. A pin ends when it is removed, and when the member is drained
// or leaves.
type Pin struct {
	Partition int
	Node      string
	Since     int64 // Unix ms
}

// InvalidPartition is the error for a number that is no partition's.
func InvalidPartition(n int) *agent.Error {
	return agent.Invalid("partition", "partition = %d must be from 0 to %d", n, Partitions-1)
}

// UnknownMember is the error for a name that no member has.
func UnknownMember(node string) *agent.Error {
	return agent.Errorf(agent.CodeNotFound, "no member is called %q: dormctl members lists them", node)
}

// PlacementQuery asks for the owners of partitions.
type PlacementQuery struct {
	Scope   string // "" means agent.DefaultScope
	Manager string // "" for no particular key
	Key     string
	With    string // a node: which partitions would move if it joined; "" for none
	Without string // a node: which partitions would move if it left; "" for none
	Events  int    // number of newest events to return; at most PlacementEventsMax
	Owners  bool   // return the owner of each partition
}

// Placement describes the owners of partitions, as one node knows them; it may lag.
type Placement struct {
	Index  uint64
	Nodes  []PlacedNode // members, in id order
	Free   int          // number of partitions without an owner
	Moving []Partition  // the draining partitions
	Events []PlacementEvent
	Owners []string // of each partition, "" for none; only if the query asks for them
	Pins   []Pin    // by partition; of the requested key's partition only, if the query asks for a key

	Partition  *Partition // of the requested key
	Candidates []PlacementCandidate
	Forecast   *PlacementForecast // nil without With and Without
}

// PlacedNode is a member and its share of the partitions.
type PlacedNode struct {
	Node      string
	Zone      string
	Weight    int
	Leased    bool     // it has a lease at Index
	Owned     int      // partitions, including draining ones
	Draining  int      // …of which are draining
	Coming    int      // partitions that drain for it
	Host      bool     // it runs instances and stores no data
	Handlers  []string // its process's Go handlers, as HandlerVersion names them
	DrainedAt int64    // when an operator drained it, Unix ms; 0 if it is not drained
}

// PlacementCandidate is a node that may own a partition; the best candidate comes
// first.
type PlacementCandidate struct {
	Node   string
	Zone   string
	Weight int
	Score  float64 // of the node for this partition; only the order matters

	Drained bool // it may own no partitions
}

// PlacementForecast is the placement after a node joined or left.
type PlacementForecast struct {
	Moves int    // partitions that would change owner
	Owner string // of the key's partition after that; "" for none
}

// Validate validates a query, and fills in the default scope.
func (q *PlacementQuery) Validate() error {
	if q.Scope == "" {
		q.Scope = agent.DefaultScope
	}
	if q.Events < 0 || q.Events > PlacementEventsMax {
		return agent.Invalid("events", "events = %d must be from 0 to %d", q.Events, PlacementEventsMax)
	}
	if q.With != "" && q.Without != "" {
		return agent.Invalid("with", "with and without exclude each other: send two queries")
	}
	for field, node := range map[string]string{"with": q.With, "without": q.Without} {
		if node == "" {
			continue
		}
		if err := agent.ValidID(field, node); err != nil {
			return err
		}
	}
	if q.Manager == "" && q.Key == "" {
		return nil
	}
	return cmp.Or(agent.ValidID("scope", q.Scope), agent.ValidID("manager", q.Manager), agent.ValidID("key", q.Key))
}
