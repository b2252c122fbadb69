package agent

import (
	"strconv"
	"strings"
	"time"
)

// NodeLease is a node's right to keep what it owns, for as long as it renews
// it. One lease covers all of a node's partitions, and each process of a node
// has its own.
type NodeLease struct {
	Node        string
	Incarnation string // of the node's data directory
	Life        string // of its process
	TTL         time.Duration
	BegunTick   uint64   // the log's time when it began
	ArmedTick   uint64   // …and when it was renewed last
	Handlers    []string // the process's Go handlers, as HandlerVersion has them, in order
}

// PartitionMove is one change of what is to become of a partition. It applies
// only where the partition is as expected.
type PartitionMove struct {
	Partition int
	Epoch     uint64 // of the owning that is expected; 0 for nobody's
	Action    PartitionAction
	To        string // PartitionAssign, PartitionDrain: the node
}

// PartitionAction says what to do with a partition.
type PartitionAction string

// The actions.
const (
	PartitionAssign  PartitionAction = "assign"  // give a free one to a node that has a lease
	PartitionDrain   PartitionAction = "drain"   // ask its owner to release it, for a node that has a lease
	PartitionKeep    PartitionAction = "keep"    // let a draining one stay after all
	PartitionRelease PartitionAction = "release" // its owner lets it go: to whom it was drained for, if that one has a lease
)

// PlacementEvent is one change of owners, of one or more partitions.
type PlacementEvent struct {
	Index      uint64
	Time       int64 // Unix ms
	Kind       PlacementEventKind
	From, To   string // "" for nobody
	Epoch      uint64 // of the new owning; 0 where nobody owns them now
	Why        string
	Partitions []int
}

// PlacementEventKind says what happened to partitions.
type PlacementEventKind string

// The kinds of events.
const (
	EventAssigned PlacementEventKind = "assigned" // a free one got an owner
	EventDraining PlacementEventKind = "draining" // its owner was asked to release it
	EventKept     PlacementEventKind = "kept"     // …and is to keep it after all
	EventMoved    PlacementEventKind = "moved"    // its owner released it, and To owns it now
	EventReleased PlacementEventKind = "released" // its owner released it, and nobody owns it
	EventLapsed   PlacementEventKind = "lapsed"   // its owner's lease lapsed
	EventEnded    PlacementEventKind = "ended"    // its owner's process ended
)

// ClaimedPartition is the partition that a fence's name means.
func ClaimedPartition(claim string) (n int, ok bool) {
	digits, ok := strings.CutPrefix(claim, partitionClaimPrefix)
	if !ok {
		return 0, false
	}
	n, err := strconv.Atoi(digits)
	return n, err == nil && n >= 0 && n < Partitions && PartitionClaim(n) == claim
}

// PlacementQuery asks who owns what, and why.
type PlacementQuery struct {
	Scope   string // "" means DefaultScope
	Manager string // "" for no key in particular
	Key     string
	With    string // a node: what would move if it joined; "" for none
	Without string // a node: what would move if it left; "" for none
	Events  int    // of the trail, the newest; at most PlacementEventsMax
}

// Placement is who owns what, as one node knows it; it may lag.
type Placement struct {
	Index  uint64
	Nodes  []PlacedNode // members, in id order
	Free   int          // partitions that nobody owns
	Moving []Partition  // those that are draining
	Events []PlacementEvent

	Partition  *Partition // of the key that was asked for
	Candidates []PlacementCandidate
	Forecast   *PlacementForecast // nil where nothing was supposed
}

// PlacedNode is a member and its share.
type PlacedNode struct {
	Node     string
	Zone     string
	Weight   int
	Leased   bool     // it has a lease as of Index
	Owned    int      // partitions; draining ones too
	Draining int      // …of which are to go
	Coming   int      // partitions that drain for it
	Host     bool     // it keeps instances and no data
	Handlers []string // its process's Go handlers, as HandlerVersion has them
}

// PlacementCandidate is a node that a partition may go to, the first choice first.
type PlacementCandidate struct {
	Node   string
	Zone   string
	Weight int
	Score  float64 // how much the partition is drawn to it; only the order matters
}

// PlacementForecast is what would be if a node joined or left.
type PlacementForecast struct {
	Moves int    // partitions that would have another owner
	Owner string // of the key's partition, then; "" for nobody
}

// Validate judges a query.
func (q *PlacementQuery) Validate() error {
	if q.Scope == "" {
		q.Scope = DefaultScope
	}
	if q.Events < 0 || q.Events > PlacementEventsMax {
		return Invalid("events", "events = %d must be from 0 to %d", q.Events, PlacementEventsMax)
	}
	if q.With != "" && q.Without != "" {
		return Invalid("with", "with and without do not go together: ask twice")
	}
	for field, node := range map[string]string{"with": q.With, "without": q.Without} {
		if node == "" {
			continue
		}
		if err := ValidID(field, node); err != nil {
			return err
		}
	}
	if q.Manager == "" && q.Key == "" {
		return nil
	}
	return firstOf(ValidID("scope", q.Scope), ValidID("manager", q.Manager), ValidID("key", q.Key))
}
