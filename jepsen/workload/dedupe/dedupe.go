// Package dedupe drives commits that are sent several times under one request
// id, and checks that each is applied at most once.
package dedupe

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"dormouse/agent"
	"dormouse/jepsen/history"
	"dormouse/jepsen/workload"
)

// dedupe repeats commits under one request id: at the same time through different
// nodes, after an unknown outcome, and late, when the answer may be forgotten. Each
// commit appends an entry without an id and writes a counter, so a second application
// is visible twice.
type dedupe struct {
	keys   *workload.Keys
	pool   requestPool
	tokens atomic.Int64 // number of entries so far; numbers them
}

const (
	keys     = 2
	calls    = 300
	hurryMax = 30 * time.Millisecond // longest timeout of an attempt that is cancelled early
)

// New returns workload dedupe.
func New() workload.Workload { return &dedupe{keys: workload.NewKeys("d", keys, calls)} }

func (*dedupe) Name() string { return "dedupe" }

func (*dedupe) About() string {
	return "commits sent again under their request ids, in parallel and late: each applies at most once, and gets one answer"
}

// The calls besides workload.CallRead.
const (
	callMismatch = "mismatch" // another commit under a request id that has been answered
)

// dedupeIn is an attempt of a commit. All attempts of one request are equal.
type dedupeIn struct {
	Token  int64   `json:"token"` // content of the entry and of the counter
	Client string  `json:"client,omitempty"`
	Seq    uint64  `json:"seq,omitempty"` // 0: the Go client numbers and repeats the request itself
	Low    uint64  `json:"low,omitempty"`
	Rev    *uint64 `json:"rev,omitempty"` // expected rev of the thread
}

// dedupeOut is the answer of a commit.
type dedupeOut struct {
	Refused     bool   `json:"refused,omitempty"` // conflict; Rev and Head are from the error
	Index       uint64 `json:"index,omitempty"`
	Time        int64  `json:"time,omitempty"`
	Incarnation uint64 `json:"incarnation,omitempty"`
	Rev         uint64 `json:"rev"`
	Head        string `json:"head,omitempty"`
	Entry       string `json:"entry,omitempty"` // its generated id
	Seq         uint64 `json:"seq"`
	Revision    uint64 `json:"revision,omitempty"` // revision of the counter
}

// dedupeState is a thread and its counter, read at one index.
type dedupeState struct {
	Rev      uint64   `json:"rev"`
	Tokens   []string `json:"tokens,omitempty"` // tokens of all entries
	Revision uint64   `json:"revision,omitempty"`
	Counter  string   `json:"counter,omitempty"` // the token in the counter
}

func (w *dedupe) Run(ctx context.Context, p *workload.Process) {
	for workload.Pace(ctx, p) {
		switch kind := p.Rand.IntN(20); {
		case kind < 5:
			key := w.keys.Pick(p)
			w.attempt(ctx, p, w.pool.post(p, key, w.draw(p, key)))
		case kind < 13:
			if r := w.pool.pick(p); r != nil {
				w.attempt(ctx, p, r)
			}
		case kind < 17:
			key := w.keys.Pick(p)
			_, _ = w.commit(ctx, workload.CallMax, p, workload.CallCommit, key, w.draw(p, key))
		case kind < 18:
			if r := w.pool.pick(p); r != nil && r.answered.Load() {
				other := r.in
				other.Token = w.tokens.Add(1)
				_, _ = w.commit(ctx, workload.CallMax, p, callMismatch, r.key, other)
			}
		default:
			if key := w.keys.Pick(p); p.Rand.IntN(2) == 0 {
				_, _ = w.read(ctx, p, key)
			}
		}
	}
}

// draw returns a new commit without a request id.
func (w *dedupe) draw(p *workload.Process, key string) dedupeIn {
	in := dedupeIn{Token: w.tokens.Add(1)}
	if p.Rand.IntN(4) == 0 {
		rev := w.pool.rev(key)
		in.Rev = &rev
	}
	return in
}

