package agent

import "time"

// PutSession writes a session, except its requests, snapshots, queue and reviews.
// Without IfRevision it only creates: an existing session is already_exists. With it,
// the session must have no lease and a revision of at most IfRevision; its revision is
// then IfRevision + 1. In classic mode it overwrites any session, unless IfRevision is
// 0.
type PutSession struct {
	SessionSettings
	Session       string
	Mode          SessionMode // "" means SessionModeLease, or the current one
	Agent         string
	Spec          JSON
	Metadata      JSON
	Environment   JSON
	Status        SessionStatus // "" means SessionNew, or the current one; never SessionRunning or SessionWaiting
	Conversation  *Conversation // nil means an empty one, or the current one
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

// SessionResult is the result of all ops on sessions except deletes: the session after
// the op; for a fork, the new session.
type SessionResult struct {
	Session  SessionRow // its Lease is the caller's, or nil; a queued claim does not see the running turn's lease
	Recovery *Recovery  // of ResumeSession and RecoverSession
	Queued   uint64     // of ClaimSession: the position in the queue, from 1; 0 if the request runs
}

func (*SessionResult) isOpResult() {}
