package client

import (
	"context"

	"dormouse/agent"
)

// Scope has the everyday calls, each one commit or one read, in one scope of
// one service. Reads are linearizable. A *Client embeds one of its own scope.
type Scope struct {
	service agent.Service
	name    string
	fence   *agent.Fence // of all that is written; nil means none
}

// In gives the calls in a scope of any service.
func In(service agent.Service, scope string) Scope {
	return Scope{service: service, name: scope}
}

// In gives the calls in another scope, without a fence: claims do not reach
// beyond theirs.
func (s Scope) In(scope string) Scope { return In(s.service, scope) }

// Under gives the calls under a claim that the caller holds: what they write is
// refused with fenced once that holding has ended, and all that comes after it.
func (s Scope) Under(c agent.Claim) Scope {
	s.fence = c.Fence()
	return s
}

// PutScope sets the scope's policy, creating it if there is none.
func (s Scope) PutScope(ctx context.Context, policy agent.Policy) (agent.Scope, error) {
	r, err := do[*agent.ScopeResult](ctx, s, &agent.PutScope{Policy: policy})
	if err != nil {
		return agent.Scope{}, err
	}
	return r.Scope, nil
}

// DeleteScope deletes the scope with all that is in it.
func (s Scope) DeleteScope(ctx context.Context) error {
	_, err := do[*agent.DeleteResult](ctx, s, &agent.DeleteScope{})
	return err
}

// GetScope reads the scope's counts and policy.
func (s Scope) GetScope(ctx context.Context) (*agent.Scope, error) {
	return ask[*agent.Scope](ctx, s, &agent.GetScope{})
}

// ListScopes lists all scopes, whichever this is.
func (s Scope) ListScopes(ctx context.Context, page agent.Page) (*agent.ScopeList, error) {
	return ask[*agent.ScopeList](ctx, s, &agent.ListScopes{Page: page})
}

// do commits one op and returns its result.
func do[R agent.OpResult](ctx context.Context, s Scope, op agent.Op) (R, error) {
	return doLast[R](ctx, s, op)
}

// doLast commits ops and returns the result of the last one.
func doLast[R agent.OpResult](ctx context.Context, s Scope, ops ...agent.Op) (R, error) {
	var none R
	res, err := s.service.Commit(ctx, agent.Commit{Scope: s.name, Fence: s.fence, Ops: ops})
	if err != nil {
		return none, err
	}
	if len(res.Results) != len(ops) {
		return none, agent.Errorf(agent.CodeInternal, "%d ops have %d results", len(ops), len(res.Results))
	}
	r, ok := res.Results[len(ops)-1].(R)
	if !ok {
		return none, agent.Errorf(agent.CodeInternal, "the result is a %T", res.Results[len(ops)-1])
	}
	return r, nil
}

// ask reads one thing.
func ask[F agent.Found](ctx context.Context, s Scope, read agent.Read) (F, error) {
	var none F
	answers, err := s.service.Read(ctx, agent.Reads{Scope: s.name, Reads: []agent.Read{read}})
	if err != nil {
		return none, err
	}
	if len(answers.Answers) != 1 {
		return none, agent.Errorf(agent.CodeInternal, "one read has %d answers", len(answers.Answers))
	}
	a := answers.Answers[0]
	if a.Err != nil {
		return none, a.Err
	}
	found, ok := a.Found.(F)
	if !ok {
		return none, agent.Errorf(agent.CodeInternal, "the answer is a %T", a.Found)
	}
	return found, nil
}
