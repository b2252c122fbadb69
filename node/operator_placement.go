package node

import (
	"context"
	"slices"

	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/cluster/assign"
	"dormouse/placement"
)

// Placement implements layout.Operator, from the state that this node has applied.
func (o *operator) Placement(_ context.Context, q layout.PlacementQuery) (layout.Placement, error) {
	if err := q.Validate(); err != nil {
		return layout.Placement{}, err
	}
	m := o.node.machine
	out := layout.Placement{Index: m.Applied()} // the rest is no older
	table, nodes := m.Partitions(), o.node.candidates()
	for _, n := range nodes {
		out.Nodes = append(out.Nodes, n.PlacedNode)
	}
	count(&out, table)
	events, err := m.PlacementEvents(q.Events)
	if err != nil {
		return layout.Placement{}, agent.Errorf(agent.CodeCorrupt, "%v", err)
	}
	out.Events = events
	if q.Owners {
		for _, p := range table {
			out.Owners = append(out.Owners, p.Owner)
		}
	}
	out.Pins = m.Pins()
	of := -1
	if q.Manager != "" {
		of = placement.Partition(q.Scope, q.Manager, q.Key)
		p := *table[of]
		out.Partition = &p
		out.Pins = slices.DeleteFunc(slices.Clone(out.Pins), func(pin layout.Pin) bool { return pin.Partition != of })
		drained := drainedSince(m.DrainedNodes())
		for _, c := range placement.Candidates(of, leased(nodes)) {
			out.Candidates = append(out.Candidates, layout.PlacementCandidate{
				Node: c.Node.Name, Zone: c.Node.Zone, Weight: c.Node.Weight, Score: c.Score, Drained: drained[c.Node.Name] != 0,
			})
		}
	}
	out.Forecast = o.node.forecast(q, table, nodes, of)
	return out, nil
}

// drainedSince returns when each drained member was drained.
func drainedSince(drained []layout.DrainedNode) map[string]int64 {
	since := make(map[string]int64, len(drained))
	for _, d := range drained {
		since[d.Node] = d.Since
	}
	return since
}

// candidate is a member, in the forms for operators and for placement.
type candidate struct {
	layout.PlacedNode
	placement.Node
}

// candidates returns all members, with their weights and leases, in id order.
func (n *Node) candidates() []candidate {
	leases := map[string]layout.NodeLease{}
	for _, l := range n.machine.NodeLeases() {
		leases[l.Node+"/"+l.Incarnation] = l
	}
	drained := drainedSince(n.machine.DrainedNodes())
	var out []candidate
	for _, m := range n.machine.Members() {
		weight := m.Weight
		if weight == 0 {
			weight = placement.WeightDefault
		}
		lease, leased := leases[m.ID+"/"+m.Incarnation]
		out = append(out, candidate{
			layout.PlacedNode{Node: m.ID, Zone: m.Zone, Weight: weight, Leased: leased, Host: m.Host, Handlers: lease.Handlers, DrainedAt: drained[m.ID]},
			placement.Node{Name: m.ID, Zone: m.Zone, Weight: weight},
		})
	}
	return out
}

// leased returns the members that may own partitions.
func leased(nodes []candidate) []placement.Node {
	var out []placement.Node
	for _, n := range nodes {
		if n.Leased {
			out = append(out, n.Node)
		}
	}
	return out
}

// count sets each node's share.
func count(out *layout.Placement, table []*layout.Partition) {
	at := map[string]*layout.PlacedNode{}
	for i := range out.Nodes {
		at[out.Nodes[i].Node] = &out.Nodes[i]
	}
	for _, p := range table {
		if n := at[p.Owner]; n != nil {
			n.Owned++
		}
		switch p.State {
		case layout.PartitionFree:
			out.Free++
		case layout.PartitionDraining:
			out.Moving = append(out.Moving, *p)
			if n := at[p.Owner]; n != nil {
				n.Draining++
			}
			if n := at[p.To]; n != nil {
				n.Coming++
			}
		case layout.PartitionOwned:
		}
	}
}

// forecast returns the placement with one node more or less; nil if none is named. It is what the
// leader would do, as far as this node knows the leader's view.
func (n *Node) forecast(q layout.PlacementQuery, table []*layout.Partition, nodes []candidate, of int) *layout.PlacementForecast {
	if q.With == "" && q.Without == "" {
		return nil
	}
	then := n.group.Partitions().Eligible(q.Without)
	if q.With != "" {
		more := placement.Node{Name: q.With, Weight: placement.WeightDefault}
		for _, c := range nodes {
			if c.Name == q.With {
				more = c.Node
			}
		}
		then = placement.With(then, more)
	}
	target, owners := assign.Target(table, then, n.machine.Pins())
	out := &layout.PlacementForecast{}
	for i, owner := range target {
		if owner != "" && owner != owners[i] {
			out.Moves++
		}
	}
	if of >= 0 {
		out.Owner = target[of]
	}
	return out
}
