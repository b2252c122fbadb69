package client

import (
	"context"
	"time"

	"dormouse/agent"
)

// StartSession creates a session; already_exists if it exists.
func (s Sessions) StartSession(ctx context.Context, start agent.PutSession) (agent.SessionRow, error) {
	none := uint64(0) // a put without it would overwrite a session in classic mode
	start.IfRevision = &none
	return s.PutSession(ctx, start)
}

// PutSession creates a session or, with IfRevision, overwrites one without a lease.
func (s Sessions) PutSession(ctx context.Context, put agent.PutSession) (agent.SessionRow, error) {
	return s.session(ctx, &put)
}

// ClaimSession begins a turn under a new lease, which is in the result's Session. Use
// UnderLease for the turn's writes. If the result has no lease, the request is queued
// behind the running turn. The next claim of the session gets the oldest queued
// request, which may not be its own.
func (s Sessions) ClaimSession(ctx context.Context, claim agent.ClaimSession) (*agent.SessionResult, error) {
	return do[*agent.SessionResult](ctx, s.target, &claim)
}

// ResumeSession continues a hibernated or waiting turn under a new lease. The result's
// Recovery names the snapshot to continue from. The error is session_not_resumable if the
// session is in another status.
func (s Sessions) ResumeSession(ctx context.Context, resume agent.ResumeSession) (*agent.SessionResult, error) {
	return do[*agent.SessionResult](ctx, s.target, &resume)
}

// RecoverSession takes over a turn whose lease has expired. The result's Recovery
// names the snapshot to continue from, or the request to start again. The error is
// session_lease_active before the lease expires.
func (s Sessions) RecoverSession(ctx context.Context, take agent.RecoverSession) (*agent.SessionResult, error) {
	return do[*agent.SessionResult](ctx, s.target, &take)
}

// CheckpointSession stores a snapshot of the running turn and renews its lease.
// stale_session_lease and session_lease_expired mean that the turn is lost.
func (s Sessions) CheckpointSession(ctx context.Context, checkpoint agent.CheckpointSession) (agent.SessionRow, error) {
	return s.session(ctx, &checkpoint)
}

// CommitSession ends the running turn and its lease. stale_session_lease and
// session_lease_expired mean that the turn was lost before, and nothing was stored.
func (s Sessions) CommitSession(ctx context.Context, commit agent.CommitSession) (agent.SessionRow, error) {
	return s.session(ctx, &commit)
}

// RenewSession restarts the full ttl of a lease; renew every third of it.
// stale_session_lease and session_lease_expired mean that the turn is lost.
func (s Sessions) RenewSession(ctx context.Context, renew agent.RenewSession) (agent.SessionRow, error) {
	return s.session(ctx, &renew)
}

// CancelSession ends the session's running turn, and drops its queue and its pending reviews.
// Later writes of that turn are refused with fenced.
func (s Sessions) CancelSession(ctx context.Context, cancel agent.CancelSession) (agent.SessionRow, error) {
	return s.session(ctx, &cancel)
}

// ForkSession copies a session that is not running, and returns the copy.
func (s Sessions) ForkSession(ctx context.Context, fork agent.ForkSession) (agent.SessionRow, error) {
	return s.session(ctx, &fork)
}

func (s Sessions) session(ctx context.Context, op agent.Op) (agent.SessionRow, error) {
	r, err := do[*agent.SessionResult](ctx, s.target, op)
	if err != nil {
		return agent.SessionRow{}, err
	}
	return r.Session, nil
}

// UnderLease returns the calls under the lease of a turn: once it has ended, their
// writes are refused with fenced. A session without a lease, as in classic mode,
// changes nothing.
func (s Scope) UnderLease(row agent.SessionRow) Scope {
	t := s.target
	if fence := row.Fence(); fence != nil {
		t.fence = fence
	}
	return at(t)
}

// DeleteSession deletes a session with its lease and its reviews; deleting a missing
// one succeeds.
func (s Sessions) DeleteSession(ctx context.Context, del agent.DeleteSession) (*agent.DeleteResult, error) {
	return do[*agent.DeleteResult](ctx, s.target, &del)
}

// GetSession reads a whole session; not_found if it does not exist.
func (s Sessions) GetSession(ctx context.Context, session string) (*agent.Session, error) {
	return ask[*agent.Session](ctx, s.target, &agent.GetSession{Session: session})
}

// ListSessions lists sessions in id order: all, or filtered by status, owner, agent or
// recoverability.
func (s Sessions) ListSessions(ctx context.Context, list agent.ListSessions) (*agent.SessionList, error) {
	return ask[*agent.SessionList](ctx, s.target, &list)
}

// SetSessionTTL sets when a session expires; 0 means never.
func (s Sessions) SetSessionTTL(ctx context.Context, session string, ttl time.Duration) (agent.SessionRow, error) {
	return s.session(ctx, &agent.SetTTL{Session: session, TTL: ttl})
}
