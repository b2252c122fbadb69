package controller

import (
	"context"

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
	all, err := pt.inventory(ctx, request.Key, member.whole)
	if err != nil {
		return err
	}
	forked := pod.Forked{Key: request.Key, Index: all.index}
	own, err := pt.ownCheckpoint(ctx, all.version)
	if err != nil {
		return err
	}
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

// ownCheckpoint returns the pod's own checkpoint as it is stored: with its recurring jobs and its metadata, and without
// what its manager does not store. version is that of the manager, for a pod that is not stored yet.
func (pt *podTurn) ownCheckpoint(ctx context.Context, version uint64) (*agent.Checkpoint, error) {
	answers, err := pt.turn.Read(ctx, &agent.GetCheckpoint{Key: pt.pod.Checkpoint()})
	if err != nil {
		return nil, err
	}
	switch found, ok := answers[0].Found.(*agent.Checkpoint); {
	case ok:
		return found, nil
	case answers[0].Err != nil && answers[0].Err.Code != agent.CodeNotFound:
		return nil, answers[0].Err
	}
	thread := &agent.Pointer{Thread: pt.pod.Checkpoint(), Rev: pt.turn.Rev()}
	return &agent.Checkpoint{Version: version, State: pt.turn.State(), Thread: thread}, nil
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
