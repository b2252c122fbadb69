package access

import (
	"context"

	"dormouse/agent"
)

// TokensByID finds tokens of this node's state by their ids.
type TokensByID interface {
	// TokenOf returns a token; false if this node knows none with the id.
	TokenOf(id string) (agent.Token, bool)
}

// Forwarded is a service for the commits that other nodes forward. They have checked the rights of their
// callers, and Forwarded checks them again by this node's own table of tokens. A token that this node does
// not know may be too new for it, or may have been revoked: the state machine decides about it. A
// principal without a token has rights by the configuration of the node that it called, which this
// node cannot check.
type Forwarded struct {
	agent.Submitter
	tokens  TokensByID
	refused func(c *agent.Commit, err error)
}

// NewForwarded returns that service. refused is called for each commit that is refused; nil means no calls.
func NewForwarded(inner agent.Submitter, tokens TokensByID, refused func(c *agent.Commit, err error)) *Forwarded {
	if refused == nil {
		refused = func(*agent.Commit, error) {}
	}
	return &Forwarded{inner, tokens, refused}
}

// Submit implements agent.Submitter.
func (f *Forwarded) Submit(ctx context.Context, c agent.Commit, done func(agent.Result, error)) {
	if err := f.check(&c); err != nil {
		done(agent.Result{}, err)
		return
	}
	f.Submitter.Submit(ctx, c, done)
}

// Commit implements agent.Service.
func (f *Forwarded) Commit(ctx context.Context, c agent.Commit) (agent.Result, error) {
	if err := f.check(&c); err != nil {
		return agent.Result{}, err
	}
	return f.Submitter.Commit(ctx, c)
}

// check returns an error if the commit's token does not allow it.
func (f *Forwarded) check(c *agent.Commit) error {
	if c.Token == "" {
		return nil
	}
	t, ok := f.tokens.TokenOf(c.Token)
	if !ok {
		return nil
	}
	err := mayCommitWith(t, c)
	if err != nil {
		f.refused(c, err)
	}
	return err
}

func mayCommitWith(t agent.Token, c *agent.Commit) error {
	if t.Principal != c.Principal {
		return agent.Errorf(agent.CodeUnauthenticated, "token %s does not belong to principal %q", t.ID, c.Principal)
	}
	return mayCommit(&Principal{Name: t.Principal, Grants: t.Grants, TokenID: t.ID, Source: SourceToken}, c)
}
