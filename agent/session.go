package agent

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
