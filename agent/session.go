package agent

import (
	"strconv"
	"strings"
)

// Session is a conversation that outlives its runners: what it is about, what
// was asked, where its turns stopped, and who runs it now.
//
// Requests, Snapshots and Queue are oldest first, and what is kept of them is
// bounded: see SessionRequestsMax and its neighbours.
type Session struct {
	SessionRow
	SchemaVersion  uint64 // the caller's, from 1 to NewestSchema of its mode
	Spec           JSON   // an object, as are the next two
	Metadata       JSON
	Environment    JSON
	Conversation   Conversation
	Lineage        *Lineage // of a fork
	QueueMax       uint64   // claims that may wait where Busy is BusyEnqueue
	Thread         string   // where decisions and rollbacks are recorded; "" for nowhere
	Checkpoint     string   // the key that BusyRollback puts back; "" for none
	Result         JSON     // of the newest turn that finished; nil where none did
	Failure        JSON     // why the newest turn failed; nil where it did not
	Requests       []SessionRequest
	Snapshots      []SessionSnapshot
	Queue          []SessionRequest
	PendingReviews []Review // only where the session waits, in classic mode always
}

// SessionRow is a session without its contents, as lists and results show it.
type SessionRow struct {
	ID            string
	Incarnation   uint64
	Revision      uint64 // counts the writes, renewals too
	Mode          SessionMode
	Busy          BusyPolicy
	Agent         string
	Status        SessionStatus
	RequestID     string // of the turn that runs, or ran last
	Lease         *Lease // of the turn that runs, though it may have ended: see Recoverable
	Recoverable   bool   // running, and its lease has ended
	RequestCount  uint64 // of those kept
	SnapshotCount uint64 // of those kept
	QueueLength   uint64
	CreatedAt     int64 // Unix ms
	UpdatedAt     int64
	ExpiresAt     int64 // Unix ms; 0 means never: see SetTTL
}

// SessionStatus says where a session stands.
type SessionStatus string

// The statuses. One that waits has pending reviews, and the other way round;
// one that runs has a lease, but in classic mode.
const (
	SessionNew        SessionStatus = "new"
	SessionRunning    SessionStatus = "running"
	SessionHibernated SessionStatus = "hibernated"
	SessionWaiting    SessionStatus = "waiting"
	SessionFinished   SessionStatus = "finished"
	SessionFailed     SessionStatus = "error"
	SessionCancelled  SessionStatus = "cancelled"
)

// SessionMode says by which rules a session goes.
type SessionMode string

const (
	// SessionModeLease runs each turn under a lease that expires. It is the default.
	SessionModeLease SessionMode = "lease"
	// SessionModeClassic has no leases: whoever writes, overwrites; a claim stands
	// until a result, a failure or a snapshot is put.
	SessionModeClassic SessionMode = "classic"
)

// BusyPolicy says what becomes of a claim while a turn runs.
type BusyPolicy string

const (
	// BusyReject refuses it with session_already_running. It is the default.
	BusyReject BusyPolicy = "reject"
	// BusyEnqueue lets it wait, in order, in a queue of the session.
	BusyEnqueue BusyPolicy = "enqueue"
	// BusyInterrupt gives it the session: the turn that ran is fenced.
	BusyInterrupt BusyPolicy = "interrupt"
	// BusyRollback is BusyInterrupt, and what the turn did is undone.
	BusyRollback BusyPolicy = "rollback"
)

// Conversation is what one turn hands to the next.
type Conversation struct {
	AgentState             JSON   // an object
	ContinuationRevision   uint64 // grows by one with each turn that carries the conversation on
	TurnCount              uint64
	ContextState           JSON // an object
	LastCompletedRequestID string
}

// Lease is a runner's right to a session's turn: the claim SessionClaim(id).
// LeaseID names its epoch.
type Lease struct {
	LeaseID    string
	Owner      string
	RequestID  string
	Epoch      uint64
	AcquiredAt int64 // Unix ms
	ExpiresAt  int64 // Unix ms, for people: it ends by log time; see Claim
}

// Lineage says which session a fork came from.
type Lineage struct {
	Session     string
	Incarnation uint64
	Revision    uint64
	Snapshot    string // "" where it had none
}

