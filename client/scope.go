package client

import (
	"context"

	"dormouse/agent"
)

// Scope has the calls on one scope of one service, each of which is one commit or one
// linearizable read. The calls on one kind of object are methods of an embedded type, such
// as Threads or Checkpoints. A *Client embeds the Scope of its own scope. A Scope is a
// value: it needs no Close, and its methods may be called concurrently.
type Scope struct {
	target
	Agents
	Checkpoints
	Claims
	Conversations
	Managers
	Memories
	Reviews
	Sessions
	Threads
	Timers
	Values
}

// target is the scope of a service that calls go to.
type target struct {
	service agent.Service
	name    string
	fence   *agent.Fence // of all commits; nil means none
}

// Agents has the calls of a Scope on hibernation, forks and erasure of agents.
type Agents struct{ target }

// Checkpoints has the calls of a Scope on checkpoints.
type Checkpoints struct{ target }

// Claims has the calls of a Scope on claims.
type Claims struct{ target }

// Conversations has the calls of a Scope on conversations and their messages.
type Conversations struct{ target }

// Managers has the calls of a Scope on instance managers.
type Managers struct{ target }

// Memories has the calls of a Scope on memories.
type Memories struct{ target }

// Reviews has the calls of a Scope on reviews.
type Reviews struct{ target }

// Sessions has the calls of a Scope on sessions.
type Sessions struct{ target }

// Threads has the calls of a Scope on threads.
type Threads struct{ target }

// Timers has the calls of a Scope on timers.
type Timers struct{ target }

// Values has the calls of a Scope on values.
type Values struct{ target }

// In returns the calls on a scope of a service, such as a *Client; "" means its default
// scope. Any implementation of agent.Service serves, in tests agent/memstore.
func In(service agent.Service, scope string) Scope {
	return at(target{service: service, name: scope})
}

func at(t target) Scope {
	return Scope{
		target: t, Agents: Agents{t}, Checkpoints: Checkpoints{t}, Claims: Claims{t}, Conversations: Conversations{t},
		Managers: Managers{t}, Memories: Memories{t}, Reviews: Reviews{t}, Sessions: Sessions{t}, Threads: Threads{t},
		Timers: Timers{t}, Values: Values{t},
	}
}

// In returns the calls on another scope of the same service. They have no fence, because
// claims belong to one scope.
func (s Scope) In(scope string) Scope { return In(s.service, scope) }

// Under returns the calls under a claim that the caller holds: once the holding has
// ended, their writes are refused with fenced. Reads are not fenced.
func (s Scope) Under(c agent.Claim) Scope {
	t := s.target
	t.fence = c.Fence()
	return at(t)
}

// Apply commits ops, all or none, in the scope and under its fence. The result has one
// OpResult for each op, in order. The Op of an error is the index of the op that failed.
func (s Scope) Apply(ctx context.Context, ops ...agent.Op) (agent.Result, error) {
	return s.service.Commit(ctx, agent.Commit{Scope: s.name, Fence: s.fence, Ops: ops})
}

// ApplyAs commits ops as Apply does, under a request id of the caller, which it needs only if it
// sends the same ops again in another call, or with another client: they are applied at most once.
// Apply makes an id of its own for each call.
func (s Scope) ApplyAs(ctx context.Context, request agent.Request, ops ...agent.Op) (agent.Result, error) {
	return s.service.Commit(ctx, agent.Commit{Scope: s.name, Request: request, Fence: s.fence, Ops: ops})
}

// PutScope sets the scope's policy. It creates the scope if it does not exist.
func (s Scope) PutScope(ctx context.Context, policy agent.Policy) (agent.Scope, error) {
	r, err := do[*agent.ScopeResult](ctx, s.target, &agent.PutScope{Policy: policy})
	if err != nil {
		return agent.Scope{}, err
	}
	return r.Scope, nil
}

// PutDefaultPolicy sets the policy of all scopes that have none of their own.
func (s Scope) PutDefaultPolicy(ctx context.Context, policy agent.Policy) error {
	_, err := do[*agent.ScopeResult](ctx, s.target, &agent.PutScope{Default: true, Policy: policy})
	return err
}

