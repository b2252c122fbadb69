package workload

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"dormouse/agent"
	"dormouse/jepsen/check"
	"dormouse/jepsen/history"
)

// findingsKept is how many findings of a rule are kept: more show no more.
const findingsKept = 3

// findings collects what a check finds.
type findings struct {
	broken map[string]int // :: rule → how often it was broken
	kept   []check.Finding
}

// add notes that a rule was broken, and the calls that show it. It gives the
// finding, until the next is added; nil where enough of the rule are kept.
func (f *findings) add(rule, key string, ops []history.Op, format string, args ...any) *check.Finding {
	if f.broken == nil {
		f.broken = map[string]int{}
	}
	f.broken[rule]++
	if f.broken[rule] > findingsKept {
		return nil
	}
	f.kept = append(f.kept, check.Finding{Rule: rule, Key: key, Detail: fmt.Sprintf(format, args...), Ops: ops})
	return &f.kept[len(f.kept)-1]
}

// byKey judges a history key by key, and gives up as unknown when ctx ends or
// judge fails, which says that the history cannot be read.
func byKey(ctx context.Context, name string, h *history.History, judge func(key string, ops []history.Op, f *findings) error) check.Result {
	begun := time.Now()
	r := check.Result{Check: name, Verdict: check.OK, Counts: tally(h.Ops)}
	f := &findings{}
	keys := h.ByKey()
	r.Counts["keys"] = len(keys)
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if ctx.Err() != nil {
			r.Why = fmt.Sprintf("gave up after %d of %d calls: %v", r.Ops, len(h.Ops), context.Cause(ctx))
			break
		}
		if err := judge(key, keys[key], f); err != nil {
			r.Why = fmt.Sprintf("key %s: %v", key, err)
			break
		}
		r.Ops += len(keys[key])
	}
	if r.Ops == 0 && r.Why == "" {
		r.Why = "there are no calls to judge"
	}
	for rule, times := range f.broken {
		r.Counts["broken: "+rule] = times
	}
	r.Findings = f.kept
	switch {
	case len(f.kept) > 0:
		r.Verdict = check.Violation
	case r.Why != "":
		r.Verdict = check.Unknown
	}
	r.Took = time.Since(begun)
	return r
}

// tally counts calls by outcome and name: "ok read", "unknown commit".
func tally(ops []history.Op) map[string]int {
	type kind struct {
		outcome history.Outcome
		call    string
	}
	kinds := map[kind]int{}
	for i := range ops {
		kinds[kind{ops[i].Outcome, ops[i].Call}]++
	}
	counts := make(map[string]int, len(kinds))
	for k, n := range kinds {
		counts[string(k.outcome)+" "+k.call] = n
	}
	return counts
}

// refusedAs tells whether a call was refused with a code.
func refusedAs(op history.Op, code agent.Code) bool {
	return op.Outcome == history.Refused && op.Code == string(code)
}

// shortestMax bounds the search for the shortest part of a history that has no
// order, and the drawing of a picture of it.
const shortestMax = 10 * time.Second
