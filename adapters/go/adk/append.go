package adk

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"

	"google.golang.org/adk/v2/session"

	"dormouse/sdk/go/agent"
)

// AppendEvent stores an event and its change of state in one commit, and adds both to the
// session. Partial events are not stored. Temporary keys stay in the session in memory.
//
// The error is ErrStaleSession if another writer has appended to the session, or deleted
// it, since it was read. If agent.OutcomeOf an error is Undecided, the same event may be
// appended again: it is stored once.
func (s *Sessions) AppendEvent(ctx context.Context, current session.Session, event *session.Event) error {
	switch {
	case current == nil:
		return errors.New("append an event: the session is nil")
	case event == nil:
		return errors.New("append an event: the event is nil")
	case event.Partial:
		return nil
	}
	of, ok := current.(*storedSession)
	if !ok {
		return fmt.Errorf("append an event: session %s is a %T: use one that this service returned", current.ID(), current)
	}
	of.appending.Lock()
	defer of.appending.Unlock()
	if err := s.append(ctx, of, event); err != nil {
		return fmt.Errorf("append event %s to session %s: %w", event.ID, of.id, err)
	}
	return nil
}

// append stores an event at the revision that the session knows. of.appending is held.
func (s *Sessions) append(ctx context.Context, of *storedSession, event *session.Event) error {
	kept := withoutTemporary(event)
	payload, err := json.Marshal(kept)
	if err != nil {
		return fmt.Errorf("encode the event: %w", err)
	}
	incarnation, rev, own := of.at()
	thread := &agent.AppendThread{
		Thread: of.key(), ExpectedRev: &rev, IfIncarnation: incarnation,
		Entries: []agent.Draft{{ID: event.ID, Kind: eventKind, Payload: payload}},
	}
	ops, delta := []agent.Op{thread}, divide(event.Actions.StateDelta)
	if len(delta.session) > 0 {
		if own, err = own.with(delta.session); err != nil {
			return err
		}
		row, err := putState(of.key(), sessionRow{own, event.Timestamp})
		if err != nil {
			return err
		}
		ops = append(ops, row)
	}
	_, _, _, err = s.commit(ctx, of, delta, ops...)
	if err != nil && !s.storedBefore(ctx, err, thread) {
		return stale(err)
	}
	of.appended(kept, event.Actions.StateDelta, own, rev+1)
	return nil
}

// storedBefore reports whether the append that failed with err had been applied by an
// earlier attempt of the caller, whose outcome the caller could not know: the entry is at
// the position that the session expects, and has the same content.
func (s *Sessions) storedBefore(ctx context.Context, err error, thread *agent.AppendThread) bool {
	code, draft := agent.CodeOf(err), thread.Entries[0]
	if draft.ID == "" || code != agent.CodeConflict && code != agent.CodeDuplicateEntry {
		return false
	}
	answers, err := s.service.Read(ctx, agent.Reads{Scope: s.scope, Reads: []agent.Read{
		&agent.GetEntry{Thread: thread.Thread, Entry: draft.ID}, &agent.GetThread{Thread: thread.Thread},
	}})
	if err != nil || answers.Answers[0].Err != nil || answers.Answers[1].Err != nil {
		return false
	}
	e, now := answers.Answers[0].Found.(*agent.Entry), answers.Answers[1].Found.(*agent.Thread)
	compact, err := agent.Compact(draft.Payload)
	return err == nil && now.Incarnation == thread.IfIncarnation && e.Seq == *thread.ExpectedRev && bytes.Equal(e.Payload, compact)
}

// stale adds ErrStaleSession to the errors of a session that has changed.
func stale(err error) error {
	switch agent.CodeOf(err) {
	case agent.CodeConflict, agent.CodeDeleted, agent.CodeNotFound, agent.CodeMissingThread:
		return fmt.Errorf("%w: %w", ErrStaleSession, err)
	default:
		return err
	}
}

// withoutTemporary returns the event without the temporary keys of its change of state.
func withoutTemporary(event *session.Event) *session.Event {
	kept := *event
	if event.Actions.StateDelta != nil {
		kept.Actions.StateDelta = maps.Clone(event.Actions.StateDelta)
		maps.DeleteFunc(kept.Actions.StateDelta, func(key string, _ any) bool { return strings.HasPrefix(key, session.KeyPrefixTemp) })
	}
	return &kept
}
