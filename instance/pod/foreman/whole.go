package foreman

import (
	"context"
	"maps"
	"slices"

	"dormouse/agent"
	"dormouse/instance/pod"
)

// rest stops all nodes, and tells what is stored of them.
func (w *work) rest(ctx context.Context) error {
	var asked pod.Rest
	if err := read(w.turn, &asked); err != nil {
		return err
	}
	rested := pod.Rested{Nodes: map[string]pod.Stored{}, Failures: map[string]pod.Failure{}}
	if m, running := w.slot.Resume(); running {
		if !asked.Teardown {
			_, err := w.slot.Begin("", nil)
			return err
		}
		if err := w.end(ctx, m, &rested); err != nil {
			return err
		}
	}
	waves, err := w.slot.Topology.StopWaves(w.slot.Topology.Nodes)
	if err != nil {
		return err
	}
	for _, nodes := range waves {
		if err := w.settle(ctx, nodes, w.slot.Topology.Nodes, &rested); err != nil {
			return err
		}
	}
	if !asked.Teardown && len(rested.Failures) == 0 {
		if err := w.account(ctx, &rested); err != nil {
			return err
		}
	}
	if err := w.store(); err != nil {
		return err
	}
	return answer(w.turn, rested)
}

// end ends a mutation of a pod that is torn down: what it has yet to stop is
// stopped too.
func (w *work) end(ctx context.Context, m pod.Mutation, rested *pod.Rested) error {
	for _, nodes := range m.Stop {
		if err := w.settle(ctx, nodes, m.Removed, rested); err != nil {
			return err
		}
	}
	w.turn.Commit(&agent.DeleteTimer{Manager: w.pod.Manager, Key: w.pod.Key, ID: timerID(m.Step)})
	var err error
	w.slot, _, err = w.slot.Finish(m.ID)
	return err
}

// settle stops a wave. Where a node could not be asked the turn is not applied,
// and may be made again.
func (w *work) settle(ctx context.Context, nodes []string, which map[string]pod.Node, rested *pod.Rested) error {
	done, err := w.lower(ctx, nodes, which)
	if err == nil {
		err = done.unasked()
	}
	if err != nil {
		return err
	}
	maps.Copy(rested.Failures, done.failures)
	rested.Stopped = append(rested.Stopped, done.done(nodes)...)
	return nil
}

// account tells what is stored of all nodes, as of one index.
func (w *work) account(ctx context.Context, rested *pod.Rested) error {
	all, err := w.inventory(ctx, "")
	if err != nil {
		return err
	}
	rested.Index = all.index
	for _, m := range all.members {
		if m.stored != nil {
			kept := pod.Stored{Manager: m.ref.Manager, Revision: m.stored.Revision}
			if m.stored.Thread != nil {
				kept.Rev = m.stored.Thread.Rev
			}
			rested.Nodes[m.ref.Key] = kept
		}
	}
	return nil
}

// fork stores another pod, of what is stored of this one.
func (w *work) fork(ctx context.Context) error {
	var asked pod.Fork
	if err := read(w.turn, &asked); err != nil {
		return err
	}
	to := agent.InstanceRef{Scope: w.pod.Scope, Manager: w.pod.Manager, Key: asked.Key}
	if err := to.Validate(); err != nil {
		return err
	}
	if asked.Key == w.pod.Key {
		return agent.Invalid("key", "key must be another: a pod cannot be a fork of itself")
	}
	if _, running := w.slot.Resume(); running {
		_, err := w.slot.Begin("", nil)
		return err
	}
	all, err := w.inventory(ctx, asked.Key)
	if err != nil {
		return err
	}
	forked := pod.Forked{Key: asked.Key, Index: all.index}
	own := &agent.Checkpoint{State: w.turn.State(), Thread: &agent.Pointer{Thread: w.pod.Checkpoint(), Rev: w.turn.Rev()}}
	own.Version = all.version
	for _, m := range append([]member{{ref: w.pod, to: to, pod: true, stored: own}}, all.members...) {
		if m.stored == nil {
			continue
		}
		if err := w.copy(m); err != nil {
			return err
		}
		forked.Nodes++
	}
	forked.Nodes-- // the pod itself
	return answer(w.turn, forked)
}

