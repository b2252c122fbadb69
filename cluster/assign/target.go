package assign

import (
	"slices"

	"dormouse/agent/layout"
	"dormouse/placement"
)

// Target returns the node that is to own each partition, and the node that counts
// as its owner now. The owner of a partition that drains is its next owner, if
// that is one of nodes.
func Target(table []*layout.Partition, nodes []placement.Node, pins []layout.Pin) (target, owners []string) {
	owners = ownersOf(table, nodes)
	return placement.AssignPinned(owners, nodes, byPartition(pins)), owners
}

// byPartition returns the node of each pin, by partition.
func byPartition(pins []layout.Pin) map[int]string {
	by := make(map[int]string, len(pins))
	for _, p := range pins {
		by[p.Partition] = p.Node
	}
	return by
}

func ownersOf(table []*layout.Partition, nodes []placement.Node) []string {
	among := make(map[string]bool, len(nodes))
	for _, n := range nodes {
		among[n.Name] = true
	}
	owners := make([]string, len(table))
	for i, p := range table {
		if owners[i] = p.Owner; p.State == layout.PartitionDraining && among[p.To] {
			owners[i] = p.To
		}
	}
	return owners
}

// target caches the result of placement.AssignPinned while a rebalance is in
// progress. A node that joins takes dozens of plans, since few partitions drain at
// once. The target is computed again when the nodes or the pins change, or when a
// partition moves to a node that is not its target.
type target struct {
	nodes    []placement.Node
	pins     []layout.Pin
	from, to []string // by partition: the owner when to was computed, and the target
}

// of returns the target of each partition, given the nodes that count as owners
// now. Callers must not change it.
func (t *target) of(owners []string, nodes []placement.Node, pins []layout.Pin) []string {
	if !t.valid(owners, nodes, pins) {
		*t = target{nodes: nodes, pins: pins, from: owners, to: placement.AssignPinned(owners, nodes, byPartition(pins))}
	}
	return t.to
}

// valid reports whether the nodes and the pins are the same, and each partition is
// where it was or at its target.
func (t *target) valid(owners []string, nodes []placement.Node, pins []layout.Pin) bool {
	if len(t.to) != len(owners) || !slices.Equal(t.nodes, nodes) || !slices.Equal(t.pins, pins) {
		return false
	}
	for i, owner := range owners {
		if owner != t.to[i] && owner != t.from[i] {
			return false
		}
	}
	return true
}
