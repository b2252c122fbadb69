package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"dormouse/internal/version"
	"dormouse/jepsen/check"
	"dormouse/jepsen/history"
	"dormouse/jepsen/report"
)

// The bars of a full cover: required results besides the verdict.
const (
	barJudged = 10_000_000      // minimum number of judged calls of the covers of a release
	barLoss   = 3 * time.Second // maximum of the median time without commits after the loss of a leader
)

// lacks reports whether the runs miss a bar that one more run with this header can bring nearer: calls
// that are to be judged, or what runs are for.
func (s summary) lacks(h history.Header, calls int) bool {
	return s.Judged < calls || slices.ContainsFunc(check.Targets, func(t check.Target) bool {
		runs, n := s.meets(t)
		return runs > 0 && n < check.MetMin && t.Of(h)
	})
}

// bars compares the runs with the bars. One of them is the number of calls to judge; 0 leaves it out.
func (s summary) bars(calls int) []report.Bar {
	held := func(known, held bool) check.Verdict {
		switch {
		case !known:
			return check.Unknown
		case held:
			return check.OK
		}
		return check.Violation
	}
	var all []report.Bar
	if calls > 0 {
		enough := check.Unknown // more runs may reach it
		if s.Judged >= calls {
			enough = check.OK
		}
		all = append(all, report.Bar{Bar: "calls judged", Wanted: fmt.Sprintf("≥ %d", calls), Is: fmt.Sprint(s.Judged), Verdict: enough})
	}
	all = append(all, []report.Bar{
		{
			Bar: "leader loss, median", Wanted: "≤ " + barLoss.String(), Is: fmt.Sprintf("%s of %d losses", s.median(), s.Alone),
			Verdict: held(s.Alone > 0, s.Median <= barLoss),
		},
		{
			Bar: "refused in rolling restarts", Wanted: "0", Is: fmt.Sprintf("%d of %d calls", s.RollingRefused, s.RollingCalls),
			Verdict: held(s.RollingCalls > 0, s.RollingRefused == 0),
		},
	}...)
	return append(all, s.met()...)
}

// met compares how often the runs met what they are for with check.MetMin. A target that was met
// less often is unknown: more runs may reach it. One without a run is left out.
func (s summary) met() (bars []report.Bar) {
	for _, t := range check.Targets {
		runs, n := s.meets(t)
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

// meets returns how many runs count for a target, and how often they met what it names.
func (s summary) meets(t check.Target) (runs, n int) {
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
	return runs, n
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