// attempt makes one attempt of a request. It cancels most attempts early.
func (w *dedupe) attempt(ctx context.Context, p *workload.Process, r *request) {
	most := workload.CallMax
	if p.Rand.IntN(3) > 0 {
		most = time.Duration(1 + p.Rand.Int64N(int64(hurryMax)))
	}
	out, err := w.commit(ctx, most, p, workload.CallCommit, r.key, r.in)
	if err != nil {
		return
	}
	r.answered.Store(true)
	w.pool.tell(r.key, out.Rev)
}

func (w *dedupe) commit(ctx context.Context, most time.Duration, p *workload.Process, call, key string, in dedupeIn) (dedupeOut, error) {
	return workload.CallFor(ctx, most, p, call, key, true, in, func(ctx context.Context) (dedupeOut, error) {
		token := fmt.Sprint(in.Token)
		result, err := p.Client.Commit(ctx, agent.Commit{
			Scope:   p.Scope,
			Request: agent.Request{Client: in.Client, Seq: in.Seq, Low: in.Low},
			Ops: []agent.Op{
				&agent.PutValue{Key: key, Bytes: []byte(token)},
				&agent.AppendThread{Thread: key, ExpectedRev: in.Rev, Entries: []agent.Draft{{Payload: agent.JSON(tokenPayload(token))}}},
			},
		})
		var e *agent.Error
		if errors.As(err, &e) && e.Code == agent.CodeConflict {
			return dedupeOut{Refused: true, Rev: e.Rev, Head: e.Head}, nil
		}
		if err != nil {
			return dedupeOut{}, err
		}
		return answer(result), nil
	})
}

// tokenPayload returns the payload of a token.
func tokenPayload(token string) string { return fmt.Sprintf(`{"token":%q}`, token) }

func answer(result agent.Result) dedupeOut {
	out := dedupeOut{Index: result.Index, Time: result.Time}
	for _, r := range result.Results {
		switch r := r.(type) {
		case *agent.ThreadResult:
			out.Incarnation, out.Rev, out.Head = r.Thread.Incarnation, r.Thread.Rev, r.Thread.Head.String()
			for _, stamp := range r.Entries {
				out.Entry, out.Seq = stamp.ID, stamp.Seq
			}
		case *agent.ValueResult:
			out.Revision = r.Revision
		}
	}
	return out
}

// Final reads every thread and counter.
func (w *dedupe) Final(ctx context.Context, p *workload.Process) error {
	return workload.FinalReads(ctx, w.keys.All(), func(key string) error {
		_, err := w.read(ctx, p, key)
		return err
	})
}

func (w *dedupe) read(ctx context.Context, p *workload.Process, key string) (dedupeState, error) {
	return workload.Call(ctx, p, workload.CallRead, key, false, struct{}{}, func(ctx context.Context) (state dedupeState, err error) {
		_, answers, err := workload.FindAll(ctx, p, &agent.LoadEntries{Thread: key, Limit: agent.EntriesLimitMax}, &agent.GetValue{Key: key})
		if err != nil {
			return state, err
		}
		for _, found := range answers {
			switch found := found.(type) {
			case *agent.Entries:
				state.Rev = found.Thread.Rev
				for _, e := range found.Items {
					state.Tokens = append(state.Tokens, tokenIn(e))
				}
			case *agent.Value:
				state.Revision, state.Counter = found.Revision, string(found.Bytes)
			}
		}
		return state, nil
	})
}

// tokenIn returns the token of an entry, or the whole payload if it has none.
func tokenIn(e agent.Entry) string {
	var payload struct{ Token string }
	if err := json.Unmarshal(e.Payload, &payload); err != nil || tokenPayload(payload.Token) != string(e.Payload) {
		return string(e.Payload)
	}
	return payload.Token
}

// attemptOf decodes a commit or a mismatch.
func attemptOf(op history.Op) (in dedupeIn, out dedupeOut, err error) {
	if in, err = history.Decode[dedupeIn](op.In); err == nil && op.Outcome == history.OK {
		out, err = history.Decode[dedupeOut](op.Out)
	}
	return in, out, err
}
