package command_test

import (
	"time"

	"pgregory.net/rapid"

	"dormouse/agent"
)

// any1 draws a T with arbitrary content.
func any1[T any](t *rapid.T) *T {
	v := rapid.Make[T]().Draw(t, "v")
	return &v
}

// spans rounds TTLs to whole milliseconds.
func spans(t *rapid.T, drafts []agent.ReviewDraft, ttl ...*time.Duration) {
	for i := range drafts {
		ttl = append(ttl, &drafts[i].TTL, &drafts[i].EscalateAfter)
	}
	for _, d := range ttl {
		*d = genTTL.Draw(t, "span")
	}
}

// genSessionOps has a generator for every kind of op on sessions and reviews.
var genSessionOps = []*rapid.Generator[agent.Op]{
	rapid.Custom(func(t *rapid.T) agent.Op { return any1[agent.PutSession](t) }),
	rapid.Custom(func(t *rapid.T) agent.Op {
		o := any1[agent.ClaimSession](t)
		spans(t, nil, &o.TTL)
		return o
	}),
	rapid.Custom(func(t *rapid.T) agent.Op {
		o := any1[agent.ResumeSession](t)
		spans(t, nil, &o.TTL)
		return o
	}),
	rapid.Custom(func(t *rapid.T) agent.Op {
		o := any1[agent.RecoverSession](t)
		spans(t, nil, &o.TTL)
		return o
	}),
	rapid.Custom(func(t *rapid.T) agent.Op {
		o := any1[agent.CheckpointSession](t)
		spans(t, o.Reviews, &o.TTL)
		return o
	}),
	rapid.Custom(func(t *rapid.T) agent.Op {
		o := any1[agent.CommitSession](t)
		spans(t, o.Reviews)
		return o
	}),
	rapid.Custom(func(t *rapid.T) agent.Op {
		o := any1[agent.RenewSession](t)
		spans(t, nil, &o.TTL)
		return o
	}),
	rapid.Custom(func(t *rapid.T) agent.Op { return any1[agent.CancelSession](t) }),
	rapid.Custom(func(t *rapid.T) agent.Op { return any1[agent.ForkSession](t) }),
	rapid.Custom(func(t *rapid.T) agent.Op {
		o := any1[agent.DeleteSession](t)
		spans(t, nil, &o.Seal)
		return o
	}),
	rapid.Custom(func(t *rapid.T) agent.Op { return any1[agent.DecideReview](t) }),
}

var genSessionResult = rapid.OneOf(
	rapid.Custom(func(t *rapid.T) agent.OpResult { return any1[agent.SessionResult](t) }),
	rapid.Custom(func(t *rapid.T) agent.OpResult { return any1[agent.ReviewResult](t) }),
)

func init() { genOps = append(genOps, genSessionOps...) }

// sessionOverflows is overflows for ops on sessions.
func sessionOverflows(op agent.Op) bool {
	var spans []time.Duration
	var reviews []agent.ReviewDraft
	switch o := op.(type) {
	case *agent.ClaimSession:
		spans = append(spans, o.TTL)
	case *agent.ResumeSession:
		spans = append(spans, o.TTL)
	case *agent.RecoverSession:
		spans = append(spans, o.TTL)
	case *agent.CheckpointSession:
		spans, reviews = append(spans, o.TTL), o.Reviews
	case *agent.CommitSession:
		reviews = o.Reviews
	case *agent.RenewSession:
		spans = append(spans, o.TTL)
	case *agent.EraseAgent:
		spans = append(spans, o.Seal)
	case *agent.SetTTL:
		spans = append(spans, o.TTL)
	case *agent.DeleteSession:
		spans = append(spans, o.Seal)
	}
	for _, d := range reviews {
		spans = append(spans, d.TTL, d.EscalateAfter)
	}
	for _, d := range spans {
		if d < 0 || d > agent.TTLMax {
			return true
		}
	}
	return false
}
