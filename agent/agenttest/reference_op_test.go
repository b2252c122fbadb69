package agenttest_test

import (
	"bytes"
	"encoding/json"
	"time"

	"dormouse/agent"
)

// describe returns an op as text, to compare requests with the same id.
func describe(op agent.Op) string {
	text, err := json.Marshal(op)
	if err != nil {
		panic(err)
	}
	return string(text)
}

func (r *reference) op(s *scope, op agent.Op) (agent.OpResult, *agent.Error) {
	if refusal := s.sealedAgent(op); refusal != nil {
		return nil, refusal
	}
	if result, refusal, ok := s.sessions.Apply(sessionHost{r, s}, op); ok {
		return result, refusal
	}
	if result, refusal, ok := s.dialogues.Apply(conversationHost{r, s}, op); ok {
		return result, refusal
	}
	if result, refusal, ok := s.timers.Apply(op, r.now, r.mint); ok {
		return result, refusal
	}
	switch o := op.(type) {
	case *agent.PutValue:
		return r.putValue(s, o)
	case *agent.ReviseValue:
		return r.reviseValue(s, o)
	case *agent.DeleteValue:
		return r.deleteValue(s, o)
	case *agent.PutCheckpoint:
		return r.putCheckpoint(s, o)
	case *agent.PatchCheckpoint:
		return r.patchCheckpoint(s, o)
	case *agent.PatchCron:
		return r.patchCron(s, o)
	case *agent.DeleteCheckpoint:
		return r.deleteCheckpoint(s, o)
	case *agent.AppendThread:
		return r.appendThread(s, o)
	case *agent.HibernateThread:
		return r.hibernateThread(s, o)
	case *agent.DeleteThread:
		return r.deleteThread(s, o)
	case *agent.CompactThread:
		return r.compactThread(s, o)
	case *agent.ForkThread:
		return r.forkThread(s, o)
	case *agent.PutScope:
		s.Policy = o.Policy
		return &agent.ScopeResult{Scope: s.Scope}, nil
	case *agent.WriteMemory:
		return r.writeMemory(s, o)
	case *agent.DeleteMemory:
		return r.deleteMemory(s, o)
	case *agent.ForkAgent, *agent.EraseAgent, *agent.SetTTL:
		return r.agentOp(s, op)
	case *agent.DeleteScope:
		return &agent.DeleteResult{Existed: r.scopes[s.Name] != nil}, nil
	default:
		return r.managerOp(s, op)
	}
}

// alive refuses a sealed id, or another incarnation.
func (s *scope) alive(noun, id string, wanted, current uint64) *agent.Error {
	if incarnation, ok := s.sealed[noun+id]; ok {
		e := agent.Errorf(agent.CodeDeleted, "%s %q is sealed", noun, id)
		e.Incarnation = incarnation
		return e
	}
	if wanted != 0 && wanted != current {
		e := agent.Errorf(agent.CodeDeleted, "%s %q is at incarnation %d", noun, id, current)
		e.Incarnation = current
		return e
	}
	return nil
}

// removed returns the result of a delete, and seals the id.
func (s *scope) removed(noun, id string, incarnation uint64, seal time.Duration) *agent.DeleteResult {
	if seal > 0 {
		s.sealed[noun+id] = incarnation
	}
	return &agent.DeleteResult{Existed: incarnation != 0, Incarnation: incarnation}
}

// atRevision refuses an object that is not at the expected revision.
func atRevision(want *uint64, have uint64) *agent.Error {
	if want == nil || *want == have {
		return nil
	}
	e := agent.Errorf(agent.CodeRevisionMismatch, "at revision %d", have)
	e.Revision = have
	return e
}

func expiry(now int64, ttl time.Duration) int64 {
	if ttl == 0 {
		return 0
	}
	return now + ttl.Milliseconds()
}

// --- values

func matches(want *[]byte, v *agent.Value) *agent.Error {
	if want == nil || (*want == nil && v == nil) || (*want != nil && v != nil && bytes.Equal(*want, v.Bytes)) {
		return nil
	}
	e := agent.Errorf(agent.CodeRevisionMismatch, "it holds other bytes")
	if v != nil {
		e.Revision = v.Revision
	}
	return e
}

func (r *reference) putValue(s *scope, o *agent.PutValue) (agent.OpResult, *agent.Error) {
	old := s.values[o.Key]
	v := agent.Value{Key: o.Key, ContentType: o.ContentType, Bytes: o.Bytes, UpdatedAt: r.now, CreatedAt: r.now, ExpiresAt: expiry(r.now, o.TTL), Metadata: o.Metadata}
	if old != nil {
		v.Incarnation, v.Revision, v.CreatedAt = old.Incarnation, old.Revision, old.CreatedAt
		if v.Metadata == nil {
			v.Metadata = old.Metadata
		}
	}
	if err := first(s.alive("value", o.Key, o.IfIncarnation, v.Incarnation), atRevision(o.IfRevision, v.Revision), matches(o.IfBytes, old)); err != nil {
		return nil, err
	}
	if old == nil {
		v.Incarnation = r.mint()
	}
	v.Revision++
	s.values[o.Key] = &v
	return &agent.ValueResult{Key: v.Key, Incarnation: v.Incarnation, Revision: v.Revision, CreatedAt: v.CreatedAt, UpdatedAt: v.UpdatedAt}, nil
}

