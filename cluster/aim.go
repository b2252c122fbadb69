package cluster

import (
	"slices"

	"dormouse/agent"
	"dormouse/placement"
)

// Target says who is to own each partition among the nodes, and who counts as
// its owner now: of what drains the next one, if it is one of them.
func Target(table []*agent.Partition, nodes []placement.Node) (target, owners []string) {
	owners = ownersOf(table, nodes)
	return placement.Assign(owners, nodes), owners
}

func ownersOf(table []*agent.Partition, nodes []placement.Node) []string {
	among := make(map[string]bool, len(nodes))
	for _, n := range nodes {
		among[n.Name] = true
	}
	owners := make([]string, len(table))
	for i, p := range table {
		if owners[i] = p.Owner; p.State == agent.PartitionDraining && among[p.To] {
			owners[i] = p.To
		}
	}
	return owners
}

// aim is what the leader's plans lead to, while they are carried out. A join of
// a node takes dozens of plans, since few partitions drain at once: what they
// all lead to is found once, which takes a look at each partition and node, and
// is aimed at until anything else happens than what was planned.
type aim struct {
	nodes    []placement.Node
	from, to []string // :: partition → its owner when to was found, and who is to be
}

// target is who is to own each partition, where owners count as owners now. It is
// not the caller's to change.
func (a *aim) target(owners []string, nodes []placement.Node) []string {
	if !a.stands(owners, nodes) {
		*a = aim{nodes: nodes, from: owners, to: placement.Assign(owners, nodes)}
	}
	return a.to
}

// stands tells whether each partition is where it was, or where it was to be,
// and the nodes are the same.
func (a *aim) stands(owners []string, nodes []placement.Node) bool {
	if len(a.to) != len(owners) || !slices.Equal(a.nodes, nodes) {
		return false
	}
	for i, owner := range owners {
		if owner != a.to[i] && owner != a.from[i] {
			return false
		}
	}
	return true
}
