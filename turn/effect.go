package turn

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"dormouse/agent"
)

// Class says whether an effect may be called again when the outcome of its
// first call is unknown.
type Class string

// The classes. After a crash between intent and result, effects of the first
// two are called again with the same key. An operator must resolve the others.
const (
	Pure       Class = "pure"        // changes nothing
	Idempotent Class = "idempotent"  // calls with the same key have one effect
	Dedupe     Class = "dedupe"      // the other side can detect repeats, if it is told to
	Reconcile  Class = "reconcile"   // the other side can be asked for the outcome
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

// Effect is a call outside of the store.
type Effect struct {
	ID     string // unique within the turn, and the same in each run of the function
	Name   string // of the capability, for operators
	Class  Class
	Input  agent.JSON         // any value; nil means null
	Review *agent.ReviewDraft // a person must approve the effect first; ids (of its own for each request), operation and arguments are optional
}

// Call is one call of a capability.
type Call struct {
	Key   string     // the same in all runs of the turn, so that the other side can detect repeats
	Input agent.JSON // of the effect, or as a reviewer edited it
}

// Capability performs an effect. Its context is the turn's. Its error is
// recorded as the result, unless that context has ended.
type Capability func(ctx context.Context, c Call) (agent.JSON, error)

// CallError reports that a capability failed, in this run or an earlier one.
type CallError struct {
	Effect  string
	Message string
	Err     error // nil for a failure of an earlier run
}

func (e *CallError) Error() string { return fmt.Sprintf("effect %s failed: %s", e.Effect, e.Message) }

func (e *CallError) Unwrap() error { return e.Err }

// IncompleteError reports that an effect was begun in an earlier run, its
// outcome is unknown, and its class forbids another call. The turn fails.
type IncompleteError struct {
	Effect, Name, Key string
	Class             Class
}

func (e *IncompleteError) Error() string {
	return fmt.Sprintf("effect %s (%s, %s) was begun under key %q and has no result: check its outcome at the other side",
		e.Effect, e.Name, e.Class, e.Key)
}

// Effect performs e once: it calls call, or returns the result of an earlier
// run of the turn. It stores the intent before the call and the result after
// it. The function may handle a *CallError or a *DeniedError, and must return
// any other error.
func (t *Turn) Effect(e Effect, call Capability) (agent.JSON, error) {
	r, err := t.recordOf(e)
	if err != nil {
		return nil, err
	}
	defer t.locked(func() { r.active = false })
	key := key(t, e.ID)
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
	if err := t.checkRunning(); err != nil { // storing the intent may take long
		return nil, err
	}
	result, failure := call(t.ctx, Call{Key: key, Input: r.input()})
	return t.recordOutcome(r, result, failure)
}

// recordOutcome stores the outcome of a call. A call that was interrupted may
// have had its effect, so it stays without a result.
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

// compactValue returns a JSON value in compact form; an empty value is null.
func compactValue(raw agent.JSON) (agent.JSON, error) {
	if len(raw) == 0 {
		return agent.JSON("null"), nil
	}
	return agent.Compact(raw)
}

// recordOf returns an effect's record, and creates it if necessary.
func (t *Turn) recordOf(e Effect) (*effectRecord, error) {
	if err := agent.ValidID("key", key(t, e.ID)); err != nil || e.ID == "" {
		return nil, agent.Invalid("effect", "the effect's id %q is missing or too long", e.ID)
	}
	if !e.Class.valid() {
		return nil, agent.Invalid("class", "effect %s has class %q: use one of the declared classes", e.ID, e.Class)
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
		return nil, agent.Invalid("effect", "effect %s is in progress: use a unique id for each effect", e.ID)
	}
	r.active = true
	return r, nil
}

func (t *Turn) locked(f func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	f()
}

// key returns a globally unique key of an effect, because sessions never reuse
// an incarnation. Users may choose the ids of requests: a "/" in one must not end it.
func key(t *Turn, effect string) string {
	return fmt.Sprintf("%s/%d/%s/%s", t.session, t.initial.Incarnation, escapeRequest.Replace(t.request.ID), effect)
}

var escapeRequest = strings.NewReplacer("/", "%2F", "%", "%25")

func (r *effectRecord) input() agent.JSON {
	if r.Edited != nil {
		return agent.JSON(r.Edited)
	}
	return agent.JSON(r.Input)
}

// outcome returns the result of an effect. failure is the call's error if this
// run made the call.
func (r *effectRecord) outcome(failure error) (agent.JSON, error) {
	if r.Failure != "" {
		return nil, &CallError{Effect: r.ID, Message: r.Failure, Err: failure}
	}
	return agent.JSON(r.Result), nil
}
