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

// bars compares the runs with the bars.
func (s summary) bars() []report.Bar {
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
	return append([]report.Bar{
		{Bar: "calls judged", Wanted: fmt.Sprintf("≥ %d", barJudged), Is: fmt.Sprint(s.Judged), Verdict: enough},
		{
			Bar: "leader loss, median", Wanted: "≤ " + barLoss.String(), Is: fmt.Sprintf("%s of %d losses", s.median(), s.Alone),
			Verdict: held(s.Alone > 0, s.Median <= barLoss),
		},
		{
			Bar: "refused in rolling restarts", Wanted: "0", Is: fmt.Sprintf("%d of %d calls", s.RollingRefused, s.RollingCalls),
			Verdict: held(s.RollingCalls > 0, s.RollingRefused == 0),
		},
	}, s.met()...)
}

// met compares how often the runs met what they are for with check.MetMin. A target that was met
// less often is unknown: more runs may reach it. One without a run is left out.
func (s summary) met() (bars []report.Bar) {
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
		bars = append(bars, report.Bar{
			Bar: of + ": " + string(t.Meets), Wanted: fmt.Sprintf("≥ %d", check.MetMin), Is: fmt.Sprintf("%d in %d runs", n, runs), Verdict: verdict,
		})
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
	cells := []string{
		now.UTC().Format(time.DateOnly), version.String(), fmt.Sprintf("%d of %d", s.Made, s.Runs), fmt.Sprint(s.Judged),
		fmt.Sprint(s.Violations), fmt.Sprint(s.Unknown), s.median(), fmt.Sprint(s.RollingRefused),
	}
	return "\n" + barTable(s.Bars) +
		"\nFor the table in jepsen/README.md:\n\n| " + strings.Join(cells, " | ") + " |\n"
}

// barTable returns bars as a table.
func barTable(bars []report.Bar) string {
	var rows [][]string
	for _, b := range bars {
		rows = append(rows, []string{b.Bar, b.Wanted, b.Is, string(b.Verdict)})
	}
	return report.Table([]string{"bar", "wanted", "is", "verdict"}, rows)
}
