package agent

import "time"

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