func (r *reference) deleteValue(s *scope, o *agent.DeleteValue) (agent.OpResult, *agent.Error) {
	old := s.values[o.Key]
	if old == nil {
		return s.removed("value", o.Key, 0, o.Seal), nil
	}
	if err := first(s.alive("value", o.Key, o.IfIncarnation, old.Incarnation), atRevision(o.IfRevision, old.Revision), matches(o.IfBytes, old)); err != nil {
		return nil, err
	}
	delete(s.values, o.Key)
	return s.removed("value", o.Key, old.Incarnation, o.Seal), nil
}

func first(errs ...*agent.Error) *agent.Error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// --- checkpoints

func (s *scope) checkpoint(key string) *agent.Checkpoint {
	if kept := s.checkpoints[key]; len(kept) > 0 {
		return kept[0]
	}
	return nil
}

// store stores c as the newest revision.
func (s *scope) store(c agent.Checkpoint) agent.OpResult {
	history := int(s.Policy.History)
	if history == 0 {
		history = agent.HistoryDefault
	}
	kept := append([]*agent.Checkpoint{&c}, s.checkpoints[c.Key]...)
	s.checkpoints[c.Key] = kept[:min(len(kept), history)]
	return &agent.CheckpointResult{Key: c.Key, Incarnation: c.Incarnation, Revision: c.Revision, CreatedAt: c.CreatedAt, UpdatedAt: c.UpdatedAt, Thread: c.Thread}
}

func (r *reference) putCheckpoint(s *scope, o *agent.PutCheckpoint) (agent.OpResult, *agent.Error) {
	c := agent.Checkpoint{
		Key: o.Key, Version: max(o.Version, 1), State: o.State, Lifecycle: o.Lifecycle, Metadata: o.Metadata,
		CreatedAt: r.now, UpdatedAt: r.now, ExpiresAt: expiry(r.now, o.TTL),
	}
	old := s.checkpoint(o.Key)
	if old != nil {
		c.Incarnation, c.Revision, c.CreatedAt = old.Incarnation, old.Revision, old.CreatedAt
	}
	if err := first(s.alive("checkpoint", o.Key, o.IfIncarnation, c.Incarnation), atRevision(o.IfRevision, c.Revision)); err != nil {
		return nil, err
	}
	if o.Thread != nil {
		t := s.threads[o.Thread.Thread]
		if err := t.holds(*o.Thread); err != nil {
			return nil, err
		}
		c.Thread = &agent.Pointer{Thread: t.ID, Rev: o.Thread.Rev, Head: t.heads[o.Thread.Rev-t.Floor].String(), Incarnation: t.Incarnation}
	}
	if old == nil {
		c.Incarnation = r.mint()
	}
	c.Revision++
	return s.store(c), nil
}

// holds refuses a pointer that does not match t, which may be nil.
func (t *thread) holds(p agent.Pointer) *agent.Error {
	if t == nil {
		e := agent.Errorf(agent.CodeMissingThread, "no thread %q", p.Thread)
		e.Thread = p.Thread
		return e
	}
	var e *agent.Error
	switch {
	case p.Rev > t.Rev || (p.Incarnation != 0 && p.Incarnation != t.Incarnation):
		e = agent.Errorf(agent.CodeThreadMismatch, "another thread %q", p.Thread)
	case p.Rev < t.Floor:
		e = agent.Errorf(agent.CodeCompacted, "below the floor")
		e.Floor = t.Floor
	case p.Head != "" && p.Head != t.heads[p.Rev-t.Floor].String():
		e = agent.Errorf(agent.CodeThreadMismatch, "another head of %q", p.Thread)
	default:
		return nil
	}
	e.Thread, e.Rev, e.Head = p.Thread, t.Rev, t.Head.String()
	return e
}

func (r *reference) patchCheckpoint(s *scope, o *agent.PatchCheckpoint) (agent.OpResult, *agent.Error) {
	old := s.checkpoint(o.Key)
	if old == nil {
		return nil, agent.Errorf(agent.CodeNotFound, "no checkpoint %q", o.Key)
	}
	if err := first(s.alive("checkpoint", o.Key, o.IfIncarnation, old.Incarnation), atRevision(o.IfRevision, old.Revision)); err != nil {
		return nil, err
	}
	state, err := agent.MergePatch(old.State, o.Patch)
	if err != nil {
		panic(err)
	}
	c := *old
	if size := len(state) + len(c.Metadata); size > agent.CheckpointBytesMax {
		return nil, agent.TooLarge("patch", "checkpoint_bytes_max", size, agent.CheckpointBytesMax)
	}
	c.State, c.UpdatedAt = state, r.now
	c.Revision++
	return s.store(c), nil
}

func (r *reference) deleteCheckpoint(s *scope, o *agent.DeleteCheckpoint) (agent.OpResult, *agent.Error) {
	old := s.checkpoint(o.Key)
	if old == nil {
		return s.removed("checkpoint", o.Key, 0, o.Seal), nil
	}
	if err := first(s.alive("checkpoint", o.Key, o.IfIncarnation, old.Incarnation), atRevision(o.IfRevision, old.Revision)); err != nil {
		return nil, err
	}
	delete(s.checkpoints, o.Key)
	return s.removed("checkpoint", o.Key, old.Incarnation, o.Seal), nil
}
