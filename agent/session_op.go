package agent

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"dormouse/internal/compactjson"
)

// PutSession writes a session, except its requests, snapshots, queue and reviews.
// Without IfRevision it only creates: an existing session is already_exists. With it,
// the session must have no lease and a revision of at most IfRevision; its revision is
// then IfRevision + 1. In classic mode it overwrites any session, unless IfRevision is
// 0.
type PutSession struct {
	Session       string
	Mode          SessionMode // "" means SessionModeLease, or the current one
	SchemaVersion uint64      // 0 means NewestSchema of the mode
	Agent         string
	Spec          JSON
	Metadata      JSON
	Environment   JSON
	Status        SessionStatus // "" means SessionNew, or the current one; never SessionRunning or SessionWaiting
	Conversation  *Conversation // nil means an empty one, or the current one
	Busy          BusyPolicy    // "" means BusyReject
	QueueMax      uint64        // 0 means SessionQueueDefault
	Thread        string
	Checkpoint    string
	Result        JSON
	Failure       JSON
	Request       *SessionRequest // classic mode only: the request runs from now on (put_request in Jidoka)
	IfRevision    *uint64
	IfIncarnation uint64
}

// ClaimSession begins a turn: the session runs under a new lease, with the request as
// its newest. If another turn runs, the session's BusyPolicy applies. Without a
// Request it takes the head of the queue.
//
// In classic mode there is no lease, and a running session is refused.
type ClaimSession struct {
	Session              string
	Owner                string
	Request              *SessionRequest
	TTL                  time.Duration // 0 means ClaimTTLDefault
	ConversationRevision *uint64       // of the conversation that the request was based on
}

// ResumeSession continues the turn of a hibernated or waiting session under a new
// lease. In classic mode it claims nothing and ignores the status.
type ResumeSession struct {
	Session string
	Owner   string
	TTL     time.Duration
}

// RecoverSession takes over a turn whose lease has expired, under a new lease.
type RecoverSession struct {
	Session string
	Owner   string
	TTL     time.Duration
}

// CheckpointSession stores a snapshot of the running turn and renews its lease. The
// reviews that it requests are pending at once.
//
// In classic mode it needs no lease. The session then waits if the snapshot's phase is
// review or a review is requested, and hibernates otherwise; earlier pending reviews
// are withdrawn.
type CheckpointSession struct {
	Session  string
	LeaseID  string
	Owner    string
	TTL      time.Duration // 0 means the current one
	Snapshot SessionSnapshot
	Reviews  []ReviewDraft
}

// CommitSession ends the running turn and its lease. Of SessionWaiting and
// SessionHibernated the stored status is waiting if reviews are pending, and
// hibernated otherwise. With another status pending reviews are withdrawn.
//
// In classic mode it needs no lease, and a failure withdraws no reviews.
type CommitSession struct {
	Session      string
	LeaseID      string
	Owner        string
	Agent        string // "" means the session's; any other is session_commit_mismatch
	RequestID    string // "" means the turn's; any other is session_commit_mismatch
	Status       SessionStatus
	Result       JSON
	Failure      JSON
	Environment  JSON          // nil keeps the current one
	Conversation *Conversation // nil keeps the current one
	Snapshots    []SessionSnapshot
	Reviews      []ReviewDraft
}

// RenewSession restarts the full ttl of a lease. An expired lease is refused; recover
// the session instead.
type RenewSession struct {
	Session string
	LeaseID string
	Owner   string
	TTL     time.Duration // 0 means the current one
}

// CancelSession stops a session: the running turn is fenced, the queue is emptied,
// pending reviews are withdrawn. If LeaseID is set, it must be the current lease. A
// cancelled session stays cancelled until it is claimed.
type CancelSession struct {
	Session    string
	LeaseID    string
	Owner      string
	Reason     JSON
	IfRevision *uint64
}

// ForkSession copies a session that is not running to NewSession, at its newest
// snapshot or the named one. The queue and the reviews are not copied.
type ForkSession struct {
	Session       string
	NewSession    string
	Snapshot      string // "" means the newest, if any
	IfRevision    *uint64
	IfIncarnation uint64
}

// DeleteSession deletes a session with its lease and its reviews; deleting a missing
// session succeeds.
type DeleteSession struct {
	Session       string
	IfRevision    *uint64
	IfIncarnation uint64
	Seal          time.Duration
}

func (*PutSession) isOp()        {}
func (*ClaimSession) isOp()      {}
func (*ResumeSession) isOp()     {}
func (*RecoverSession) isOp()    {}
func (*CheckpointSession) isOp() {}
func (*CommitSession) isOp()     {}
func (*RenewSession) isOp()      {}
func (*CancelSession) isOp()     {}
func (*ForkSession) isOp()       {}
func (*DeleteSession) isOp()     {}

// SessionResult is the result of all ops on sessions except deletes: the session after
// the op; for a fork, the new session.
type SessionResult struct {
	Session  SessionRow // its Lease is the caller's, or nil; a queued claim does not see the running turn's lease
	Recovery *Recovery  // of ResumeSession and RecoverSession
	Queued   uint64     // of ClaimSession: the position in the queue, from 1; 0 if the request runs
}

func (*SessionResult) isOpResult() {}

