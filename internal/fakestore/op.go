package fakestore

import (
	"bytes"
	"fmt"
	"time"

	"dormouse/agent"
	"dormouse/agent/agenttest"
)

func (s *Store) op(name string, op agent.Op) (agent.OpResult, *agent.Error) {
	sc := s.scope(name)
	if result, err, ok := sc.sessions.Apply(host{s, sc}, op); ok {
		return result, err
	}
	if result, err, ok := sc.timers.Apply(op, s.now(), host{s, sc}.Born); ok {
		return result, err
	}
	if result, err, ok := sc.dialogues.Apply(host{s, sc}, op); ok {
		return result, err
	}
	switch o := op.(type) {
	case *agent.PutValue:
		return s.putValue(sc, o)
	case *agent.ReviseValue:
		return s.revise(sc, o)
	case *agent.DeleteValue:
		v := sc.values[o.Key]
		delete(sc.values, o.Key)
		return &agent.DeleteResult{Existed: v != nil}, nil
	case *agent.PutCheckpoint:
		return s.putCheckpoint(sc, o)
	case *agent.PatchCheckpoint:
		return s.patchCheckpoint(sc, o)
	case *agent.PatchCron:
		return s.patchCron(sc, o)
	case *agent.DeleteCheckpoint:
		if err := atRevision(o.IfRevision, sc.revision(o.Key)); err != nil {
			return nil, err
		}
		kept := sc.checkpoints[o.Key]
		delete(sc.checkpoints, o.Key)
		return &agent.DeleteResult{Existed: kept != nil}, nil
	case *agent.WriteMemory:
		return s.writeMemory(sc, o)
	case *agent.DeleteMemory:
		return sc.deleteMemory(o)
	case *agent.PutScope:
		sc.Policy = o.Policy
		return &agent.ScopeResult{Scope: sc.Scope}, nil
	case *agent.DeleteScope:
		delete(s.scopes, name)
		return &agent.DeleteResult{Existed: true}, nil
	default:
		return s.threadOp(sc, op)
	}
}

func atRevision(want *uint64, have uint64) *agent.Error {
	if want == nil || *want == have {
		return nil
	}
	return &agent.Error{Code: agent.CodeRevisionMismatch, Detail: fmt.Sprintf("not at revision %d", *want), Revision: have}
}

func (s *Store) expiry(ttl time.Duration) int64 {
	if ttl == 0 {
		return 0
	}
	return s.now() + ttl.Milliseconds()
}

func (s *Store) putValue(sc *scope, o *agent.PutValue) (agent.OpResult, *agent.Error) {
	v := agent.Value{Key: o.Key, Incarnation: s.index, CreatedAt: s.now()}
	if old := sc.values[o.Key]; old != nil {
		v = *old
	}
	if err := atRevision(o.IfRevision, v.Revision); err != nil {
		return nil, err
	}
	v.Revision++
	if o.Metadata != nil {
		v.Metadata = o.Metadata
	}
	v.ContentType, v.Bytes, v.UpdatedAt, v.ExpiresAt = o.ContentType, bytes.Clone(o.Bytes), s.now(), s.expiry(o.TTL)
	sc.values[o.Key] = &v
	return &agent.ValueResult{Key: v.Key, Incarnation: v.Incarnation, Revision: v.Revision, CreatedAt: v.CreatedAt, UpdatedAt: v.UpdatedAt}, nil
}

func (sc *scope) revision(key string) uint64 {
	if kept := sc.checkpoints[key]; kept != nil {
		return kept[0].Revision
	}
	return 0
}

func (s *Store) putCheckpoint(sc *scope, o *agent.PutCheckpoint) (agent.OpResult, *agent.Error) {
	if err := atRevision(o.IfRevision, sc.revision(o.Key)); err != nil {
		return nil, err
	}
	c := agent.Checkpoint{
		Key: o.Key, Incarnation: s.index, Revision: sc.revision(o.Key) + 1, Version: max(o.Version, 1), State: o.State,
		Lifecycle: o.Lifecycle, Metadata: o.Metadata, CreatedAt: s.now(), UpdatedAt: s.now(), ExpiresAt: s.expiry(o.TTL),
	}
	if p := o.Thread; p != nil {
		t := sc.threads[p.Thread]
		if t == nil {
			return nil, &agent.Error{Code: agent.CodeMissingThread, Detail: "no such thread", Thread: p.Thread}
		}
		if p.Rev > t.Rev || p.Head != "" && p.Head != t.heads[p.Rev].String() {
			return nil, &agent.Error{Code: agent.CodeThreadMismatch, Detail: "another history", Thread: p.Thread, Rev: t.Rev, Head: t.Head.String()}
		}
		c.Thread = &agent.Pointer{Thread: p.Thread, Rev: p.Rev, Head: t.heads[p.Rev].String(), Incarnation: t.Incarnation}
	}
	return sc.keep(c), nil
}

func (sc *scope) keep(c agent.Checkpoint) agent.OpResult {
	if kept := sc.checkpoints[c.Key]; kept != nil {
		c.Incarnation, c.CreatedAt = kept[0].Incarnation, kept[0].CreatedAt
	}
	sc.checkpoints[c.Key] = append([]*agent.Checkpoint{&c}, sc.checkpoints[c.Key]...)
	return &agent.CheckpointResult{
		Key: c.Key, Incarnation: c.Incarnation, Revision: c.Revision, CreatedAt: c.CreatedAt, UpdatedAt: c.UpdatedAt, Thread: c.Thread,
	}
}

func (s *Store) patchCheckpoint(sc *scope, o *agent.PatchCheckpoint) (agent.OpResult, *agent.Error) {
	kept := sc.checkpoints[o.Key]
	if kept == nil {
		return nil, notFound("checkpoint", o.Key)
	}
	c := *kept[0]
	if err := atRevision(o.IfRevision, c.Revision); err != nil {
		return nil, err
	}
	state, err := agent.MergePatch(c.State, o.Patch)
	if err != nil {
		return nil, agent.Invalid("patch", "%v", err)
	}
	c.State, c.UpdatedAt = state, s.now()
	c.Revision++
	return sc.keep(c), nil
}

func notFound(noun, name string) *agent.Error {
	return agent.Errorf(agent.CodeNotFound, "there is no %s %q", noun, name)
}

func (s *Store) patchCron(sc *scope, o *agent.PatchCron) (agent.OpResult, *agent.Error) {
	c := agent.Checkpoint{
		Key: o.Key, Incarnation: s.index, Version: 1, State: agent.JSON("{}"), Metadata: agent.JSON("{}"), CreatedAt: s.now(),
	}
	if kept := sc.checkpoints[o.Key]; kept != nil {
		c = *kept[0]
	}
	if err := atRevision(o.IfRevision, c.Revision); err != nil {
		return nil, err
	}
	state, changes, err := agenttest.CronState(c.State, o)
	if err != nil {
		return nil, err
	}
	if err := sc.timers.Reschedule(o.Key, changes, nil, s.now(), host{s, sc}.Born); err != nil {
		return nil, err
	}
	if bytes.Equal(state, c.State) {
		return &agent.CheckpointResult{
			Key: c.Key, Incarnation: c.Incarnation, Revision: c.Revision, CreatedAt: c.CreatedAt, UpdatedAt: c.UpdatedAt, Thread: c.Thread,
		}, nil
	}
	c.State, c.UpdatedAt = state, s.now()
	c.Revision++
	return sc.keep(c), nil
}
