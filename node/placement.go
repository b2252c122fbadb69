package node

import (
	"dormouse/cluster/assign"
	"dormouse/cluster/gossip"
	"dormouse/instance"
)

// placement is what this node has to do with the partitions of instances.
func (n *Node) placement() assign.Placement {
	return assign.Placement{
		Table: n.machine, LeaseTTL: n.o.Config.Placement.Lease, Alive: n.alive, Ask: n.pool.Own,
		Handlers: instance.Registered(n.o.Handlers),
	}
}

// alive says whether gossip has another node for alive. Of one that it has not
// heard of it says nothing against.
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
