package main

import (
	"fmt"
	"strings"
	"time"

	"dormouse/internal/version"
	"dormouse/jepsen/check"
	"dormouse/jepsen/report"
)

// What a full cover is held to, beside that no promise is broken.
const (
	barJudged = 1_000_000       // calls, at least
	barLoss   = 3 * time.Second // of silence after a leader's loss, the median of all runs, at most
)

// bar is one of them, and how far the runs got. It is unknown where nothing
// was measured.
type bar struct {
	Bar     string        `json:"bar"`
	Wanted  string        `json:"wanted"`
	Is      string        `json:"is"`
	Verdict check.Verdict `json:"verdict"`
}

// bars holds the runs to them.
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
	enough := check.Unknown // more runs may come to it
	if s.Judged >= barJudged {
		enough = check.OK
	}
	return []bar{
		{"calls judged", fmt.Sprintf("≥ %d", barJudged), fmt.Sprint(s.Judged), enough},
		{
			"leader loss, median", "≤ " + barLoss.String(), fmt.Sprintf("%s of %d losses", s.median(), s.Alone),
			held(s.Alone > 0, s.Median <= barLoss),
		},
		{
			"refused for good in rolling restarts", "0", fmt.Sprintf("%d of %d calls", s.RollingRefused, s.RollingCalls),
			held(s.RollingCalls > 0, s.RollingRefused == 0),
		},
	}
}

// median is the silence after a leader's loss, for people.
func (s summary) median() string {
	if s.Alone == 0 {
		return "-"
	}
	return s.Median.Round(10 * time.Millisecond).String()
}

// scorecard is the bars as a table, and the line of the table of full runs in
// jepsen/README.md.
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
