package controller

import (
	"context"
	"maps"
	"slices"

	"dormouse/agent"
	"dormouse/instance/pod"
)

// fork stores a copy of the pod under another key.
func (pt *podTurn) fork(ctx context.Context) error {
	var request pod.Fork
	if err := decode(pt.turn, &request); err != nil {
		return err
	}
	to := agent.InstanceRef{Scope: pt.pod.Scope, Manager: pt.pod.Manager, Key: request.Key}
	if err := to.Validate(); err != nil {
		return err
	}
	if request.Key == pt.pod.Key {
		return agent.Invalid("key", "a pod cannot be forked to its own key: choose another key")
	}
	if _, running := pt.slot.Running(); running {
		_, err := pt.slot.Begin("", nil)
		return err
	}
	all, err := pt.inventory(ctx, request.Key)
	if err != nil {
		return err
	}
	forked := pod.Forked{Key: request.Key, Index: all.index}
	own := &agent.Checkpoint{State: pt.turn.State(), Thread: &agent.Pointer{Thread: pt.pod.Checkpoint(), Rev: pt.turn.Rev()}}
	own.Version = all.version
	for _, m := range append([]member{{ref: pt.pod, to: to, pod: true, stored: own}}, all.members...) {
		if m.stored == nil {
			continue
		}
		if err := pt.copyInstance(m); err != nil {
			return err
		}
		forked.Nodes++
	}
	forked.Nodes-- // without the pod itself
	return reply(pt.turn, forked)
}

// copyInstance adds the ops that copy an instance to the turn's commit.
func (pt *podTurn) copyInstance(m member) error {
	state := m.stored.State
	if m.pod {
		slot, exists, err := pod.ReadSlot(state)
		if err != nil {
			return err
		}
		if exists {
			slot.Mutation, slot.Parents, slot.Run = pod.Mutation{Status: pod.MutationIdle}, nil, ""
			if state, err = slot.AddTo(state); err != nil {
				return err
			}
		}
	}
	id, none := m.to.Checkpoint(), uint64(0)
	put := &agent.PutCheckpoint{
		Key: id, Version: m.stored.Version, State: state, Lifecycle: "fork", Metadata: m.stored.Metadata, IfRevision: &none,
	}
	if p := m.stored.Thread; p != nil {
		put.Thread = &agent.Pointer{Thread: id, Rev: p.Rev}
		if p.Rev > 0 {
			pt.turn.Commit(&agent.ForkThread{Thread: p.Thread, NewThread: id, AtRev: &p.Rev})
		}
	}
	pt.turn.Commit(put)
	return nil
}

// member is one instance of a pod with all its nodes.
type member struct {
	ref    agent.InstanceRef
	to     agent.InstanceRef // the copy's reference, in a fork
	pod    bool
	stored *agent.Checkpoint // nil if nothing is stored
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

// inventory reads all nodes at one index. It finds the nodes of nested pods in
// their slots, and repeats the read with them until it finds no other nodes.
func (pt *podTurn) inventory(ctx context.Context, newKey string) (inventory, error) {
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
			reads = append(reads, &agent.GetCheckpoint{Key: m.ref.Checkpoint()})
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
	var exists bool
	if m.stored, exists = a.Found.(*agent.Checkpoint); !exists {
		if a.Err != nil && a.Err.Code != agent.CodeNotFound {
			return a.Err
		}
		return nil
	}
	if !m.pod {
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
