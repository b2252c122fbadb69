package workload

import (
	"fmt"
	"slices"
	"strings"

	"dormouse/jepsen/history"
	"dormouse/jepsen/model"
)

// spanOf returns the interval of a call. A call that did not return ok may take effect
// at any time after its invocation.
func spanOf(op history.Op) model.Span {
	if op.Outcome != history.OK {
		return model.Span{Invoke: op.Invoke, Return: history.Never}
	}
	return model.Span{Invoke: op.Invoke, Return: op.Return}
}

// contradiction adds a finding that describes a cycle among calls; it does nothing for
// nil. ops are the calls by the cycle's numbers.
func (f *Findings) contradiction(key string, cycle []model.Edge, ops []history.Op) {
	if len(cycle) == 0 {
		return
	}
	shown := make([]history.Op, len(cycle))
	words := make([]string, len(cycle))
	for i, e := range cycle {
		shown[i] = ops[e.From]
		words[i] = reasonOf(e, ops)
	}
	f.Add(cycleRule(cycle), key, shown, "each of these calls must come before the next, and the last before the first: %s", strings.Join(words, "; "))
}

// reasonOf returns why one call comes before another.
func reasonOf(e model.Edge, ops []history.Op) string {
	from, to := NameOf(ops[e.From]), NameOf(ops[e.To])
	switch e.Why {
	case model.Overwrite:
		return fmt.Sprintf("%s wrote %s before %s made version %d of it", from, e.Object, to, e.Version)
	case model.Read:
		return fmt.Sprintf("%s made version %d of %s, which %s saw", from, e.Version, e.Object, to)
	case model.Missed:
		return fmt.Sprintf("%s did not see version %d of %s, which %s made", from, e.Version, e.Object, to)
	default:
		return fmt.Sprintf("%s had returned before %s was invoked", from, to)
	}
}

// NameOf returns the name and the number of a call, for findings.
func NameOf(op history.Op) string { return fmt.Sprintf("%s %d", op.Call, op.ID) }

// cycleRule returns the rule that a cycle breaks.
func cycleRule(cycle []model.Edge) string {
	has := func(why model.Relation) bool {
		return slices.ContainsFunc(cycle, func(e model.Edge) bool { return e.Why == why })
	}
	switch {
	case !has(model.RealTime):
		return "no order explains it" // not even an order that ignores real time
	case len(cycle) > 2:
		return "no order in real time explains it"
	case has(model.Missed):
		return "lost or stale"
	case has(model.Read):
		return "read from the future"
	default:
		return "written out of order"
	}
}
