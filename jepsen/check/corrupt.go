package check

import (
	"fmt"

	"dormouse/jepsen/history"
)

// The rule that an answer "corrupt" breaks, its error code, and how many of them a result shows.
const (
	ruleCorrupt  = "corrupt answer"
	codeCorrupt  = "corrupt"
	corruptShown = 3
)

// Corrupt adds to the result of a workload's check a finding for the answers "corrupt" to its calls:
// a node found its own state contradictory. Faults that damage disks on purpose are exempt.
func Corrupt(h *history.History, r Result) Result {
	if hasNemesis(h.Header, faultCorrupt) || hasNemesis(h.Header, faultDisk) {
		return r
	}
	n := 0
	for _, op := range h.Ops {
		if op.Code != codeCorrupt {
			continue
		}
		if n++; n <= corruptShown {
			r.Findings = append(r.Findings, Finding{
				Rule: ruleCorrupt, Key: op.Key, Ops: []history.Op{op},
				Detail: fmt.Sprintf("call %d (%s) was answered: %s", op.ID, op.Call, op.Detail),
			})
		}
	}
	if n > 0 {
		if r.Counts == nil {
			r.Counts = map[string]int{}
		}
		r.Verdict, r.Counts["broken: "+ruleCorrupt] = Violation, n
	}
	return r
}
