package main

import (
	"errors"
	"strings"
	"testing"
	"time"

	"dormouse/jepsen/check"
	"dormouse/jepsen/history"
	"dormouse/jepsen/report"
)

// ran is a run with the given numbers of judged calls and of refused calls (of 100) in
// rolling restarts, and with the times of its leader losses.
func ran(verdict check.Verdict, judged, refused int, lost ...time.Duration) outcome {
	out := outcome{Name: "r", Result: report.Document{Run: &report.Run{
		Header: history.Header{Workloads: []string{"set"}}, Verdict: verdict,
		Results: []check.Result{
			{Check: "set", Ops: judged},
			{Check: "liveness", Ops: 1 << 30, Counts: map[string]int{check.CountRollingCalls: 100, check.CountRollingRefused: refused}},
		},
	}}}
	for _, took := range lost {
		out.Result.Losses = append(out.Result.Losses, report.Loss{Took: took, Alone: true})
	}
	return out
}

func TestBarsAreHeldAgainstAllRunsTogether(t *testing.T) {
	noRun := outcome{Name: "f", Error: errors.ErrUnsupported.Error()}
	for name, c := range map[string]struct {
		parts    []outcome
		verdicts [3]check.Verdict // calls, loss, rolling
		line     string
	}{
		"held": {
			[]outcome{ran(check.OK, 600, 0, time.Second, 9*time.Second), ran(check.OK, 400, 0, 3*time.Second)},
			[3]check.Verdict{check.OK, check.OK, check.OK},
			"| 2 of 2 | 1000 | 0 | 0 | 3s | 0 |",
		},
		"missed": {
			[]outcome{ran(check.Violation, 999, 2, 4*time.Second), ran(check.Unknown, 0, 1)},
			[3]check.Verdict{check.Unknown, check.Violation, check.Violation},
			"| 2 of 2 | 999 | 1 | 1 | 4s | 3 |",
		},
		"nothing measured": {
			[]outcome{noRun},
			[3]check.Verdict{check.Unknown, check.Unknown, check.Unknown},
			"| 0 of 1 | 0 | 0 | 0 | - | 0 |",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := sum(c.parts, len(c.parts))
			s.Bars = s.bars(1000)
			for i, b := range s.Bars {
				if b.Verdict != c.verdicts[i] {
					t.Errorf("%s is %s: %s, want %s", b.Bar, b.Is, b.Verdict, c.verdicts[i])
				}
			}
			if text := s.table(); !strings.Contains(text, c.line) {
				t.Errorf("no %q in\n%s", c.line, text)
			}
		})
	}
	if bars := sum(nil, 0).bars(0); len(bars) != 2 || bars[0].Bar == "calls judged" {
		t.Errorf("bars without a number of calls: %+v", bars)
	}
	if s := sum([]outcome{ran(check.OK, 1, 0), noRun}, 2); s.Verdict != check.Unknown || s.Made != 1 {
		t.Errorf("with a run that could not be made it is %s, %d made", s.Verdict, s.Made)
	}
}

func TestTheTableOfRunsCountsInstalledSnapshots(t *testing.T) {
	first, second := ran(check.OK, 1, 0), ran(check.OK, 1, 0)
	first.Result.Results[1].Counts[check.CountInstalls] = 41
	second.Result.Results[1].Counts[check.CountInstalls] = 2
	s := sum([]outcome{first, second}, 2)
	if text := s.table(); s.Installs != 43 || !strings.Contains(text, " 41 ") || !strings.Contains(text, "43 snapshots installed") {
		t.Errorf("%d snapshots in\n%s", s.Installs, text)
	}
}

// A further run is needed for calls, or for what its workloads and nemesis are to meet.
func TestACoverLacksWhatItsRunsDidNotMeet(t *testing.T) {
	met := ran(check.OK, 500, 0)
	met.Result.Header = history.Header{Workloads: []string{"instance", "set"}, Nemeses: []string{"partition"}}
	counts := map[string]int{string(check.MetInstalls): check.MetMin, string(check.MetTruncations): check.MetMin, string(check.MetLeasesEnded): check.MetMin - 1}
	met.Result.Results = append(met.Result.Results, check.Result{Check: check.CoverageName, Counts: counts})
	s := sum([]outcome{met}, 1)
	for _, c := range []struct {
		workload, nemesis string
		calls             int
		want              bool
	}{
		{"set", "none", 501, true},
		{"set", "none", 500, false},
		{"set", "partition", 500, false},
		{"instance", "kill", 500, false},
		{"instance", "partition", 500, true},
		{"dedupe", "partition", 500, false}, // no run of dedupe was made
	} {
		if got := s.lacks(history.Header{Workloads: []string{c.workload}, Nemeses: []string{c.nemesis}}, c.calls); got != c.want {
			t.Errorf("%s under %s, of %d calls: %v", c.workload, c.nemesis, c.calls, got)
		}
	}
}
