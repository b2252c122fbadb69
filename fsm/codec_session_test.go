package fsm_test

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

// spans gives what is a time to live a whole number of milliseconds.
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

// sessionSeeds are ops on sessions and whole agents for the fuzz corpora, each such that it
// means something after those before it.
func sessionSeeds() []agent.Op {
	lease := agent.LeaseID(1<<16 + 2)
	return []agent.Op{
		&agent.PutSession{Session: "s", Agent: "a", Busy: agent.BusyRollback, Thread: "t", Checkpoint: "c", Conversation: &agent.Conversation{TurnCount: 1}},
		&agent.ClaimSession{Session: "s", Owner: "o", Request: asking("q"), ConversationRevision: ptr(uint64(0))},
		&agent.CheckpointSession{Session: "s", LeaseID: lease, Owner: "o", Snapshot: snapshot("n"), Reviews: []agent.ReviewDraft{{ID: "v", TTL: 1e9}}},
		&agent.RenewSession{Session: "s", LeaseID: lease, Owner: "o"},
		&agent.CommitSession{Session: "s", LeaseID: lease, Owner: "o", Status: agent.SessionWaiting},
		&agent.DecideReview{Review: "v", Decision: agent.DecideEdit, By: "b", Arguments: agent.JSON(`{}`)},
		&agent.ResumeSession{Session: "s", Owner: "o"}, &agent.RecoverSession{Session: "s", Owner: "o"},
		&agent.ForkAgent{Agent: "c", NewAgent: "d", NewThread: "d"}, &agent.SetTTL{Thread: "t", TTL: 1e9}, &agent.EraseAgent{Agent: "a", Seal: 1e9},
		&agent.CancelSession{Session: "s"}, &agent.ForkSession{Session: "s", NewSession: "u"}, &agent.DeleteSession{Session: "s", Seal: 1e9},
	}
}

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
