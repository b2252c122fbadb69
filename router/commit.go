package router

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/trace"

	"dormouse/agent"
	"dormouse/internal/retry"
	"dormouse/internal/tracing"
)

// attempt is one commit that is being sent to the leader.
type attempt struct {
	router *Router
	ctx    context.Context //nolint:containedctx // the caller's, carried over retries that no goroutine waits for
	commit agent.Commit
	done   func(agent.Result, error)
	giveUp time.Time
	pause  *retry.Backoff
}

// Submit implements agent.Submitter.
func (r *Router) Submit(ctx context.Context, c agent.Commit, done func(agent.Result, error)) {
	if err := c.Validate(); err != nil {
		done(agent.Result{}, err)
		return
	}
	if r.group.IsLeader() { // the common case keeps no attempt at all
		r.local.Submit(ctx, c, func(result agent.Result, err error) {
			if agent.CodeOf(err) == agent.CodeUnavailable {
				r.newAttempt(ctx, c, done).later(err)
				return
			}
			done(result, err)
		})
		return
	}
	r.newAttempt(ctx, c, done).try()
}

func (r *Router) newAttempt(ctx context.Context, c agent.Commit, done func(agent.Result, error)) *attempt {
	return &attempt{
		router: r, ctx: ctx, commit: c, done: done, giveUp: time.Now().Add(leaderWaitTimeout),
		pause: newBackoff(),
	}
}

// try sends the commit to the current leader, as far as this node knows it.
func (a *attempt) try() {
	if a.router.group.IsLeader() {
		a.router.local.Submit(a.ctx, a.commit, a.decided)
		return
	}
	_, addr := a.router.group.Leader()
	if addr == "" {
		a.later(agent.Errorf(agent.CodeUnavailable, "no leader is known; is a majority of the voters up?"))
		return
	}
	if err := a.router.local.Supports(&a.commit); err != nil {
		a.later(err)
		return
	}
	parts := tracing.PartsOf(a.ctx)
	parts.Send()
	ctx, span := tracing.Child(a.ctx, "forward to the leader", trace.WithSpanKind(trace.SpanKindClient))
	a.router.peers.Submit(ctx, addr, a.commit, func(result agent.Result, err error) {
		parts.Answer()
		tracing.End(span, err)
		a.decided(result, err)
	})
}

func (a *attempt) decided(result agent.Result, err error) {
	if agent.CodeOf(err) == agent.CodeUnavailable {
		a.later(err)
		return
	}
	a.done(result, err)
}

// later tries again after a pause, or gives up with err, which says that the commit was definitely
// not applied.
func (a *attempt) later(err error) {
	pause := a.pause.Next()
	r := a.router
	switch {
	case a.ctx.Err() != nil, time.Now().Add(pause).After(a.giveUp):
		a.done(agent.Result{}, err)
		return
	case r.waiting.Add(1) > waitingMax:
		r.waiting.Add(-1)
		a.done(agent.Result{}, &agent.Error{
			Code: agent.CodeOverloaded, Op: -1, RetryAfterMS: 1000,
			Detail: "too many commits wait for a leader",
		})
		return
	}
	if !r.begin() { // the node is stopping
		r.waiting.Add(-1)
		a.done(agent.Result{}, err)
		return
	}
	time.AfterFunc(pause, func() {
		defer r.work.Done()
		r.waiting.Add(-1)
		a.try()
	})
}

// newBackoff returns the pauses of calls between attempts to find a leader. They are much shorter
// than an election.
func newBackoff() *retry.Backoff { return retry.New(10*time.Millisecond, 250*time.Millisecond) }
