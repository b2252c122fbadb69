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

// FindingsKept is how many findings of a rule are kept: more show no more.
const FindingsKept = 3

// Findings collects what a check finds.
type Findings struct {
	Broken map[string]int // :: rule → how often it was broken
	Kept   []check.Finding
}

// Add notes that a rule was broken, and the calls that show it. It gives the
// finding, until the next is added; nil where enough of the rule are kept.
func (f *Findings) Add(rule, key string, ops []history.Op, format string, args ...any) *check.Finding {
	if f.Broken == nil {
		f.Broken = map[string]int{}
	}
	f.Broken[rule]++
	if f.Broken[rule] > FindingsKept {
		return nil
	}
	f.Kept = append(f.Kept, check.Finding{Rule: rule, Key: key, Detail: fmt.Sprintf(format, args...), Ops: ops})
	return &f.Kept[len(f.Kept)-1]
}

// ByKey judges a history key by key, and gives up as unknown when ctx ends or
// judge fails, which says that the history cannot be read.
func ByKey(ctx context.Context, name string, h *history.History, judge func(key string, ops []history.Op, f *Findings) error) check.Result {
	begun := time.Now()
	r := check.Result{Check: name, Verdict: check.OK, Counts: tally(h.Ops)}
	f := &Findings{}
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
	for rule, times := range f.Broken {
		r.Counts["broken: "+rule] = times
	}
	r.Findings = f.Kept
	switch {
	case len(f.Kept) > 0:
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

// RefusedAs reports whether a call was refused with a code.
func RefusedAs(op history.Op, code agent.Code) bool {
	return op.Outcome == history.Refused && op.Code == string(code)
}

// ShortestMax bounds the search for the shortest part of a history that has no
// order, and the drawing of a picture of it.
const ShortestMax = 10 * time.Second
