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

// FindingsKept bounds the findings of a rule that are kept.
const FindingsKept = 3

// Findings collects the findings of a check.
type Findings struct {
	Broken map[string]int // :: rule → how often it was broken
	Kept   []check.Finding
}

// Add records that a rule was broken, with the calls that show it. It returns the
// finding, valid until the next Add, or nil if enough findings of the rule are kept.
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

// ByKey judges a history key by key. The verdict is unknown if ctx ends, if judge returns
// an error, which means that the history is not readable, or if no call of a key succeeded, because
// such a history shows nothing.
func ByKey(ctx context.Context, name string, h *history.History, judge func(key string, ops []history.Op, f *Findings) error) check.Result {
	begun := time.Now()
	r := check.Result{Check: name, Verdict: check.OK, Counts: tally(h.Ops)}
	f := &Findings{}
	keys := h.ByKey()
	r.Counts["keys"] = len(keys)
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if ctx.Err() != nil {
			r.Why = fmt.Sprintf("out of time after %d of %d calls: %v", r.Ops, len(h.Ops), context.Cause(ctx))
			break
		}
		if err := judge(key, keys[key], f); err != nil {
			r.Why = fmt.Sprintf("key %s: %v", key, err)
			break
		}
		r.Ops += len(keys[key])
	}
	if r.Why == "" && !slices.ContainsFunc(h.Ops, func(op history.Op) bool { return op.Key != "" && op.Outcome == history.OK }) {
		r.Why = "no call succeeded"
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

// tally counts calls by outcome and name, for example "ok read" and "unknown commit".
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

// RefusedAs reports whether a call was refused with the code.
func RefusedAs(op history.Op, code agent.Code) bool {
	return op.Outcome == history.Refused && op.Code == string(code)
}

// ShortestMax bounds the search for the shortest part of a history that no order
// explains, and the drawing of its picture.
const ShortestMax = 10 * time.Second
