// Package check holds what all checkers of a history share: verdicts, findings, and
// the checks of every run, whatever its workloads.
package check

import (
	"time"

	"dormouse/jepsen/history"
)

// Verdict is the result of a check.
type Verdict string

const (
	// OK means that the promise held for every call of the history.
	OK Verdict = "ok"
	// Violation means that the promise was broken; Findings show where.
	Violation Verdict = "violation"
	// Unknown means that the check ran out of time or had nothing to judge. It never
	// counts as ok.
	Unknown Verdict = "unknown"
)

// Result is one check of one run.
type Result struct {
	Check    string         `json:"check"` // name of the workload, "convergence" or "liveness"
	Verdict  Verdict        `json:"verdict"`
	Ops      int            `json:"ops"`                // calls that were judged
	Counts   map[string]int `json:"counts,omitempty"`   // further numbers: "ok puts", "unknown puts", "keys"
	Findings []Finding      `json:"findings,omitempty"` // the first few of each rule
	Why      string         `json:"why,omitempty"`      // reason of an unknown verdict
	Took     time.Duration  `json:"took"`
}

// Finding is one broken rule, with the shortest history that shows it.
type Finding struct {
	Rule    string       `json:"rule"` // a short name: "lost append", "stale read"
	Key     string       `json:"key,omitempty"`
	Detail  string       `json:"detail"` // for people
	Ops     []history.Op `json:"ops,omitempty"`
	Picture []byte       `json:"picture,omitempty"` // HTML page of porcupine, if it judged
}

// Worst returns the worst verdict: violation before unknown before ok.
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

// Worse returns the worse of two verdicts.
func Worse(a, b Verdict) Verdict { return Worst([]Result{{Verdict: a}, {Verdict: b}}) }