// SessionRequest is what a turn is to answer.
type SessionRequest struct {
	ID       string
	Input    JSON   // any value
	Metadata JSON   // an object
	Owner    string // who claimed it, or had it queued; set by the state machine, as is what follows
	At       int64  // Unix ms
	Outcome  RequestOutcome
}

// RequestOutcome says how a request's turn ended.
type RequestOutcome string

// The outcomes. A request that runs, is paused or is still queued has none.
const (
	RequestOpen        RequestOutcome = ""
	RequestFinished    RequestOutcome = "finished"
	RequestFailed      RequestOutcome = "error"
	RequestCancelled   RequestOutcome = "cancelled"
	RequestInterrupted RequestOutcome = "interrupted"
	RequestRolledBack  RequestOutcome = "rolled_back"
)

// SessionSnapshot is where a turn stopped, or could go on after a crash.
type SessionSnapshot struct {
	ID        string // another one under the same id takes its place
	Agent     string // "" means the session's
	RequestID string // "" means the one that the turn answers
	Cursor    Cursor
	TurnState JSON  // an object
	Metadata  JSON  // an object
	At        int64 // Unix ms; set by the state machine
}

// Cursor says at which step of a turn a snapshot was taken.
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

// Recovery says how a turn goes on that was claimed again: exactly one of the
// two is set.
type Recovery struct {
	Resume  string // from the snapshot of this id
	Restart string // from the beginning, with the request of this id
}

// The codes of sessions and reviews, by the names that SEMANTICS §7 gives them.
const (
	CodeSessionAlreadyRunning     Code = "session_already_running"
	CodeSessionNotResumable       Code = "session_not_resumable"
	CodeSessionNotRecoverable     Code = "session_not_recoverable"
	CodeSessionLeaseActive        Code = "session_lease_active"
	CodeSessionLeaseRequired      Code = "session_lease_required"
	CodeSessionLeaseExpired       Code = "session_lease_expired"
	CodeStaleSessionLease         Code = "stale_session_lease"
	CodeStaleSessionRevision      Code = "stale_session_revision"
	CodeStaleConversationRevision Code = "stale_conversation_revision"
	CodeInvalidConversation       Code = "invalid_conversation_commit_revision"
	CodeCheckpointMismatch        Code = "checkpoint_session_mismatch"
	CodeCommitMismatch            Code = "session_commit_mismatch"
	CodeMissingSnapshot           Code = "missing_session_snapshot"
	CodeSessionQueueEmpty         Code = "session_queue_empty"
	CodeUnsupportedSchema         Code = "unsupported_session_schema_version"
	CodeReviewDecided             Code = "review_already_decided"
	CodeApprovalExpired           Code = "approval_expired"
	CodeApprovalMismatch          Code = "approval_interrupt_mismatch"
)

// Claims under these names stand for something: they are taken and given up by
// calls of their own.
const (
	sessionClaimPrefix   = "session:"
	partitionClaimPrefix = "partition:"
)

// SessionClaim is the claim that a session's lease is: a commit that carries
// it and the lease's epoch as its fence applies only while the lease stands.
func SessionClaim(session string) string { return sessionClaimPrefix + session }

// ValidSessionID is ValidID for a session's: its lease's name must be an id too.
func ValidSessionID(field, id string) error {
	if len(id) > SessionIDBytesMax {
		return TooLarge(field, "session_id_bytes_max", len(id), SessionIDBytesMax)
	}
	return ValidID(field, id)
}

// ClaimedSession is the session whose lease a claim is.
func ClaimedSession(claim string) (session string, ok bool) {
	return strings.CutPrefix(claim, sessionClaimPrefix)
}

const leasePrefix = "lease_"

// LeaseID names the lease that was given under an epoch.
func LeaseID(epoch uint64) string { return leasePrefix + strconv.FormatUint(epoch, 10) }

// LeaseEpoch is the epoch of a lease; 0 where the id is none of ours, and so
// names no lease that ever was.
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

// Fence is what a commit carries that is to apply only while the session's
// lease stands; nil where nobody holds one.
func (s SessionRow) Fence() *Fence {
	if s.Lease == nil {
		return nil
	}
	return &Fence{Claim: SessionClaim(s.ID), Epoch: s.Lease.Epoch}
}
