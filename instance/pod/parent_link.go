package pod

import (
	"maps"

	"dormouse/agent"
)

// ParentLink is the stored parent of a node: the owning node, or the pod in one
// of its runs. A pod that hibernated has another run when it wakes, so its root
// nodes have no parent until it adopts them. Nodes with an owning node keep it.
type ParentLink struct {
	Owner string `json:"owner,omitempty"`
	Run   string `json:"life,omitempty"` // of the pod; "" if Owner is set
}

// WithRun returns the slot of a pod in its current run.
func (s Slot) WithRun(run string) Slot {
	s.Run = run
	return s
}

// expectedLink returns the parent link that the topology expects for a node.
func (s Slot) expectedLink(node string) ParentLink {
	if owner, owned := s.Topology.Owner(node); owned {
		return ParentLink{Owner: owner}
	}
	return ParentLink{Run: s.Run}
}

// ActualParent returns the current parent of a running node, or nil if it has
// none. awake reports whether another node is awake.
func (s Slot) ActualParent(pod agent.InstanceRef, node string, awake func(node string) bool) *Parent {
	link, ok := s.Parents[node]
	switch {
	case !ok, link.Owner == "" && link.Run != s.Run, link.Owner != "" && !awake(link.Owner):
		return nil
	default:
		return &Parent{Manager: pod.Manager, Key: pod.Key, Node: link.Owner}
	}
}

// SetParent returns the slot in which a node has its expected parent. If the
// node has just started, it detaches the nodes that it owned before, which have
// no parent until they are adopted.
func (s Slot) SetParent(node string, started bool) Slot {
	s = s.cloneParents()
	if started {
		s.detachChildren(node)
	}
	s.Parents[node] = s.expectedLink(node)
	return s
}

// ClearParent returns the slot in which a stopped node has no parent.
func (s Slot) ClearParent(node string) Slot {
	s = s.cloneParents()
	s.detachChildren(node)
	delete(s.Parents, node)
	return s
}

// cloneParents returns the slot with a copy of its parent links.
func (s Slot) cloneParents() Slot {
	s.Parents = maps.Clone(s.Parents)
	if s.Parents == nil {
		s.Parents = map[string]ParentLink{}
	}
	return s
}

func (s Slot) detachChildren(owner string) {
	maps.DeleteFunc(s.Parents, func(_ string, b ParentLink) bool { return b.Owner == owner })
}

// Snapshot describes a node of a pod.
type Snapshot struct {
	Name       string         `json:"name"`
	Kind       Kind           `json:"kind"`
	Activation Activation     `json:"activation"`
	Manager    string         `json:"manager"`
	Key        string         `json:"key"` // of its instance
	Node       string         `json:"node,omitempty"`
	Instance   InstanceStatus `json:"instance"`
	Owner      string         `json:"owner,omitempty"`
	Expected   Parent         `json:"expected_parent"`
	Actual     *Parent        `json:"actual_parent"` // null if it has no parent
	Status     Status         `json:"status"`
	Adopted    bool           `json:"adopted"`
}

// InstanceStatus is agent.InstanceStatus, or "" if the node has never run.
type InstanceStatus = agent.InstanceStatus

// Snapshots returns the descriptions of all nodes of a pod, sorted by name. The
// map there has the existing instances by node. The flag awake reports whether
// the pod is awake.
func (s Slot) Snapshots(pod agent.InstanceRef, awake bool, existing map[string]agent.Instance) ([]Snapshot, error) {
	if !awake {
		s = s.WithRun("") // its root nodes have no parent
	}
	runs := func(node string) bool {
		i, ok := existing[node]
		return ok && i.Status != agent.InstanceDormant
	}
	list := make([]Snapshot, 0, len(s.Topology.Nodes))
	for _, name := range s.Topology.names() {
		n := s.Topology.Nodes[name]
		ref, err := s.Topology.NodeRef(pod, name)
		if err != nil {
			return nil, err
		}
		owner, _ := s.Topology.Owner(name)
		snapshot := Snapshot{
			Name: name, Kind: n.Kind, Activation: n.Activation, Manager: n.Manager, Key: ref.Key,
			Node: existing[name].Node, Instance: existing[name].Status, Owner: owner, Expected: s.Topology.ParentOf(pod, name),
		}
		if runs(name) {
			snapshot.Actual = s.ActualParent(pod, name, runs)
		}
		snapshot.Status = StatusOf(runs(name), snapshot.Actual, snapshot.Expected)
		snapshot.Adopted = snapshot.Status == Adopted
		list = append(list, snapshot)
	}
	return list, nil
}
