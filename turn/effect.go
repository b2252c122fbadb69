package turn

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"dormouse/agent"
)

// Class says what calling an effect again does, where nobody knows whether a
// first call came through (SEMANTICS §7.2).
type Class string

// The classes. After a crash between intent and result, the first two are
// called again, with the same key; the others are an operator's to judge.
const (
	Pure       Class = "pure"        // changes nothing
	Idempotent Class = "idempotent"  // the same key, however often, is once
	Dedupe     Class = "dedupe"      // the other side can be told to tell repeats apart
	Reconcile  Class = "reconcile"   // the other side can be asked what happened
	UnsafeOnce Class = "unsafe_once" // must never be called twice
)

func (c Class) valid() bool {
	switch c {
	case Pure, Idempotent, Dedupe, Reconcile, UnsafeOnce:
		return true
	default:
		return false
	}
}

func (c Class) repeatable() bool { return c == Pure || c == Idempotent }

// Effect is something that a turn does to the world, or asks of it.
type Effect struct {
	ID     string // its own within the turn, and the same in each run of the function
	Name   string // of the capability, for people
	Class  Class
	Input  agent.JSON         // any value; nil means null
	Review *agent.ReviewDraft // a person is to approve it first; its ids, operation and arguments may be left out
}

// Call is one call of an effect's capability.
type Call struct {
	Key   string     // the same in all runs of the turn: what the other side is to know repeats by
	Input agent.JSON // the effect's, or what a reviewer made of it
}

// Capability does what an effect is about. Its context is the turn's. An error
// is its answer, and is kept as one, unless that context has ended.
type Capability func(ctx context.Context, c Call) (agent.JSON, error)

// CallError is the error of an effect whose capability failed, now or in an
// earlier run.
type CallError struct {
	Effect  string
	Message string
	Err     error // nil where it was kept from an earlier run
}

func (e *CallError) Error() string { return fmt.Sprintf("effect %s failed: %s", e.Effect, e.Message) }

func (e *CallError) Unwrap() error { return e.Err }

// IncompleteError says that an effect was begun in an earlier run, that nobody
// knows how it ended, and that it must not be called again. The turn fails.
type IncompleteError struct {
	Effect, Name, Key string
	Class             Class
}

func (e *IncompleteError) Error() string {
	return fmt.Sprintf("effect %s (%s, %s) was begun under key %q and has no result: find out what came of it",
		e.Effect, e.Name, e.Class, e.Key)
}

// Effect does e once: by call, or, where an earlier run of the turn has done it,
// by telling how it ended. The intent is kept before the call, the result
// after it. No error but a *CallError and a *DeniedError leaves the function
// anything to do but to return it.
func (t *Turn) Effect(e Effect, call Capability) (agent.JSON, error) {
	r, err := t.recordOf(e)
	if err != nil {
		return nil, err
	}
	defer t.locked(func() { r.active = false })
	key := t.key(e.ID)
	if r.Ended {
		return r.outcome(nil)
	}
	if r.Begun && !r.Class.repeatable() {
		return nil, t.block(&IncompleteError{Effect: r.ID, Name: r.Name, Class: r.Class, Key: key})
	}
	if err := t.Reach(agent.PhaseBeforeEffect, e.ID); err != nil {
		return nil, err
	}
	if err := t.approve(e, r, key); err != nil {
		return nil, err
	}
	if err := t.checkRunning(); err != nil {
		return nil, err
	}
	t.locked(func() { r.Begun = true })
	if err := t.save(agent.PhaseBeforeEffect); err != nil {
		return nil, t.block(err)
	}
	if err := t.checkRunning(); err != nil { // the intent may have taken long
		return nil, err
	}
	result, failure := call(t.ctx, Call{Key: key, Input: r.input()})
	return t.recordOutcome(r, result, failure)
}

// recordOutcome keeps how a call ended. A call that was cut off may have come through:
// it stays as begun.
func (t *Turn) recordOutcome(r *effectRecord, result agent.JSON, failure error) (agent.JSON, error) {
	if failure != nil && t.ctx.Err() != nil {
		return nil, errors.Join(context.Cause(t.ctx), failure)
	}
	if failure == nil {
		var err error
		if result, err = compactValue(result); err != nil {
			failure = fmt.Errorf("its result: %w", err)
		}
	}
	t.locked(func() {
		r.Ended = true
		if failure != nil {
			r.Failure = orUnnamed(failure.Error())
			return
		}
		r.Result = json.RawMessage(result)
	})
	if err := t.save(agent.PhaseWait); err != nil {
		return nil, t.block(err)
	}
	return r.outcome(failure)
}

func orUnnamed(text string) string {
	if text == "" {
		return "unnamed error"
	}
	return text
}

// compactValue is a JSON value as it is kept; nothing is null.
func compactValue(raw agent.JSON) (agent.JSON, error) {
	if len(raw) == 0 {
		return agent.JSON("null"), nil
	}
	return agent.Compact(raw)
}

// recordOf finds an effect's record, or makes one.
func (t *Turn) recordOf(e Effect) (*effectRecord, error) {
	if err := agent.ValidID("key", t.key(e.ID)); err != nil || e.ID == "" {
		return nil, agent.Invalid("effect", "the effect's id %q is missing or too long", e.ID)
	}
	if !e.Class.valid() {
		return nil, agent.Invalid("class", "effect %s has class %q: name one", e.ID, e.Class)
	}
	input, err := compactValue(e.Input)
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.journal.find(e.ID)
	if r == nil {
		r = &effectRecord{ID: e.ID, Name: e.Name, Class: e.Class, Input: json.RawMessage(input), active: true}
		t.journal.Effects = append(t.journal.Effects, r)
		return r, nil
	}
	if r.Name != e.Name || !bytes.Equal(r.Input, input) {
		return nil, agent.Invalid("effect", "effect %s was %s with %s, now it is %s with %s: the function must do the same in each run",
			e.ID, r.Name, r.Input, e.Name, input)
	}
	if r.active && !r.Ended {
		return nil, agent.Invalid("effect", "effect %s is under way: each one needs an id of its own", e.ID)
	}
	r.active = true
	return r, nil
}

func (t *Turn) locked(f func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	f()
}

// key names an effect for ever: no session's incarnation is ever used twice.
func (t *Turn) key(effect string) string {
	return fmt.Sprintf("%s/%d/%s/%s", t.session, t.initial.Incarnation, t.request.ID, effect)
}

func (r *effectRecord) input() agent.JSON {
	if r.Edited != nil {
		return agent.JSON(r.Edited)
	}
	return agent.JSON(r.Input)
}

// outcome is how an effect ended; failure is the call's own error, where it
// was made in this run.
func (r *effectRecord) outcome(failure error) (agent.JSON, error) {
	if r.Failure != "" {
		return nil, &CallError{Effect: r.ID, Message: r.Failure, Err: failure}
	}
	return agent.JSON(r.Result), nil
}
