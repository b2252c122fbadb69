package client

import (
	"context"

	"dormouse/agent"
)

// StartSession creates a session; already_exists where there is one.
func (s Scope) StartSession(ctx context.Context, start agent.PutSession) (agent.SessionRow, error) {
	none := uint64(0) // in classic mode a put without it would write over what is there
	start.IfRevision = &none
	return s.PutSession(ctx, start)
}

// PutSession creates a session or, where IfRevision is given, writes over one
// that has no lease.
func (s Scope) PutSession(ctx context.Context, put agent.PutSession) (agent.SessionRow, error) {
	return s.session(ctx, &put)
}

// ClaimSession begins a turn under a new lease, which the result's Session
// has. What the turn writes goes UnderLease of it. Where the result has none,
// the request waits behind the turn that runs: whoever claims the session next
// gets the one that waited longest, which may be another than its own.
func (s Scope) ClaimSession(ctx context.Context, claim agent.ClaimSession) (*agent.SessionResult, error) {
	return do[*agent.SessionResult](ctx, s, &claim)
}

// ResumeSession takes a turn up again that hibernates or waits, under a new
// lease. The result's Recovery names the snapshot to go on from.
func (s Scope) ResumeSession(ctx context.Context, resume agent.ResumeSession) (*agent.SessionResult, error) {
	return do[*agent.SessionResult](ctx, s, &resume)
}

// RecoverSession takes over a turn whose lease has expired. The result's
// Recovery names the snapshot to go on from, or the request to begin again with.
func (s Scope) RecoverSession(ctx context.Context, take agent.RecoverSession) (*agent.SessionResult, error) {
	return do[*agent.SessionResult](ctx, s, &take)
}

// CheckpointSession keeps a snapshot of the turn that runs and renews its lease.
func (s Scope) CheckpointSession(ctx context.Context, checkpoint agent.CheckpointSession) (agent.SessionRow, error) {
	return s.session(ctx, &checkpoint)
}

// CommitSession ends the turn that runs, and its lease.
func (s Scope) CommitSession(ctx context.Context, commit agent.CommitSession) (agent.SessionRow, error) {
	return s.session(ctx, &commit)
}

// RenewSession gives a lease its full ttl again; renew every third of it.
// stale_session_lease and session_lease_expired mean that the turn is lost.
func (s Scope) RenewSession(ctx context.Context, renew agent.RenewSession) (agent.SessionRow, error) {
	return s.session(ctx, &renew)
}

// CancelSession ends whatever the session does; the turn that runs is fenced.
func (s Scope) CancelSession(ctx context.Context, cancel agent.CancelSession) (agent.SessionRow, error) {
	return s.session(ctx, &cancel)
}

// ForkSession makes another session of one that does not run, and returns it.
func (s Scope) ForkSession(ctx context.Context, fork agent.ForkSession) (agent.SessionRow, error) {
	return s.session(ctx, &fork)
}

func (s Scope) session(ctx context.Context, op agent.Op) (agent.SessionRow, error) {
	r, err := do[*agent.SessionResult](ctx, s, op)
	if err != nil {
		return agent.SessionRow{}, err
	}
	return r.Session, nil
}

// UnderLease gives the calls under the lease of a turn: what they write is
// refused with fenced once it has ended. A session without a lease, as in
// classic mode, gives them as they are.
func (s Scope) UnderLease(row agent.SessionRow) Scope {
	if fence := row.Fence(); fence != nil {
		s.fence = fence
	}
	return s
}

// DeleteSession deletes a session with its lease and its reviews; a missing
// one is fine.
func (s Scope) DeleteSession(ctx context.Context, del agent.DeleteSession) (*agent.DeleteResult, error) {
	return do[*agent.DeleteResult](ctx, s, &del)
}

// GetSession reads a session with all that is kept of it; not_found where
// there is none.
func (s Scope) GetSession(ctx context.Context, session string) (*agent.Session, error) {
	return ask[*agent.Session](ctx, s, &agent.GetSession{Session: session})
}

// ListSessions lists sessions in id order: all of them, or by one of status,
// owner, agent and recoverability.
func (s Scope) ListSessions(ctx context.Context, list agent.ListSessions) (*agent.SessionList, error) {
	return ask[*agent.SessionList](ctx, s, &list)
}
