package document

import (
	"cmp"
	"slices"

	"dormouse/agent/layout"
)

// placementCandidate is a node that may own a key's partition.
type placementCandidate struct {
	Node   string  `json:"node"`
	Zone   string  `json:"zone,omitempty"`
	Weight int     `json:"weight" doc:"The node's share relative to the others"`
	Score  float64 `json:"score" doc:"Of the node for this partition; only the order matters"`

	Drained bool `json:"drained,omitzero" doc:"It may own no partitions"`
}

// placementForecast is the placement after a node joined or left.
type placementForecast struct {
	Moves int    `json:"moves" doc:"Partitions that would change owner"`
	Owner string `json:"owner" doc:"Of this key's partition after that; empty for none"`
}

// PlacementAnswer is the owner of a key's partition, and the reason.
type PlacementAnswer struct {
	Partition  int                  `json:"partition"`
	Owner      string               `json:"owner" doc:"The node; empty if it has no owner"`
	Epoch      uint64               `json:"epoch" doc:"Of the ownership, never reused; 0 if it has no owner"`
	State      string               `json:"state" doc:"free, owned or draining"`
	To         string               `json:"to,omitempty" doc:"If it drains: the next owner"`
	Since      int64                `json:"since" doc:"Unix ms; 0 if it never had an owner"`
	SinceIndex uint64               `json:"since_index"`
	Why        string               `json:"why"`
	Pin        *placementPin        `json:"pin,omitempty" doc:"Which member is to own it, if an operator said so"`
	Candidates []placementCandidate `json:"candidates" nullable:"false" doc:"The nodes with a lease, best candidate first"`
	Forecast   *placementForecast   `json:"forecast,omitempty" doc:"Only with the parameters with or without"`
	Events     []placementEvent     `json:"events" nullable:"false" doc:"The changes of its ownership that are kept, newest first"`
}

// PlacementAnswerOf returns the document of the placement of a key.
func PlacementAnswerOf(p layout.Placement) PlacementAnswer {
	at := p.Partition
	out := PlacementAnswer{
		Partition: at.ID, Owner: at.Owner, Epoch: at.Epoch, State: string(at.State), To: at.To, Since: at.Since, SinceIndex: at.SinceIndex, Why: at.Why,
		Candidates: rowsOf(p.Candidates, func(c layout.PlacementCandidate) placementCandidate { return placementCandidate(c) }),
	}
	if len(p.Pins) > 0 {
		pin := placementPin(p.Pins[0])
		out.Pin = &pin
	}
	out.Events = eventsOf(p.Events, func(e layout.PlacementEvent) bool { return slices.Contains(e.Partitions, at.ID) })
	if f := p.Forecast; f != nil {
		out.Forecast = &placementForecast{Moves: f.Moves, Owner: f.Owner}
	}
	return out
}

// placedNode is a member's share of the partitions.
type placedNode struct {
	Node      string   `json:"node"`
	Zone      string   `json:"zone,omitempty"`
	Weight    int      `json:"weight"`
	Leased    bool     `json:"leased" doc:"It has a lease, and so may own partitions"`
	Owned     int      `json:"owned" doc:"Partitions, including draining ones"`
	Draining  int      `json:"draining" doc:"…of which are draining"`
	Coming    int      `json:"coming" doc:"Partitions that drain for it"`
	Host      bool     `json:"host,omitzero" doc:"It runs instances and stores no data"`
	Handlers  []string `json:"handlers,omitempty" doc:"The Go handlers registered there"`
	DrainedAt int64    `json:"drained_at,omitzero" doc:"When an operator drained it, Unix ms; absent if it is not drained"`
}

// placementPin says which member is to own a partition.
type placementPin struct {
	Partition int    `json:"partition"`
	Node      string `json:"node"`
	Since     int64  `json:"since" doc:"Unix ms"`
}

func pinsOf(pins []layout.Pin) []placementPin {
	return rowsOf(pins, func(p layout.Pin) placementPin { return placementPin(p) })
}

// PinBody names the member that is to own a partition.
type PinBody struct {
	Node string `json:"node" doc:"The member's id"`
}

