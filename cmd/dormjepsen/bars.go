package main

import (
	"fmt"
	"strings"
	"time"

	"dormouse/internal/version"
	"dormouse/jepsen/check"
	"dormouse/jepsen/report"
)

// The bars of a full cover: required results besides the verdict.
const (
	barJudged = 1_000_000       // minimum number of judged calls
	barLoss   = 3 * time.Second // maximum of the median time without commits after the loss of a leader
)

// bar is a required result and the actual one. The verdict is unknown if nothing was measured.
type bar struct {
	Bar     string        `json:"bar"`
	Wanted  string        `json:"wanted"`
	Is      string        `json:"is"`
	Verdict check.Verdict `json:"verdict"`
}

// bars compares the runs with the bars.
func (s summary) bars() []bar {
	held := func(known, held bool) check.Verdict {
		switch {
		case !known:
			return check.Unknown
		case held:
			return check.OK
		}
		return check.Violation
	}
	enough := check.Unknown // more runs may reach it
	if s.Judged >= barJudged {
		enough = check.OK
	}
	return append([]bar{
		{"calls judged", fmt.Sprintf("≥ %d", barJudged), fmt.Sprint(s.Judged), enough},
		{
			"leader loss, median", "≤ " + barLoss.String(), fmt.Sprintf("%s of %d losses", s.median(), s.Alone),
			held(s.Alone > 0, s.Median <= barLoss),
		},
		{
			"refused in rolling restarts", "0", fmt.Sprintf("%d of %d calls", s.RollingRefused, s.RollingCalls),
			held(s.RollingCalls > 0, s.RollingRefused == 0),
		},
	}, s.met()...)
}

// met compares how often the runs met what they are for with check.MetMin. A target that was met
// less often is unknown: more runs may reach it. One without a run is left out.
func (s summary) met() (bars []bar) {
	for _, t := range check.Targets {
		runs, n := 0, 0
		for _, o := range s.Parts {
			if o.Result.Run == nil || !t.Of(o.Result.Header) {
				continue
			}
			for _, r := range o.Result.Results {
				if r.Check == check.CoverageName { // a run of an older harness has none
					runs++
					n += r.Counts[string(t.Meets)]
				}
			}
		}
		if runs == 0 {
			continue
		}
		verdict := check.OK
		if n < check.MetMin {
			verdict = check.Unknown
		}
		of := strings.Trim(t.Workload+" under "+t.Nemesis, " ")
		switch {
		case t.Workload == "":
			of = "runs under " + t.Nemesis
		case t.Nemesis == "":
			of = t.Workload
		}
		bars = append(bars, bar{of + ": " + string(t.Meets), fmt.Sprintf("≥ %d", check.MetMin), fmt.Sprintf("%d in %d runs", n, runs), verdict})
	}
	return bars
}

// median returns the median time without commits after the loss of a leader, as text.
func (s summary) median() string {
	if s.Alone == 0 {
		return "-"
	}
	return s.Median.Round(10 * time.Millisecond).String()
}

// scorecard returns the table of the bars, and the line for the table of full runs
// in jepsen/README.md.
func (s summary) scorecard(now time.Time) string {
	var rows [][]string
	for _, b := range s.Bars {
		rows = append(rows, []string{b.Bar, b.Wanted, b.Is, string(b.Verdict)})
	}
	cells := []string{
		now.UTC().Format(time.DateOnly), version.String(), fmt.Sprintf("%d of %d", s.Made, s.Runs), fmt.Sprint(s.Judged),
		fmt.Sprint(s.Violations), fmt.Sprint(s.Unknown), s.median(), fmt.Sprint(s.RollingRefused),
	}
	return "\n" + report.Table([]string{"bar", "wanted", "is", "verdict"}, rows) +
		"\nFor the table in jepsen/README.md:\n\n| " + strings.Join(cells, " | ") + " |\n"
}
