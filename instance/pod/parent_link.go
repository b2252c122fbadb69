package pod

import (
	"maps"

	"dormouse/agent"
)

// ParentLink is whom a node hangs under: the pod, in one of its lives, or the node
// that owns it. A pod that has slept comes back in another life, so the nodes
// that hung under it are nobody's until it adopts them; those that other nodes
// own have kept their owners.
type ParentLink struct {
	Owner string `json:"owner,omitempty"`
	Run   string `json:"life,omitempty"` // of the pod, where no node is the owner
}

// WithRun is the slot of a pod in a life, which may be another one than it was
// stored in.
func (s Slot) WithRun(life string) Slot {
	s.Run = life
	return s
}

// expectedLink is the bond that a node is to have.
func (s Slot) expectedLink(node string) ParentLink {
	if owner, owned := s.Topology.Owner(node); owned {
		return ParentLink{Owner: owner}
	}
	return ParentLink{Run: s.Run}
}

// ActualParent is whom a node that is awake hangs under; nil where that is nobody any
// more. awake tells of other nodes whether they are.
func (s Slot) ActualParent(pod agent.InstanceRef, node string, awake func(node string) bool) *Parent {
	bond, bound := s.Parents[node]
	switch {
	case !bound, bond.Owner == "" && bond.Run != s.Run, bond.Owner != "" && !awake(bond.Owner):
		return nil
	default:
		return &Parent{Manager: pod.Manager, Key: pod.Key, Node: bond.Owner}
	}
}

// SetParent is the slot in which a node hangs under whom it is to. One that has just
// been started has lost what it owned: these hang under nobody until they are
// adopted.
func (s Slot) SetParent(node string, started bool) Slot {
	s = s.cloneParents()
	if started {
		s.detachChildren(node)
	}
	s.Parents[node] = s.expectedLink(node)
	return s
}

// ClearParent is the slot in which a node that was stopped hangs under nobody.
func (s Slot) ClearParent(node string) Slot {
	s = s.cloneParents()
	s.detachChildren(node)
	delete(s.Parents, node)
	return s
}

// cloneParents is the slot with bonds that may be changed.
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

// Snapshot is how a node of a pod stands.
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
	Actual     *Parent        `json:"actual_parent"` // null where it hangs under nobody
	Status     Status         `json:"status"`
	Adopted    bool           `json:"adopted"`
}

// InstanceStatus is agent.InstanceStatus, or "" where a node has never run.
type InstanceStatus = agent.InstanceStatus

// Snapshots are how the nodes of a pod stand, in the order of their names, given
// the instances that there are: node → instance. awake tells that the pod is.
func (s Slot) Snapshots(pod agent.InstanceRef, awake bool, there map[string]agent.Instance) ([]Snapshot, error) {
	if !awake {
		s = s.WithRun("") // what hung under it hangs under nobody
	}
	runs := func(node string) bool {
		i, ok := there[node]
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
		shot := Snapshot{
			Name: name, Kind: n.Kind, Activation: n.Activation, Manager: n.Manager, Key: ref.Key,
			Node: there[name].Node, Instance: there[name].Status, Owner: owner, Expected: s.Topology.ParentOf(pod, name),
		}
		if runs(name) {
			shot.Actual = s.ActualParent(pod, name, runs)
		}
		shot.Status = StatusOf(runs(name), shot.Actual, shot.Expected)
		shot.Adopted = shot.Status == Adopted
		list = append(list, shot)
	}
	return list, nil
}
