package agent

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// PutSession writes a session whole, but for its requests, snapshots, queue
// and reviews. Without IfRevision it is create-only: one that is there is
// already_exists. With it, the session must have no lease, and be at no later
// revision; it is then at IfRevision + 1. In classic mode it writes whatever
// is there, unless IfRevision is 0.
type PutSession struct {
	Session       string
	Mode          SessionMode // "" means SessionModeLease, or what it was
	SchemaVersion uint64      // 0 means NewestSchema of the mode
	Agent         string
	Spec          JSON
	Metadata      JSON
	Environment   JSON
	Status        SessionStatus // "" means SessionNew, or what it was; never SessionRunning or SessionWaiting
	Conversation  *Conversation // nil means an empty one, or what it was
	Busy          BusyPolicy    // "" means BusyReject
	QueueMax      uint64        // 0 means SessionQueueDefault
	Thread        string
	Checkpoint    string
	Result        JSON
	Failure       JSON
	Request       *SessionRequest // classic mode only: it runs from now on (the guide's put_request)
	IfRevision    *uint64
	IfIncarnation uint64
}

// ClaimSession begins a turn: the session runs under a new lease, with the
// request as its newest. While another turn runs, the session's BusyPolicy
// says what happens. A request that nobody names means the head of the queue.
//
// In classic mode there is no lease, and what runs is refused.
type ClaimSession struct {
	Session              string
	Owner                string
	Request              *SessionRequest
	TTL                  time.Duration // 0 means ClaimTTLDefault
	ConversationRevision *uint64       // of the conversation that the request was written for
}

// ResumeSession takes a hibernated or waiting session's turn up again, under a
// new lease. In classic mode it claims nothing, and looks at no status.
type ResumeSession struct {
	Session string
	Owner   string
	TTL     time.Duration
}

// RecoverSession takes over a turn whose lease has expired, under a new one.
type RecoverSession struct {
	Session string
	Owner   string
	TTL     time.Duration
}

// CheckpointSession keeps a snapshot of the turn that runs, and renews its
// lease. Reviews that it asks for stand at once.
//
// In classic mode it needs no lease: the session hibernates, or waits where
// the snapshot's phase is review or a review is asked for, and what was pending
// before is withdrawn.
type CheckpointSession struct {
	Session  string
	LeaseID  string
	Owner    string
	TTL      time.Duration // 0 means as it was
	Snapshot SessionSnapshot
	Reviews  []ReviewDraft
}

// CommitSession ends the turn that runs, and its lease. The session waits
// rather than hibernates where reviews are pending, and hibernates rather than
// waits where none are; what is pending otherwise is withdrawn.
//
// In classic mode it needs no lease, and a failure withdraws nothing.
type CommitSession struct {
	Session      string
	LeaseID      string
	Owner        string
	Agent        string // "" means the session's; another is session_commit_mismatch
	RequestID    string // "" means the turn's; another is session_commit_mismatch
	Status       SessionStatus
	Result       JSON
	Failure      JSON
	Environment  JSON          // nil keeps what is there
	Conversation *Conversation // nil keeps what is there
	Snapshots    []SessionSnapshot
	Reviews      []ReviewDraft
}

// RenewSession gives the lease its full ttl again. One that has expired is
// refused: it is recovered.
type RenewSession struct {
	Session string
	LeaseID string
	Owner   string
	TTL     time.Duration // 0 means as it was
}

// CancelSession ends whatever the session does: the turn that runs is fenced,
// the queue emptied, pending reviews are withdrawn. LeaseID, where it is given,
// must be the lease that stands. Once cancelled it stays so until it is claimed.
type CancelSession struct {
	Session    string
	LeaseID    string
	Owner      string
	Reason     JSON
	IfRevision *uint64
}

// ForkSession makes NewSession of a session that does not run, from its newest
// snapshot or the one that is named. Neither the queue nor reviews go along.
type ForkSession struct {
	Session       string
	NewSession    string
	Snapshot      string // "" means the newest, if there is one
	IfRevision    *uint64
	IfIncarnation uint64
}

// DeleteSession deletes a session with all that is its own, its lease and its
// reviews included; a missing one is fine.
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

// SessionResult answers all ops on sessions but deletes: the session as it
// stands after the op, a fork's being the new one.
type SessionResult struct {
	Session  SessionRow // its Lease is the caller's to run under, or nil: not shown to a claim that only waits
	Recovery *Recovery  // of ResumeSession and RecoverSession
	Queued   uint64     // of ClaimSession: the request's place in the queue, from 1; 0 where it runs
}

func (*SessionResult) isOpResult() {}

// sessionOp judges an op on a session, a review or a whole agent and adds it
// to the tally.
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
		return t.forkAgent(o)
	case *EraseAgent:
		return t.eraseAgent(o)
	case *SetTTL:
		return t.setTTL(o)
	default:
		return t.conversationOp(op)
	}
}

// contents bounds what an op writes into one row, and counts it.
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

// ValidSchema judges the schema version of a session in a mode; 0 is none, which
// takes the mode's newest. Classic sessions are of version 1 exactly, those with
// leases of 1 to SessionSchemaMax. A put without a mode is judged where the
// session's own is known.
func ValidSchema(mode SessionMode, version uint64) error {
	newest := NewestSchema(mode)
	if version == 0 || version <= newest {
		return nil
	}
	return UnsupportedSchema(version, newest)
}

// NewestSchema is the newest schema version of sessions in a mode.
func NewestSchema(mode SessionMode) uint64 {
	if mode == SessionModeClassic {
		return SessionSchemaClassic
	}
	return SessionSchemaMax
}

// UnsupportedSchema refuses a schema version other than 1 to newest.
func UnsupportedSchema(version, newest uint64) *Error {
	e := Errorf(CodeUnsupportedSchema, "schema_version = %d is not supported here, where it is 1 to %d: leave it out for the newest", version, newest)
	if newest == SessionSchemaClassic {
		e.Detail = fmt.Sprintf("schema_version = %d is not supported: a session in classic mode is of version 1", version)
	}
	e.Field = "schema_version"
	return e
}

func validPutStatus(status SessionStatus) error {
	switch status {
	case SessionRunning:
		return Invalid("status", "a session is not put as running: claim it")
	case SessionWaiting:
		return Invalid("status", "a session is not put as waiting: commit it with the reviews that it waits for")
	case SessionNew, SessionHibernated, SessionFinished, SessionFailed, SessionCancelled:
	}
	return validWord("status", status, SessionNew, SessionHibernated, SessionFinished, SessionFailed, SessionCancelled, "")
}

// validWord judges a word of a closed set; "" among them stands for none.
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

// settleValue compacts any JSON value in place; a null becomes absent.
func settleValue(field string, raw *JSON) error {
	if *raw == nil {
		return nil
	}
	if isNull(*raw) {
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

// runner judges what begins a lease.
func (t *tally) runner(session, owner string, ttl *time.Duration) error {
	t.bytes += len(session) + len(owner)
	if *ttl == 0 {
		*ttl = ClaimTTLDefault
	}
	return firstOf(ValidSessionID("session", session), ValidID("owner_id", owner), validClaimTTL(*ttl))
}

// lease judges what names a lease. It may be missing: the state machine knows
// whether it is needed.
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
