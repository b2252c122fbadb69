package workload

import (
	"context"
	"encoding/json"
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
