// Package check holds what all judges of a history share: verdicts, findings,
// and the checks that every run gets whatever its workload.
package check

import (
	"time"

	"dormouse/jepsen/history"
)

// Verdict is what a check comes to.
type Verdict string

const (
	// OK says that the promise held for every call of the history.
	OK Verdict = "ok"
	// Violation says that it did not, and Findings where.
	Violation Verdict = "violation"
	// Unknown says that the check ran out of time or had nothing to judge. It
	// never counts as ok.
	Unknown Verdict = "unknown"
)

// Result is one check of one run.
type Result struct {
	Check    string         `json:"check"` // its name: a workload's, "convergence", "liveness"
	Verdict  Verdict        `json:"verdict"`
	Ops      int            `json:"ops"`                // calls that were judged
	Counts   map[string]int `json:"counts,omitempty"`   // what else a reader may want to know: "ok puts", "unknown puts", "keys"
	Findings []Finding      `json:"findings,omitempty"` // the first few of each rule
	Why      string         `json:"why,omitempty"`      // of an unknown
	Took     time.Duration  `json:"took"`
}

// Finding is one broken rule, with the shortest history that shows it.
type Finding struct {
	Rule    string       `json:"rule"` // a short name: "lost append", "stale read"
	Key     string       `json:"key,omitempty"`
	Detail  string       `json:"detail"` // for people
	Ops     []history.Op `json:"ops,omitempty"`
	Picture []byte       `json:"picture,omitempty"` // an HTML page of porcupine's, where it judged
}

// Worst is the worst of the verdicts: a violation over unknown over ok.
func Worst(results []Result) Verdict {
	worst := OK
	for _, r := range results {
		switch {
		case r.Verdict == Violation:
			return Violation
		case r.Verdict != OK:
			worst = Unknown
		}
	}
	return worst
}