// sessionOp validates an op on a session, a review, a whole agent or a ttl, and adds
// its size to the tally.
func (t *tally) sessionOp(op Op) error {
	switch o := op.(type) {
	case *PutSession:
		return t.putSession(o)
	case *ClaimSession:
		return t.claimSession(o)
	case *ResumeSession:
		return t.runner(o.Session, o.Owner, &o.TTL)
	case *RecoverSession:
		return t.runner(o.Session, o.Owner, &o.TTL)
	case *CheckpointSession:
		if err := firstOf(t.lease(o.Session, o.LeaseID, o.Owner), validClaimTTL(o.TTL), t.reviews(o.Reviews)); err != nil {
			return err
		}
		return within(t.snapshot(&o.Snapshot), "snapshot")
	case *CommitSession:
		return t.commitSession(o)
	case *RenewSession:
		return firstOf(t.lease(o.Session, o.LeaseID, o.Owner), validClaimTTL(o.TTL))
	case *CancelSession:
		err := firstOf(t.lease(o.Session, o.LeaseID, o.Owner), settleValue("reason", &o.Reason))
		return firstOf(err, t.contents("reason", SessionBytesMax, "session_bytes_max", o.Reason))
	case *ForkSession:
		return t.forkSession(o)
	case *DeleteSession:
		t.bytes += len(o.Session)
		return firstOf(ValidSessionID("session", o.Session), validSpan("seal", o.Seal, SealMax))
	case *DecideReview:
		return t.decideReview(o)
	case *ForkAgent:
		return forkAgent(t, o)
	case *EraseAgent:
		return eraseAgent(t, o)
	case *SetTTL:
		return t.setTTL(o)
	default:
		return t.conversationOp(op)
	}
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

func (t *tally) putSession(o *PutSession) error {
	t.bytes += len(o.Session) + len(o.Agent) + len(o.Thread) + len(o.Checkpoint)
	if err := firstOf(
		ValidSessionID("session", o.Session),
		ValidID("agent_id", o.Agent),
		optionalID("thread", o.Thread),
		optionalID("checkpoint", o.Checkpoint),
		validWord("mode", o.Mode, SessionModeLease, SessionModeClassic, ""),
		validWord("busy", o.Busy, BusyReject, BusyEnqueue, BusyInterrupt, BusyRollback, ""),
		ValidSchema(o.Mode, o.SchemaVersion),
		validPutStatus(o.Status),
		settle("spec", &o.Spec), settle("metadata", &o.Metadata), settle("environment", &o.Environment),
		settleValue("result", &o.Result), settleValue("failure", &o.Failure),
		o.Conversation.settle(),
	); err != nil {
		return err
	}
	if o.QueueMax > SessionQueueMax {
		return Invalid("queue_max", "queue_max = %d must be at most %d", o.QueueMax, SessionQueueMax)
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

// settleValue compacts any JSON value in place; null becomes absent.
func settleValue(field string, raw *JSON) error {
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

func (c *Conversation) settle() error {
	if c == nil {
		return nil
	}
	return firstOf(
		settle("conversation.agent_state", &c.AgentState),
		settle("conversation.context_state", &c.ContextState),
		optionalID("conversation.last_completed_request_id", c.LastCompletedRequestID),
	)
}

func (c *Conversation) states() (agentState, contextState JSON) {
	if c == nil {
		return nil, nil
	}
	return c.AgentState, c.ContextState
}

func (t *tally) claimSession(o *ClaimSession) error {
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
	return firstOf(ValidSessionID("session", session), ValidID("owner_id", owner), validClaimTTL(*ttl))
}

// lease validates a reference to a lease. It may be empty: the state machine decides
// whether a lease is needed.
func (t *tally) lease(session, lease, owner string) error {
	t.bytes += len(session) + len(lease) + len(owner)
	return firstOf(ValidSessionID("session", session), optionalID("lease_id", lease), optionalID("owner_id", owner))
}

func (t *tally) request(r *SessionRequest) error {
	if err := firstOf(ValidID("id", r.ID), settleValue("input", &r.Input), settle("metadata", &r.Metadata)); err != nil {
		return err
	}
	t.bytes += len(r.ID)
	return t.contents("input", SessionRequestBytesMax, "session_request_bytes_max", r.Input, r.Metadata)
}

func (t *tally) snapshot(s *SessionSnapshot) error {
	t.bytes += len(s.ID) + len(s.Agent) + len(s.RequestID)
	if err := firstOf(
		ValidID("snapshot_id", s.ID), optionalID("agent_id", s.Agent), optionalID("request_id", s.RequestID),
		validWord("cursor.phase", s.Cursor.Phase, PhaseStart, PhaseAfterPrompt, PhaseBeforeEffect, PhaseReview, PhaseWait),
		settle("cursor.metadata", &s.Cursor.Metadata), settle("turn_state", &s.TurnState), settle("metadata", &s.Metadata),
	); err != nil {
		return err
	}
	return t.contents("turn_state", SessionSnapshotBytesMax, "session_snapshot_bytes_max", s.TurnState, s.Metadata, s.Cursor.Metadata)
}

func (t *tally) commitSession(o *CommitSession) error {
	t.bytes += len(o.Agent) + len(o.RequestID)
	if err := firstOf(
		t.lease(o.Session, o.LeaseID, o.Owner),
		optionalID("agent_id", o.Agent), optionalID("request_id", o.RequestID),
		validWord("status", o.Status, SessionHibernated, SessionWaiting, SessionFinished, SessionFailed, SessionCancelled),
		settleValue("result", &o.Result), settleValue("failure", &o.Failure), settle("environment", &o.Environment),
		o.Conversation.settle(), t.reviews(o.Reviews),
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

func (t *tally) forkSession(o *ForkSession) error {
	t.bytes += len(o.Session) + len(o.NewSession) + len(o.Snapshot)
	if err := firstOf(
		ValidSessionID("session", o.Session), ValidSessionID("new_session", o.NewSession), optionalID("snapshot", o.Snapshot),
	); err != nil {
		return err
	}
	if o.Session == o.NewSession {
		return Invalid("new_session", "new_session must differ from session: a session cannot be a fork of itself")
	}
	return nil
}
