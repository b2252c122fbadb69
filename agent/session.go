package agent

import (
	"strconv"
	"strings"

	"dormouse/internal/compactjson"
)

// Session is a conversation that outlives its runners: its specification, its
// requests, the snapshots of its turns, and the current runner's lease.
//
// Requests, Snapshots and Queue are oldest first and bounded: see SessionRequestsMax
// and the limits next to it.
type Session struct {
	SessionRow
	Spec           JSON // an object, as are the next two
	Metadata       JSON
	Environment    JSON
	Conversation   Conversation
	Lineage        *Lineage // of a fork
	Result         JSON     // of the last finished turn; nil if there is none
	Failure        JSON     // why the last turn failed; nil if it did not
	Requests       []SessionRequest
	Snapshots      []SessionSnapshot
	Queue          []SessionRequest
	PendingReviews []Review // set if the session waits; in classic mode always
}

// SessionRow is a session without its contents, as in lists and results.
type SessionRow struct {
	SessionSettings
	ID            string
	Incarnation   uint64
	Revision      uint64 // counts the writes, including renewals
	Mode          SessionMode
	Agent         string
	Status        SessionStatus
	RequestID     string // of the running or last turn
	Lease         *Lease // of the running turn; it may have expired: see Recoverable
	Recoverable   bool   // running, and its lease has expired
	RequestCount  uint64 // of those kept
	SnapshotCount uint64 // of those kept
	QueueLength   uint64
	CreatedAt     int64 // Unix ms
	UpdatedAt     int64
	ExpiresAt     int64 // Unix ms; 0 means never: see SetTTL
}

// SessionStatus is the status of a session.
type SessionStatus string

// The statuses. A session is waiting if and only if it has pending reviews; a running
// one has a lease, except in classic mode.
const (
	SessionNew        SessionStatus = "new"
	SessionRunning    SessionStatus = "running"
	SessionHibernated SessionStatus = "hibernated"
	SessionWaiting    SessionStatus = "waiting"
	SessionFinished   SessionStatus = "finished"
	SessionFailed     SessionStatus = "error"
	SessionCancelled  SessionStatus = "cancelled"
)

// SessionMode is the set of rules that a session follows.
type SessionMode string

const (
	// SessionModeLease runs each turn under a lease that expires. It is the default.
	SessionModeLease SessionMode = "lease"
	// SessionModeClassic has no leases: every write overwrites. A claim holds until a
	// result, a failure or a snapshot is put.
	SessionModeClassic SessionMode = "classic"
)

// BusyPolicy is what happens to a claim while a turn runs.
type BusyPolicy string

const (
	// BusyReject refuses the claim with session_already_running. It is the default.
	BusyReject BusyPolicy = "reject"
	// BusyEnqueue adds the claim to the session's queue.
	BusyEnqueue BusyPolicy = "enqueue"
	// BusyInterrupt starts the claim's turn: the running turn is fenced.
	BusyInterrupt BusyPolicy = "interrupt"
	// BusyRollback is BusyInterrupt, and the running turn's effects are undone.
	BusyRollback BusyPolicy = "rollback"
)

// Conversation is the state that one turn passes to the next.
type Conversation struct {
	AgentState             JSON   // an object
	ContinuationRevision   uint64 // grows by one with each turn that continues the conversation
	TurnCount              uint64
	ContextState           JSON // an object
	LastCompletedRequestID string
}

// Lease is a runner's right to a session's turn. It is the claim SessionClaim(id), and
// LeaseID names its epoch.
type Lease struct {
	LeaseID    string
	Owner      string
	RequestID  string
	Epoch      uint64
	AcquiredAt int64 // Unix ms
	ExpiresAt  int64 // Unix ms, for people: it ends by log time; see Claim
}

// Lineage names the session that a fork was made from.
type Lineage struct {
	Session     string
	Incarnation uint64
	Revision    uint64
	Snapshot    string // "" if it had none
}

// SessionRequest is a request that a turn answers.
type SessionRequest struct {
	ID       string
	Input    JSON   // any value
	Metadata JSON   // an object
	Owner    string // who claimed or queued it; the state machine sets it and the fields below
	At       int64  // Unix ms
	Outcome  RequestOutcome
}

// RequestOutcome is how a request's turn ended.
type RequestOutcome string

// The outcomes. A request that is running, paused or queued has none.
const (
	RequestOpen        RequestOutcome = ""
	RequestFinished    RequestOutcome = "finished"
	RequestFailed      RequestOutcome = "error"
	RequestCancelled   RequestOutcome = "cancelled"
	RequestInterrupted RequestOutcome = "interrupted"
	RequestRolledBack  RequestOutcome = "rolled_back"
)

// SessionSnapshot is a state of a turn from which it can continue.
type SessionSnapshot struct {
	ID        string // a later snapshot with the same id replaces it
	Agent     string // "" means the session's
	RequestID string // "" means the request that the turn answers
	Cursor    Cursor
	TurnState JSON  // an object
	Metadata  JSON  // an object
	At        int64 // Unix ms; the state machine sets it
}

// Cursor is the step of a turn at which a snapshot was taken.
type Cursor struct {
	Phase     CursorPhase
	LoopIndex uint64
	Metadata  JSON // an object
}

// CursorPhase is a step of a turn.
type CursorPhase string

// The phases.
const (
	PhaseStart        CursorPhase = "start"
	PhaseAfterPrompt  CursorPhase = "after_prompt"
	PhaseBeforeEffect CursorPhase = "before_effect"
	PhaseReview       CursorPhase = "review"
	PhaseWait         CursorPhase = "wait"
)

