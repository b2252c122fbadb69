package workload

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"dormouse/jepsen/check"
	"dormouse/jepsen/history"
)

// A script is a history written by hand.
type script []history.Op

// ok is a call that was answered, with times in milliseconds.
func ok(process, invoke, ret int, call, key string, in, out any) history.Op {
	return history.Op{
		Process: process, Call: call, Key: key, In: raw(in), Out: raw(out), Outcome: history.OK,
		Invoke: time.Duration(invoke) * time.Millisecond, Return: time.Duration(ret) * time.Millisecond,
	}
}

// refused and unknown are the same call with another end.
func refused(op history.Op, code string) history.Op {
	op.Out, op.Outcome, op.Code = nil, history.Refused, code
	return op
}

func unknown(op history.Op) history.Op {
	op.Out, op.Outcome, op.Code, op.Return = nil, history.Unknown, "unknown", history.Never
	return op
}

func raw(v any) json.RawMessage {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return text
}

// history puts the calls in order and numbers them.
func (s script) history(events ...history.Event) *history.History {
	ops := slices.Clone(s)
	slices.SortStableFunc(ops, func(a, b history.Op) int { return int(a.Invoke - b.Invoke) })
	for i := range ops {
		ops[i].ID = int64(i + 1)
	}
	return &history.History{Ops: ops, Events: events}
}

// judged is what w's check says of a history.
func judged(t *testing.T, w Workload, h *history.History) check.Result {
	t.Helper()
	for i := range h.Ops {
		h.Ops[i].Workload = w.Name()
	}
	r := w.Check(t.Context(), h)
	if r.Check != w.Name() {
		t.Errorf("the check calls itself %q", r.Check)
	}
	return r
}

// expect holds a check to a verdict: the rule that must be found broken, or ""
// for a sound history.
func expect(t *testing.T, r check.Result, rule string) {
	t.Helper()
	if rule == "" {
		if r.Verdict != check.OK {
			t.Errorf("a sound history is judged %s (%s): %v", r.Verdict, r.Why, details(r))
		}
		return
	}
	if r.Verdict != check.Violation {
		t.Fatalf("the verdict is %s (%s), without %q", r.Verdict, r.Why, rule)
	}
	if !slices.ContainsFunc(r.Findings, func(f check.Finding) bool { return f.Rule == rule && len(f.Ops) > 0 && f.Detail != "" }) {
		t.Errorf("%q is not among the findings: %v", rule, details(r))
	}
}

func details(r check.Result) (all []string) {
	for _, f := range r.Findings {
		all = append(all, f.Rule+": "+f.Detail)
	}
	return all
}

// givesUp: a check whose time is up says unknown, and so does one of nothing.
func givesUp(t *testing.T, w Workload, h *history.History) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r := w.Check(ctx, h); r.Verdict != check.Unknown || r.Why == "" {
		t.Errorf("out of time: %s (%s)", r.Verdict, r.Why)
	}
	if r := w.Check(t.Context(), &history.History{}); r.Verdict != check.Unknown || r.Why == "" {
		t.Errorf("nothing to judge: %s (%s)", r.Verdict, r.Why)
	}
}

// tellsApart: runs of a sound store pass, and those of them that spoil makes
// one that no sound store has do not. It says what it did; "" where it could
// not.
func tellsApart(t *testing.T, fresh func() Workload, run func(seed uint64) *history.History, stream uint64, spoil func(*rand.Rand, *history.History) string) {
	t.Helper()
	caught := 0
	for seed := range uint64(60) {
		h := run(seed)
		expect(t, judged(t, fresh(), h), "")
		if what := spoil(rand.New(rand.NewPCG(seed, stream)), h); what != "" {
			caught++
			if r := judged(t, fresh(), h); r.Verdict != check.Violation {
				t.Errorf("seed %d: %s goes unnoticed", seed, what)
			}
		}
	}
	if caught < 40 {
		t.Errorf("only %d runs could be spoilt", caught)
	}
}

// ofKeys is the history of so many keys, each a run of its own.
func ofKeys(keys int, name func(key int) string, run func(seed uint64) *history.History) *history.History {
	all := &history.History{}
	for key := range keys {
		for _, op := range run(uint64(key)).Ops {
			op.Key = name(key)
			all.Ops = append(all.Ops, op)
		}
	}
	return all
}

// named names keys by a prefix and their number.
func named(prefix string) func(key int) string {
	return func(key int) string { return fmt.Sprint(prefix, key) }
}

// scales measures the judging of a sound history; 60 µs a call are a million
// calls a minute.
func scales(b *testing.B, w Workload, h *history.History) {
	b.Helper()
	for b.Loop() {
		if r := w.Check(b.Context(), h); r.Verdict != check.OK {
			b.Fatalf("%s: %+v", r.Verdict, r.Findings)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(h.Ops)), "ns/call")
}

// check1 judges a script.
func check1(w Workload, s script) check.Result {
	return w.Check(context.Background(), s.history())
}

// is points to n.
func is(n uint64) *uint64 { return &n }

// of is the same calls on another key.
func (s script) of(key string) script {
	for i := range s {
		s[i].Key = key
	}
	return s
}
