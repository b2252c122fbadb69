package controller

import (
	"context"
	"maps"
	"slices"

	"dormouse/agent"
	"dormouse/instance/pod"
)

// member is one instance of a pod with all its nodes.
type member struct {
	ref    agent.InstanceRef
	to     agent.InstanceRef // the copy's reference, in a fork
	pod    bool
	stored *agent.Checkpoint // nil if nothing is stored
}

// whole returns the read of a member's checkpoint.
func (m member) whole() agent.Read { return &agent.GetCheckpoint{Key: m.ref.Checkpoint()} }

// version returns the read of a member's revision and pointer, or, of a nested
// pod, of its checkpoint, which names its nodes. So the states of agents need
// not fit in one answer.
func (m member) version() agent.Read {
	if m.pod {
		return m.whole()
	}
	return &agent.ListCheckpoints{Page: agent.Page{Prefix: m.ref.Checkpoint(), Limit: 1}} // a key is the first of those that begin with it
}

// inventory is all nodes of a pod, including those of nested pods, as they are
// stored at one index.
type inventory struct {
	index   uint64
	version uint64 // of the pod's own state
	members []member
}

// roundsMax is how often inventory reads again because a nested pod had other
// nodes than expected.
const roundsMax = 8

// inventory reads all nodes at one index; read returns the request for one of them. It finds the
// nodes of nested pods in their slots, and repeats the read with them until it finds no other nodes.
func (pt *podTurn) inventory(ctx context.Context, newKey string, read func(member) agent.Read) (inventory, error) {
	nested := map[agent.InstanceRef]pod.Slot{}
	for range roundsMax {
		members, err := listMembers(nil, pt.slot, pt.pod, agent.InstanceRef{Scope: pt.pod.Scope, Manager: pt.pod.Manager, Key: newKey}, nested)
		if err != nil {
			return inventory{}, err
		}
		if len(members) >= agent.ReadsMax {
			return inventory{}, agent.TooLarge("nodes", "pod_whole_nodes_max", len(members), agent.ReadsMax-1)
		}
		reads := []agent.Read{&agent.GetManager{Name: pt.pod.Manager}}
		for _, m := range members {
			reads = append(reads, read(m))
		}
		answers, err := pt.turn.Reads(ctx, reads...)
		if err != nil {
			return inventory{}, err
		}
		manager, err := pod.ManagerOf(pt.pod.Manager, answers.Answers[0])
		if err != nil {
			return inventory{}, err
		}
		seen := map[agent.InstanceRef]pod.Slot{}
		for n := range members {
			if err := members[n].setStored(answers.Answers[n+1], seen); err != nil {
				return inventory{}, err
			}
		}
		if sameNodes(nested, seen) {
			return inventory{index: answers.Index, version: manager.Version, members: members}, nil
		}
		nested = seen
	}
	return inventory{}, agent.Errorf(agent.CodeUnavailable, "nested pods changed while they were read: try again")
}

// setStored stores the checkpoint of a member, and adds the slot of a nested
// pod to seen.
func (m *member) setStored(a agent.Answer, seen map[agent.InstanceRef]pod.Slot) error {
	if a.Err != nil && a.Err.Code != agent.CodeNotFound {
		return a.Err
	}
	switch found := a.Found.(type) {
	case *agent.Checkpoint:
		m.stored = found
	case *agent.CheckpointList:
		for _, row := range found.Items {
			if row.Key == m.ref.Checkpoint() {
				m.stored = &agent.Checkpoint{Key: row.Key, Revision: row.Revision, Thread: row.Thread}
			}
		}
	}
	if !m.pod || m.stored == nil {
		return nil
	}
	slot, exists, err := pod.ReadSlot(m.stored.State)
	if exists {
		seen[m.ref] = slot
	}
	return err
}

// listMembers returns the nodes of a pod and of the known nested pods.
func listMembers(members []member, slot pod.Slot, at, to agent.InstanceRef, nested map[agent.InstanceRef]pod.Slot) ([]member, error) {
	for _, name := range slot.Topology.Names() {
		ref, err := slot.Topology.NodeRef(at, name)
		if err != nil {
			return nil, err
		}
		m := member{ref: ref, to: ref, pod: slot.Topology.Nodes[name].Kind == pod.KindPod}
		if to.Key != "" {
			if m.to, err = slot.Topology.NodeRef(to, name); err != nil {
				return nil, err
			}
		}
		members = append(members, m)
		if inner, known := nested[ref]; m.pod && known && len(members) < agent.ReadsMax {
			if members, err = listMembers(members, inner, m.ref, m.to, nested); err != nil {
				return nil, err
			}
		}
	}
	return members, nil
}

// sameNodes reports whether two readings of nested pods have the same nodes.
func sameNodes(a, b map[agent.InstanceRef]pod.Slot) bool {
	return maps.EqualFunc(a, b, func(x, y pod.Slot) bool {
		return x.Topology.Affinity == y.Topology.Affinity && slices.Equal(x.Topology.Names(), y.Topology.Names()) &&
			maps.EqualFunc(x.Topology.Nodes, y.Topology.Nodes, func(m, n pod.Node) bool { return m.Manager == n.Manager && m.Kind == n.Kind })
	})
}
