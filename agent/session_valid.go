package agent

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"dormouse/internal/compactjson"
)

func (o *ResumeSession) validateOp(t *tally) error {
	return t.runner(o.Session, o.Owner, &o.TTL)
}

func (o *RecoverSession) validateOp(t *tally) error {
	return t.runner(o.Session, o.Owner, &o.TTL)
}

func (o *CheckpointSession) validateOp(t *tally) error {
	if err := firstOf(t.lease(o.Session, o.LeaseID, o.Owner), validClaimTTL(o.TTL), t.reviews(o.Reviews)); err != nil {
		return err
	}
	return within(t.snapshot(&o.Snapshot), "snapshot")
}

func (o *RenewSession) validateOp(t *tally) error {
	return firstOf(t.lease(o.Session, o.LeaseID, o.Owner), validClaimTTL(o.TTL))
}

func (o *CancelSession) validateOp(t *tally) error {
	err := firstOf(t.lease(o.Session, o.LeaseID, o.Owner), normalizeValue("reason", &o.Reason))
	return firstOf(err, t.contents("reason", SessionBytesMax, "session_bytes_max", o.Reason))
}

func (o *DeleteSession) validateOp(t *tally) error {
	t.bytes += len(o.Session)
	return firstOf(validSessionID("session", o.Session), validSpan("seal", o.Seal, SealMax))
}

// contents adds the size of an op's contents to the tally and checks it against the
// limit of one row.
func (t *tally) contents(field string, bound int, limit string, parts ...JSON) error {
	size := 0
	for _, part := range parts {
		size += len(part)
	}
	t.bytes += size
	if size > bound {
		return TooLarge(field, limit, size, bound)
	}
	return nil
}

// validRevision bounds the revision of a put: that of the session must not begin again at 0.
func validRevision(at *uint64) error {
	if at != nil && *at > SessionRevisionMax {
		return TooLarge("if_revision", "session_revision_max", int(min(*at, math.MaxInt64)), SessionRevisionMax)
	}
	return nil
}

func (o *PutSession) validateOp(t *tally) error {
	t.bytes += len(o.Session) + len(o.Agent) + o.settingsSize()
	if err := firstOf(
		validSessionID("session", o.Session),
		ValidID("agent_id", o.Agent),
		validWord("mode", o.Mode, SessionModeLease, SessionModeClassic, ""),
		o.CheckSettings(o.Mode),
		validPutStatus(o.Status),
		validRevision(o.IfRevision),
		normalize("spec", &o.Spec), normalize("metadata", &o.Metadata), normalize("environment", &o.Environment),
		normalizeValue("result", &o.Result), normalizeValue("failure", &o.Failure),
		o.Conversation.normalize(),
	); err != nil {
		return err
	}
	if o.Request != nil {
		if o.Mode != SessionModeClassic {
			return Invalid("request", "a request is put in classic mode only: claim the session with it")
		}
		if err := t.request(o.Request); err != nil {
			return within(err, "request")
		}
	}
	agentState, contextState := o.Conversation.states()
	return t.contents("spec", SessionBytesMax, "session_bytes_max",
		o.Spec, o.Metadata, o.Environment, o.Result, o.Failure, agentState, contextState)
}

// ValidSchema validates the schema version of a session in a mode; 0 means the mode's
// newest. Classic sessions have version 1 only, others 1 to SessionSchemaMax. A put
// without a mode is validated again when the session's mode is known.
func ValidSchema(mode SessionMode, version uint64) error {
	newest := NewestSchema(mode)
	if version == 0 || version <= newest {
		return nil
	}
	return UnsupportedSchema(version, newest)
}

// NewestSchema returns the newest schema version of sessions in a mode.
func NewestSchema(mode SessionMode) uint64 {
	if mode == SessionModeClassic {
		return SessionSchemaClassic
	}
	return SessionSchemaMax
}

// UnsupportedSchema returns the error for a schema version that is not 1 to newest.
func UnsupportedSchema(version, newest uint64) *Error {
	e := Errorf(CodeUnsupportedSchema, "schema_version = %d is not supported: give 1 to %d, or leave it out for the newest", version, newest)
	if newest == SessionSchemaClassic {
		e.Detail = fmt.Sprintf("schema_version = %d is not supported: a session in classic mode has version 1", version)
	}
	e.Field = "schema_version"
	return e
}

func validPutStatus(status SessionStatus) error {
	switch status {
	case SessionRunning:
		return Invalid("status", "a put cannot set the status running: claim the session")
	case SessionWaiting:
		return Invalid("status", "a put cannot set the status waiting: commit the session with its reviews")
	case SessionNew, SessionHibernated, SessionFinished, SessionFailed, SessionCancelled:
	}
	return validWord("status", status, SessionNew, SessionHibernated, SessionFinished, SessionFailed, SessionCancelled, "")
}

// validWord validates a word of a closed set; "" in the set means that it may be
// empty.
func validWord[T ~string](field string, word T, words ...T) error {
	if slices.Contains(words, word) {
		return nil
	}
	return Invalid(field, "%s = %q must be one of %q", field, word, slices.DeleteFunc(words, func(w T) bool { return w == "" }))
}

