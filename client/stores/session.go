package stores

import (
	"context"

	"dormouse/agent"
	"dormouse/client"
)

// SessionStore stores sessions. client.Scope implements it and documents the calls.
type SessionStore interface {
	StartSession(ctx context.Context, start agent.PutSession) (agent.SessionRow, error)
	PutSession(ctx context.Context, put agent.PutSession) (agent.SessionRow, error)
	GetSession(ctx context.Context, session string) (*agent.Session, error)
	ListSessions(ctx context.Context, list agent.ListSessions) (*agent.SessionList, error)
	CancelSession(ctx context.Context, cancel agent.CancelSession) (agent.SessionRow, error)
	ForkSession(ctx context.Context, fork agent.ForkSession) (agent.SessionRow, error)
	DeleteSession(ctx context.Context, remove agent.DeleteSession) (*agent.DeleteResult, error)
}

// SessionLeases has the six calls of turns with leases; a store has all of them or
// none. client.Scope implements it.
type SessionLeases interface {
	ClaimSession(ctx context.Context, claim agent.ClaimSession) (*agent.SessionResult, error)
	ResumeSession(ctx context.Context, resume agent.ResumeSession) (*agent.SessionResult, error)
	RecoverSession(ctx context.Context, take agent.RecoverSession) (*agent.SessionResult, error)
	CheckpointSession(ctx context.Context, checkpoint agent.CheckpointSession) (agent.SessionRow, error)
	CommitSession(ctx context.Context, commit agent.CommitSession) (agent.SessionRow, error)
	RenewSession(ctx context.Context, renew agent.RenewSession) (agent.SessionRow, error)
}

var (
	_ SessionStore  = client.Scope{}
	_ SessionLeases = client.Scope{}
)
