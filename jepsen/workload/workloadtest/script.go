// Package workloadtest makes histories by hand and at random for the tests of
// workloads' checks, and compares what a check finds with what it must find.
package workloadtest

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
	"dormouse/jepsen/workload"
)

// A Script is a history written by hand.
type Script []history.Op

// OK is a call that was answered, with times in milliseconds.
func OK(process, invoke, ret int, call, key string, in, out any) history.Op {
	return history.Op{
		Process: process, Call: call, Key: key, In: Raw(in), Out: Raw(out), Outcome: history.OK,
		Invoke: time.Duration(invoke) * time.Millisecond, Return: time.Duration(ret) * time.Millisecond,
	}
}

// Refused is the same call, which was refused with a code.
func Refused(op history.Op, code string) history.Op {
	op.Out, op.Outcome, op.Code = nil, history.Refused, code
	return op
}

// Unknown is the same call with an unknown outcome.
func Unknown(op history.Op) history.Op {
	op.Out, op.Outcome, op.Code, op.Return = nil, history.Unknown, "unknown", history.Never
	return op
}

// Raw returns v as JSON.
func Raw(v any) json.RawMessage {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return text
}

// History puts the calls in order and numbers them.
func (s Script) History(events ...history.Event) *history.History {
	ops := slices.Clone(s)
	slices.SortStableFunc(ops, func(a, b history.Op) int { return int(a.Invoke - b.Invoke) })
	for i := range ops {
		ops[i].ID = int64(i + 1)
	}
	return &history.History{Ops: ops, Events: events}
}

// Judged is what w's check says of a history.
func Judged(t *testing.T, w workload.Workload, h *history.History) check.Result {
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

// Expect holds a check to a verdict: the rule that must be found broken, or ""
// for a sound history.
func Expect(t *testing.T, r check.Result, rule string) {
	t.Helper()
	if rule == "" {
		if r.Verdict != check.OK {
			t.Errorf("a sound history is judged %s (%s): %v", r.Verdict, r.Why, Details(r))
		}
		return
	}
	if r.Verdict != check.Violation {
		t.Fatalf("the verdict is %s (%s), without %q", r.Verdict, r.Why, rule)
	}
	if !slices.ContainsFunc(r.Findings, func(f check.Finding) bool { return f.Rule == rule && len(f.Ops) > 0 && f.Detail != "" }) {
		t.Errorf("%q is not among the findings: %v", rule, Details(r))
	}
}

// Details returns the rule and the text of each finding.
func Details(r check.Result) (all []string) {
	for _, f := range r.Findings {
		all = append(all, f.Rule+": "+f.Detail)
	}
	return all
}

// GivesUp checks that the verdict is unknown where the time is up, and where there
// are no calls.
func GivesUp(t *testing.T, w workload.Workload, h *history.History) {
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

// TellsApart checks that a workload passes the histories of a sound store, and finds what is
// wrong with those that spoil has changed. spoil returns what it changed, "" if it
// could change nothing.
func TellsApart(t *testing.T, fresh func() workload.Workload, run func(seed uint64) *history.History, stream uint64, spoil func(*rand.Rand, *history.History) string) {
	t.Helper()
	caught := 0
	for seed := range uint64(60) {
		h := run(seed)
		Expect(t, Judged(t, fresh(), h), "")
		if what := spoil(rand.New(rand.NewPCG(seed, stream)), h); what != "" {
			caught++
			if r := Judged(t, fresh(), h); r.Verdict != check.Violation {
				t.Errorf("seed %d: %s goes unnoticed", seed, what)
			}
		}
	}
	if caught < 40 {
		t.Errorf("only %d runs could be spoilt", caught)
	}
}

// OfKeys is the history of so many keys, each a run of its own.
func OfKeys(keys int, name func(key int) string, run func(seed uint64) *history.History) *history.History {
	all := &history.History{}
	for key := range keys {
		for _, op := range run(uint64(key)).Ops {
			op.Key = name(key)
			all.Ops = append(all.Ops, op)
		}
	}
	return all
}

// Named names keys by a prefix and their number.
func Named(prefix string) func(key int) string {
	return func(key int) string { return fmt.Sprint(prefix, key) }
}

// Scales measures the judging of a sound history; 60 µs a call are a million
// calls a minute.
func Scales(b *testing.B, w workload.Workload, h *history.History) {
	b.Helper()
	for b.Loop() {
		if r := w.Check(b.Context(), h); r.Verdict != check.OK {
			b.Fatalf("%s: %+v", r.Verdict, r.Findings)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(h.Ops)), "ns/call")
}

// Check judges a script.
func Check(w workload.Workload, s Script) check.Result {
	return w.Check(context.Background(), s.History())
}

// Uint64 points to n.
func Uint64(n uint64) *uint64 { return &n }

// Of is the same calls on another key.
func (s Script) Of(key string) Script {
	for i := range s {
		s[i].Key = key
	}
	return s
}