// Recovery is how a turn that was taken over continues: either Resume or Restart is
// set.
type Recovery struct {
	Resume  string // from the snapshot of this id
	Restart string // from the beginning, with the request of this id
}

// The codes of sessions and reviews. All of them mean that the call was not applied.
const (
	CodeSessionAlreadyRunning     Code = "session_already_running"              // another turn runs, and the session's BusyPolicy rejects the claim
	CodeSessionNotResumable       Code = "session_not_resumable"                // the session neither hibernates nor waits
	CodeSessionNotRecoverable     Code = "session_not_recoverable"              // no turn runs that could be taken over
	CodeSessionLeaseActive        Code = "session_lease_active"                 // the lease of the running turn is valid until ExpiresAt
	CodeSessionLeaseRequired      Code = "session_lease_required"               // a turn runs: only its lease holder may write the session
	CodeSessionLeaseExpired       Code = "session_lease_expired"                // the caller's lease has expired: the turn is lost
	CodeStaleSessionLease         Code = "stale_session_lease"                  // the session is under another lease: the turn is lost
	CodeStaleSessionRevision      Code = "stale_session_revision"               // the session has another revision, which Revision names
	CodeStaleConversationRevision Code = "stale_conversation_revision"          // the conversation has another continuation revision, which Revision names
	CodeInvalidConversation       Code = "invalid_conversation_commit_revision" // the new conversation does not follow the stored one, whose continuation revision is Revision
	CodeCheckpointMismatch        Code = "checkpoint_session_mismatch"          // the snapshot is of another agent or request than the turn
	CodeCommitMismatch            Code = "session_commit_mismatch"              // the commit is of another agent or request than the turn
	CodeMissingSnapshot           Code = "missing_session_snapshot"             // the session has no such snapshot
	CodeSessionQueueEmpty         Code = "session_queue_empty"                  // no request waits
	CodeUnsupportedSchema         Code = "unsupported_session_schema_version"   // see ValidSchema
	CodeReviewDecided             Code = "review_already_decided"               // a review is decided once
	CodeApprovalExpired           Code = "approval_expired"                     // the review expired before the decision, at ExpiresAt
	CodeApprovalMismatch          Code = "approval_interrupt_mismatch"          // the review is of another interrupt
)

// Prefixes of reserved claim names: leases of sessions and partitions have calls of
// their own.
const (
	sessionClaimPrefix   = "session:"
	PartitionClaimPrefix = "partition:"
)

// SessionClaim returns the claim of a session's lease. A commit with it and the
// lease's epoch as its fence applies only while the lease is valid.
func SessionClaim(session string) string { return sessionClaimPrefix + session }

// ValidSessionKey is ValidKey for a session: the name of its lease must be a valid key
// too.
func ValidSessionKey(field, id string) error {
	if len(id) > SessionIDBytesMax {
		return TooLarge(field, "session_id_bytes_max", len(id), SessionIDBytesMax)
	}
	return ValidKey(field, id)
}

func validSessionID(field, id string) error {
	return firstOf(ValidSessionKey(field, id), ValidID(field, id))
}

// ClaimedSession returns the session whose lease a claim is.
func ClaimedSession(claim string) (session string, ok bool) {
	return strings.CutPrefix(claim, sessionClaimPrefix)
}

const leasePrefix = "lease_"

// LeaseID returns the id of the lease with an epoch.
func LeaseID(epoch uint64) string { return leasePrefix + strconv.FormatUint(epoch, 10) }

// LeaseEpoch returns the epoch of a lease, or 0 if the id does not have the form of
// LeaseID.
func LeaseEpoch(lease string) uint64 {
	number, ok := strings.CutPrefix(lease, leasePrefix)
	if !ok {
		return 0
	}
	epoch, err := strconv.ParseUint(number, 10, 64)
	if err != nil || LeaseID(epoch) != lease {
		return 0
	}
	return epoch
}

// Fence returns the fence of a commit that applies only while the session's lease is
// valid; nil without a lease.
func (s SessionRow) Fence() *Fence {
	if s.Lease == nil {
		return nil
	}
	return &Fence{Claim: SessionClaim(s.ID), Epoch: s.Lease.Epoch}
}

// DecisionEntry returns the entry that the state machine adds to the session's thread
// when a review is decided or expires.
func (r Review) DecisionEntry() Draft {
	o := compactjson.NewObject()
	o.Text("review_id", r.ID)
	o.Text("status", string(r.Status))
	o.TextIfSet("operation", r.Operation)
	o.TextIfSet("by", r.DecidedBy)
	o.TextIfSet("note", r.Note)
	if r.Decided != nil {
		o.Raw("arguments", r.Decided)
	}
	return Draft{Kind: KindReviewDecision, Payload: o.Close(), Refs: turnRefs(r.Session, r.RequestID)}
}

// TurnRolledBackEntry returns the entry that the state machine adds to a session's
// thread when a turn is rolled back. Entries from seq from to seq to are the turn's.
func TurnRolledBackEntry(session, request string, from, to uint64) Draft {
	o := compactjson.NewObject()
	o.Raw("from_seq", strconv.AppendUint(nil, from, 10))
	o.Raw("to_seq", strconv.AppendUint(nil, to, 10))
	return Draft{Kind: KindTurnRolledBack, Payload: o.Close(), Refs: turnRefs(session, request)}
}

func turnRefs(session, request string) JSON {
	o := compactjson.NewObject()
	o.Text("session_id", session)
	o.TextIfSet("request_id", request)
	return o.Close()
}
