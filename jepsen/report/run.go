// Package report tells people and programs what a run came to: one page of
// HTML that needs nothing beside itself, a table for terminals, JSON. It knows
// a run only by its history and by the results of its checks, so that an old
// history gives the same report as a new one.
package report

import (
	"slices"
	"time"

	"dormouse/jepsen/check"
	"dormouse/jepsen/history"
)

// Files of a run, in its directory.
const (
	HistoryName = "history.jsonl" // every call and event, as history writes it
	PageName    = "report.html"   // what Page writes
	ResultName  = "result.json"   // what JSON writes
)

// Run is one run, judged.
type Run struct {
	Header      history.Header   `json:"header"`
	Verdict     check.Verdict    `json:"verdict"` // the worst of Results
	Results     []check.Result   `json:"results"`
	Missing     []string         `json:"missing,omitempty"` // what this machine cannot do, one clear line each
	Dir         string           `json:"dir,omitempty"`     // where the files are
	Took        time.Duration    `json:"took"`              // from the first process started to the last check
	Interrupted bool             `json:"interrupted,omitempty"`
	History     *history.History `json:"-"`
}

// Judged is how many calls the run's workloads judged: not the pulse, nor what
// every run owes.
func (r *Run) Judged() int {
	n := 0
	for _, result := range r.Results {
		if slices.Contains(r.Header.Workloads, result.Check) {
			n += result.Ops
		}
	}
	return n
}