// Pinned is the result of pinning a partition.
type Pinned struct {
	Partition int    `json:"partition"`
	Node      string `json:"node" doc:"The member that is to own it; empty if it has no pin"`
}

// movingPartition is a partition that moves from one node to another.
type movingPartition struct {
	Partition int    `json:"partition"`
	From      string `json:"from"`
	To        string `json:"to,omitempty"`
	Why       string `json:"why"`
}

// PlacementShares is the number of partitions of each node.
type PlacementShares struct {
	Nodes  []placedNode      `json:"nodes" nullable:"false"`
	Free   int               `json:"free" doc:"Number of partitions without an owner"`
	Moving []movingPartition `json:"moving" nullable:"false" doc:"Running moves"`
	Pins   []placementPin    `json:"pins" nullable:"false" doc:"Of operators, by partition"`
}

// PlacementSharesOf returns the document of the placement of all partitions.
func PlacementSharesOf(p layout.Placement) PlacementShares {
	return PlacementShares{
		Nodes: rowsOf(p.Nodes, func(n layout.PlacedNode) placedNode { return placedNode(n) }), Free: p.Free,
		Moving: rowsOf(p.Moving, func(m layout.Partition) movingPartition {
			return movingPartition{Partition: m.ID, From: m.Owner, To: m.To, Why: m.Why}
		}),
		Pins: pinsOf(p.Pins),
	}
}

// placementEvent is one change of the owner of one or more partitions.
type placementEvent struct {
	Index      uint64                    `json:"index"`
	At         int64                     `json:"at"`
	Kind       layout.PlacementEventKind `json:"kind" doc:"assigned, draining, kept, moved, released, lapsed or ended"`
	From       string                    `json:"from,omitempty"`
	To         string                    `json:"to,omitempty"`
	Epoch      uint64                    `json:"epoch,omitempty" doc:"Of the new ownership"`
	Why        string                    `json:"why"`
	Partitions int                       `json:"partitions" doc:"How many partitions it is about"`
}

// eventsOf returns the documents of the events that are wanted, newest first.
func eventsOf(events []layout.PlacementEvent, wanted func(layout.PlacementEvent) bool) []placementEvent {
	out := []placementEvent{}
	for _, e := range events {
		if wanted(e) {
			out = append(out, placementEvent{Index: e.Index, At: e.Time, Kind: e.Kind, From: e.From, To: e.To, Epoch: e.Epoch, Why: e.Why, Partitions: len(e.Partitions)})
		}
	}
	slices.SortStableFunc(out, func(a, b placementEvent) int { return cmp.Compare(b.Index, a.Index) })
	return out
}

// PlacementMap is the owner of each partition.
type PlacementMap struct {
	Index  uint64            `json:"index"`
	Nodes  []string          `json:"nodes" nullable:"false" doc:"The owners of partitions"`
	Owners []int             `json:"owners" nullable:"false" doc:"For each partition the position of its owner in nodes; -1 if it has none"`
	Moving []movingPartition `json:"moving" nullable:"false" doc:"Running moves"`
	Pins   []placementPin    `json:"pins" nullable:"false" doc:"Of operators, by partition"`
	Events []placementEvent  `json:"events" nullable:"false" doc:"The newest changes, newest first"`
}

// PlacementMapOf returns the document of the owners of all partitions.
func PlacementMapOf(p layout.Placement) PlacementMap {
	out := PlacementMap{Index: p.Index, Nodes: []string{}, Owners: make([]int, len(p.Owners)), Moving: PlacementSharesOf(p).Moving, Pins: pinsOf(p.Pins)}
	for _, owner := range p.Owners {
		if owner != "" && !slices.Contains(out.Nodes, owner) {
			out.Nodes = append(out.Nodes, owner)
		}
	}
	slices.Sort(out.Nodes)
	for i, owner := range p.Owners {
		out.Owners[i] = slices.Index(out.Nodes, owner)
	}
	out.Events = eventsOf(p.Events, func(layout.PlacementEvent) bool { return true })
	return out
}