func optionalID(field, id string) error {
	if id == "" {
		return nil
	}
	return ValidID(field, id)
}

// normalizeValue compacts any JSON value in place; null becomes absent.
func normalizeValue(field string, raw *JSON) error {
	if *raw == nil {
		return nil
	}
	if compactjson.IsNull(*raw) {
		*raw = nil
		return nil
	}
	value, err := Compact(*raw)
	var e *Error
	if errors.As(err, &e) {
		e.Field, e.Detail = field, field+": "+e.Detail
		return e
	}
	replace(raw, value)
	return nil
}

func (c *Conversation) normalize() error {
	if c == nil {
		return nil
	}
	return firstOf(
		normalize("conversation.agent_state", &c.AgentState),
		normalize("conversation.context_state", &c.ContextState),
		optionalID("conversation.last_completed_request_id", c.LastCompletedRequestID),
	)
}

func (c *Conversation) states() (agentState, contextState JSON) {
	if c == nil {
		return nil, nil
	}
	return c.AgentState, c.ContextState
}

func (o *ClaimSession) validateOp(t *tally) error {
	if err := t.runner(o.Session, o.Owner, &o.TTL); err != nil {
		return err
	}
	if o.Request == nil {
		return nil
	}
	return within(t.request(o.Request), "request")
}

// runner validates the session, the owner and the ttl of a new lease.
func (t *tally) runner(session, owner string, ttl *time.Duration) error {
	t.bytes += len(session) + len(owner)
	if *ttl == 0 {
		*ttl = ClaimTTLDefault
	}
	return firstOf(validSessionID("session", session), ValidID("owner_id", owner), validClaimTTL(*ttl))
}

// lease validates a reference to a lease. It may be empty: the state machine decides
// whether a lease is needed.
func (t *tally) lease(session, lease, owner string) error {
	t.bytes += len(session) + len(lease) + len(owner)
	return firstOf(validSessionID("session", session), optionalID("lease_id", lease), optionalID("owner_id", owner))
}

func (t *tally) request(r *SessionRequest) error {
	if err := firstOf(
		ValidID("id", r.ID), normalizeValue("input", &r.Input), normalize("metadata", &r.Metadata),
		validText("owner_id", "id_bytes_max", r.Owner, IDBytesMax), validText("outcome", "id_bytes_max", string(r.Outcome), IDBytesMax), // the state machine sets both
	); err != nil {
		return err
	}
	t.bytes += len(r.ID) + len(r.Owner) + len(r.Outcome)
	return t.contents("input", SessionRequestBytesMax, "session_request_bytes_max", r.Input, r.Metadata)
}

func (t *tally) snapshot(s *SessionSnapshot) error {
	t.bytes += len(s.ID) + len(s.Agent) + len(s.RequestID)
	if err := firstOf(
		ValidID("snapshot_id", s.ID), optionalID("agent_id", s.Agent), optionalID("request_id", s.RequestID),
		validWord("cursor.phase", s.Cursor.Phase, PhaseStart, PhaseAfterPrompt, PhaseBeforeEffect, PhaseReview, PhaseWait),
		normalize("cursor.metadata", &s.Cursor.Metadata), normalize("turn_state", &s.TurnState), normalize("metadata", &s.Metadata),
	); err != nil {
		return err
	}
	return t.contents("turn_state", SessionSnapshotBytesMax, "session_snapshot_bytes_max", s.TurnState, s.Metadata, s.Cursor.Metadata)
}

func (o *CommitSession) validateOp(t *tally) error {
	t.bytes += len(o.Agent) + len(o.RequestID)
	if err := firstOf(
		t.lease(o.Session, o.LeaseID, o.Owner),
		optionalID("agent_id", o.Agent), optionalID("request_id", o.RequestID),
		validWord("status", o.Status, SessionHibernated, SessionWaiting, SessionFinished, SessionFailed, SessionCancelled),
		normalizeValue("result", &o.Result), normalizeValue("failure", &o.Failure), normalize("environment", &o.Environment),
		o.Conversation.normalize(), t.reviews(o.Reviews),
	); err != nil {
		return err
	}
	if len(o.Snapshots) > SessionSnapshotsMax {
		return TooLarge("snapshots", "session_snapshots_max", len(o.Snapshots), SessionSnapshotsMax)
	}
	for i := range o.Snapshots {
		if err := t.snapshot(&o.Snapshots[i]); err != nil {
			return within(err, fmt.Sprintf("snapshots[%d]", i))
		}
	}
	agentState, contextState := o.Conversation.states()
	return t.contents("result", SessionBytesMax, "session_bytes_max", o.Result, o.Failure, o.Environment, agentState, contextState)
}

func (o *ForkSession) validateOp(t *tally) error {
	t.bytes += len(o.Session) + len(o.NewSession) + len(o.Snapshot)
	if err := firstOf(
		validSessionID("session", o.Session), validSessionID("new_session", o.NewSession), optionalID("snapshot", o.Snapshot),
	); err != nil {
		return err
	}
	if o.Session == o.NewSession {
		return Invalid("new_session", "new_session must differ from session: a session cannot be a fork of itself")
	}
	return nil
}
