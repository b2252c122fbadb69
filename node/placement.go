package node

import (
	"dormouse/cluster/assign"
	"dormouse/cluster/gossip"
	"dormouse/instance"
)

// placement returns this node's configuration for the placement of partitions.
func (n *Node) placement() assign.Placement {
	return assign.Placement{
		Table: n.machine, LeaseTTL: n.o.Config.Placement.Lease, Alive: n.alive, Ask: n.pool.Own,
		Handlers: instance.Registered(n.o.Handlers),
	}
}

// alive reports whether gossip considers another node alive. It returns true for a node that gossip
// does not know.
func (n *Node) alive(node string) bool {
	if n.gossip == nil { // not open yet
		return true
	}
	for _, seen := range n.gossip.Members() {
		if seen.Name == node {
			return seen.Status == gossip.Alive
		}
	}
	return true
}
