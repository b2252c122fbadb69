package pod

import (
	"maps"

	"dormouse/agent"
)

// Bond is whom a node hangs under: the pod, in one of its lives, or the node
// that owns it. A pod that has slept comes back in another life, so the nodes
// that hung under it are nobody's until it adopts them; those that other nodes
// own have kept their owners.
type Bond struct {
	Owner string `json:"owner,omitempty"`
	Life  string `json:"life,omitempty"` // of the pod, where no node is the owner
}

// Revive is the slot of a pod in a life, which may be another one than it was
// stored in.
func (s Slot) Revive(life string) Slot {
	s.Life = life
	return s
}

// expects is the bond that a node is to have.
func (s Slot) expects(node string) Bond {
	if owner, owned := s.Topology.Owner(node); owned {
		return Bond{Owner: owner}
	}
	return Bond{Life: s.Life}
}

// Actual is whom a node that is awake hangs under; nil where that is nobody any
// more. awake tells of other nodes whether they are.
func (s Slot) Actual(pod agent.InstanceRef, node string, awake func(node string) bool) *Parent {
	bond, bound := s.Bound[node]
	switch {
	case !bound, bond.Owner == "" && bond.Life != s.Life, bond.Owner != "" && !awake(bond.Owner):
		return nil
	default:
		return &Parent{Manager: pod.Manager, Key: pod.Key, Node: bond.Owner}
	}
}

// Bind is the slot in which a node hangs under whom it is to. One that has just
// been started has lost what it owned: these hang under nobody until they are
// adopted.
func (s Slot) Bind(node string, started bool) Slot {
	s = s.own()
	if started {
		s.orphan(node)
	}
	s.Bound[node] = s.expects(node)
	return s
}

// Unbind is the slot in which a node that was stopped hangs under nobody.
func (s Slot) Unbind(node string) Slot {
	s = s.own()
	s.orphan(node)
	delete(s.Bound, node)
	return s
}

// own is the slot with bonds that may be changed.
func (s Slot) own() Slot {
	s.Bound = maps.Clone(s.Bound)
	if s.Bound == nil {
		s.Bound = map[string]Bond{}
	}
	return s
}

func (s Slot) orphan(owner string) {
	maps.DeleteFunc(s.Bound, func(_ string, b Bond) bool { return b.Owner == owner })
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
		s = s.Revive("") // what hung under it hangs under nobody
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
			shot.Actual = s.Actual(pod, name, runs)
		}
		shot.Status = StatusOf(runs(name), shot.Actual, shot.Expected)
		shot.Adopted = shot.Status == Adopted
		list = append(list, shot)
	}
	return list, nil
}