// UseDefaultPolicy removes the scope's own policy, so that the default applies.
func (s Scope) UseDefaultPolicy(ctx context.Context) (agent.Scope, error) {
	r, err := do[*agent.ScopeResult](ctx, s.target, &agent.PutScope{UseDefault: true})
	if err != nil {
		return agent.Scope{}, err
	}
	return r.Scope, nil
}

// DefaultPolicy reads the policy of all scopes that have none of their own.
func (s Scope) DefaultPolicy(ctx context.Context) (agent.Policy, error) {
	found, err := ask[*agent.Scope](ctx, s.target, &agent.GetScope{Default: true})
	if err != nil {
		return agent.Policy{}, err
	}
	return found.Policy, nil
}

// IndexMetadata declares the members of metadata by which the scope's values, checkpoints and sessions
// are listed: at most agent.MetadataKeysMax. It replaces the keys that were declared before.
func (s Scope) IndexMetadata(ctx context.Context, keys ...string) (agent.Scope, error) {
	r, err := do[*agent.ScopeResult](ctx, s.target, &agent.IndexMetadata{Keys: keys})
	if err != nil {
		return agent.Scope{}, err
	}
	return r.Scope, nil
}

// DeleteScope deletes the scope and its contents. A policy of its own may stay: see agent.KeepsPolicy.
func (s Scope) DeleteScope(ctx context.Context) error {
	_, err := do[*agent.DeleteResult](ctx, s.target, &agent.DeleteScope{})
	return err
}

// GetScope reads the scope's usage and policy; not_found if it does not exist.
func (s Scope) GetScope(ctx context.Context) (*agent.Scope, error) {
	return ask[*agent.Scope](ctx, s.target, &agent.GetScope{})
}

// ListScopes lists all scopes, not only this one.
func (s Scope) ListScopes(ctx context.Context, page agent.Page) (*agent.ScopeList, error) {
	return ask[*agent.ScopeList](ctx, s.target, &agent.ListScopes{Page: page})
}

// Read makes several reads at one index: the answers are in the order of the reads, and each has
// either what it found or an error of its own. FoundIn returns them by type. At most agent.ReadsMax
// reads are allowed.
func (s Scope) Read(ctx context.Context, reads ...agent.Read) (agent.Answers, error) {
	answers, err := s.service.Read(ctx, agent.Reads{Scope: s.name, Reads: reads})
	if err == nil && len(answers.Answers) != len(reads) {
		err = agent.Errorf(agent.CodeInternal, "%d reads have %d answers", len(reads), len(answers.Answers))
	}
	return answers, err
}

// FoundIn returns the result of read i (from 0) in the answers of Read, or the error of that read.
// F is the type that the read finds, such as *agent.Value for an *agent.GetValue. Another type is an
// internal error.
func FoundIn[F agent.Found](a agent.Answers, i int) (F, error) {
	var none F
	if i < 0 || i >= len(a.Answers) {
		return none, agent.Errorf(agent.CodeInternal, "there are %d answers, and none has the number %d", len(a.Answers), i)
	}
	if err := a.Answers[i].Err; err != nil {
		return none, err
	}
	found, ok := a.Answers[i].Found.(F)
	if !ok {
		return none, agent.Errorf(agent.CodeInternal, "answer %d is a %T", i, a.Answers[i].Found)
	}
	return found, nil
}

// do commits one op and returns its result.
func do[R agent.OpResult](ctx context.Context, t target, op agent.Op) (R, error) {
	return doLast[R](ctx, t, op)
}

// doLast commits ops and returns the result of the last one.
func doLast[R agent.OpResult](ctx context.Context, t target, ops ...agent.Op) (R, error) {
	var none R
	res, err := t.service.Commit(ctx, agent.Commit{Scope: t.name, Fence: t.fence, Ops: ops})
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

// ask makes one read.
func ask[F agent.Found](ctx context.Context, t target, read agent.Read) (F, error) {
	answers, err := Scope{target: t}.Read(ctx, read)
	if err != nil {
		var none F
		return none, err
	}
	return FoundIn[F](answers, 0)
}