// copy adds to the turn's commit what makes a copy of an instance.
func (w *work) copy(m member) error {
	state := m.stored.State
	if m.pod {
		slot, there, err := pod.ReadSlot(state)
		if err != nil {
			return err
		}
		if there {
			slot.Mutation, slot.Bound, slot.Life = pod.Mutation{Status: pod.MutationIdle}, nil, ""
			if state, err = slot.In(state); err != nil {
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
			w.turn.Commit(&agent.ForkThread{Thread: p.Thread, NewThread: id, AtRev: &p.Rev})
		}
	}
	w.turn.Commit(put)
	return nil
}

// member is one instance of a whole pod.
type member struct {
	ref    agent.InstanceRef
	to     agent.InstanceRef // of a fork
	pod    bool
	stored *agent.Checkpoint // nil where nothing is
}

// inventory is all nodes of a pod, of nested pods too, as they are stored at one
// index.
type inventory struct {
	index   uint64
	version uint64 // of the pod's own state
	members []member
}

// roundsMax is how often nested pods may turn out to be others than they were
// when the reads were made up.
const roundsMax = 8

// inventory reads all nodes. Nested pods say what theirs are, so it reads again
// until what it has read has no nodes that it did not read with it.
func (w *work) inventory(ctx context.Context, newKey string) (inventory, error) {
	nested := map[agent.InstanceRef]pod.Slot{}
	for range roundsMax {
		members, err := expand(nil, w.slot, w.pod, agent.InstanceRef{Scope: w.pod.Scope, Manager: w.pod.Manager, Key: newKey}, nested)
		if err != nil {
			return inventory{}, err
		}
		if len(members) >= agent.ReadsMax {
			return inventory{}, agent.TooLarge("nodes", "pod_whole_nodes_max", len(members), agent.ReadsMax-1)
		}
		reads := []agent.Read{&agent.GetManager{Name: w.pod.Manager}}
		for _, m := range members {
			reads = append(reads, &agent.GetCheckpoint{Key: m.ref.Checkpoint()})
		}
		answers, err := w.turn.Reads(ctx, reads...)
		if err != nil {
			return inventory{}, err
		}
		manager, err := pod.ManagerOf(w.pod.Manager, answers.Answers[0])
		if err != nil {
			return inventory{}, err
		}
		seen := map[agent.InstanceRef]pod.Slot{}
		for n := range members {
			if err := members[n].take(answers.Answers[n+1], seen); err != nil {
				return inventory{}, err
			}
		}
		if alike(nested, seen) {
			return inventory{index: answers.Index, version: manager.Version, members: members}, nil
		}
		nested = seen
	}
	return inventory{}, agent.Errorf(agent.CodeUnavailable, "nested pods change while they are read: try again")
}

// take keeps what was read of a member, and, of a pod, its slot.
func (m *member) take(a agent.Answer, seen map[agent.InstanceRef]pod.Slot) error {
	var there bool
	if m.stored, there = a.Found.(*agent.Checkpoint); !there {
		if a.Err != nil && a.Err.Code != agent.CodeNotFound {
			return a.Err
		}
		return nil
	}
	if !m.pod {
		return nil
	}
	slot, there, err := pod.ReadSlot(m.stored.State)
	if there {
		seen[m.ref] = slot
	}
	return err
}

// expand is the nodes of a pod, and of the nested ones that are known.
func expand(members []member, slot pod.Slot, at, to agent.InstanceRef, nested map[agent.InstanceRef]pod.Slot) ([]member, error) {
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
			if members, err = expand(members, inner, m.ref, m.to, nested); err != nil {
				return nil, err
			}
		}
	}
	return members, nil
}

// alike tells whether two readings of nested pods have the same nodes.
func alike(a, b map[agent.InstanceRef]pod.Slot) bool {
	return maps.EqualFunc(a, b, func(x, y pod.Slot) bool {
		return x.Topology.Affinity == y.Topology.Affinity && slices.Equal(x.Topology.Names(), y.Topology.Names()) &&
			maps.EqualFunc(x.Topology.Nodes, y.Topology.Nodes, func(m, n pod.Node) bool { return m.Manager == n.Manager && m.Kind == n.Kind })
	})
}
