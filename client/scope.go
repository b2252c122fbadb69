package client

import (
	"context"
	"time"

	"google.golang.org/grpc"

	"dormouse/agent"
	"dormouse/api/convert"
	"dormouse/internal/retry"
	apipb "dormouse/proto/api"
)

// Scope has the calls on one scope of one service, each of which is one commit or one
// read. Reads are linearizable. The calls on one noun are methods of the type of that
// noun, which Scope embeds. A *Client embeds the Scope of its own scope.
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

// In returns the calls on a scope of a service.
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

// In returns the calls on another scope, without a fence, because claims belong to one
// scope.
func (s Scope) In(scope string) Scope { return In(s.service, scope) }

// Under returns the calls under a claim that the caller holds: once the holding has
// ended, their writes are refused with fenced.
func (s Scope) Under(c agent.Claim) Scope {
	t := s.target
	t.fence = c.Fence()
	return at(t)
}

// Apply commits ops, all or none, in the scope and under its fence.
func (s Scope) Apply(ctx context.Context, ops ...agent.Op) (agent.Result, error) {
	return s.service.Commit(ctx, agent.Commit{Scope: s.name, Fence: s.fence, Ops: ops})
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

// GetScope reads the scope's usage and policy.
func (s Scope) GetScope(ctx context.Context) (*agent.Scope, error) {
	return ask[*agent.Scope](ctx, s.target, &agent.GetScope{})
}

// ListScopes lists all scopes, not only this one.
func (s Scope) ListScopes(ctx context.Context, page agent.Page) (*agent.ScopeList, error) {
	return ask[*agent.ScopeList](ctx, s.target, &agent.ListScopes{Page: page})
}

// Read makes several reads at one index: the answers are in the order of the reads, and each has
// either what it found or an error of its own. At most agent.ReadsMax reads are allowed.
func (s Scope) Read(ctx context.Context, reads ...agent.Read) (agent.Answers, error) {
	answers, err := s.service.Read(ctx, agent.Reads{Scope: s.name, Reads: reads})
	if err == nil && len(answers.Answers) != len(reads) {
		err = agent.Errorf(agent.CodeInternal, "%d reads have %d answers", len(reads), len(answers.Answers))
	}
	return answers, err
}

// FoundIn returns what read i of several found, or its error.
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

// exportHeldMax bounds the bytes of an export that the client holds back, so that it can begin again.
const exportHeldMax = 4 << 20

// ExportScope calls write with the rows of a scope; see layout.Operator. If the node stops or cannot
// serve, the export begins again at another node, until the client's timeout has passed without a part
// of it. It holds back the first 4 MiB for that. Once write was called an error is final, since another
// node has no state of the same index: discard the output and export again.
func (c *Client) ExportScope(ctx context.Context, scope string, write func(agent.ScopePart) error) error {
	e := &scopeExport{scope: scope, write: write, heard: time.Now()}
	for wait := retry.New(backoffFirst, backoffMost); ; {
		err := e.attempt(ctx, c)
		again := err != nil && !e.handing && agent.Retryable(err) && c.pool.ctx.Err() == nil && time.Since(e.heard) < c.o.Timeout
		if !again || !wait.Wait(ctx) {
			return err
		}
	}
}

// scopeExport is an export that may begin again.
type scopeExport struct {
	scope   string
	write   func(agent.ScopePart) error
	held    []agent.ScopePart
	bytes   int       // of held
	handing bool      // write was called
	failed  error     // of write
	heard   time.Time // when the last part came
}

// attempt exports from one node.
func (e *scopeExport) attempt(ctx context.Context, c *Client) error {
	waiting, cancel := c.bounded(ctx)
	l, release, err := c.pool.wait(waiting)
	cancel()
	if err != nil {
		return err
	}
	defer release()
	e.held, e.bytes = nil, 0
	_, err = attemptUntilSilent(ctx, c, l.conn, func(ctx context.Context, conn *grpc.ClientConn) (struct{}, error) {
		open := func(ctx context.Context, api apipb.ClusterClient) (grpc.ServerStreamingClient[apipb.ExportScopeChunk], error) {
			return api.ExportScope(ctx, &apipb.ExportScopeRequest{Scope: e.scope})
		}
		return struct{}{}, receiveFrom(ctx, conn, open, func(part *apipb.ExportScopeChunk) error { return e.take(convert.ScopePartFromProto(part)) })
	})
	switch {
	case e.failed != nil:
		return e.failed
	case err == nil:
		return e.hand()
	case agent.CodeOf(err) == agent.CodeUnknown: // the node is silent
		err = agent.Errorf(agent.CodeUnavailable, "%v", err)
	}
	if agent.CodeOf(err) == agent.CodeUnavailable {
		c.pool.markUnhealthy(l)
	}
	return err
}

// take holds a part back, or hands it on once too much is held.
func (e *scopeExport) take(part agent.ScopePart) error {
	e.heard = time.Now()
	e.held, e.bytes = append(e.held, part), e.bytes+len(part.Rows)
	if !e.handing && e.bytes <= exportHeldMax {
		return nil
	}
	return e.hand()
}

// hand hands on what is held.
func (e *scopeExport) hand() error {
	e.handing = true
	for _, part := range e.held {
		if e.failed = e.write(part); e.failed != nil {
			return e.failed
		}
	}
	e.held, e.bytes = nil, 0
	return nil
}
