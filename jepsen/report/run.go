// Package report writes the results of a run: a self-contained page of HTML, a table for
// terminals, and JSON. It uses only the history of the run and the results of its checks,
// so an old history gives the same report as a new one.
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

// Run is one run with the results of its checks.
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

// Judged returns how many calls the workloads of the run checked. It counts neither the
// calls of the pulse workload nor those of the checks that every run has.
func (r *Run) Judged() int {
	n := 0
	for _, result := range r.Results {
		if slices.Contains(r.Header.Workloads, result.Check) {
			n += result.Ops
		}
	}
	return n
}
