package jepsen_test

import (
	"strings"
	"testing"
	"time"

	"dormouse/agent"
	"dormouse/jepsen"
	"dormouse/jepsen/check"
	"dormouse/jepsen/history"
	"dormouse/jepsen/nemesis"
	"dormouse/jepsen/workload/catalog"
)

func someWorkloads(t *testing.T) []string {
	t.Helper()
	names := catalog.Names()
	if len(names) == 0 {
		t.Fatal("there are no workloads")
	}
	return names
}

// TestARunThatIsAskedForWronglyIsRefusedAtOnce checks that each error names the
// mistake.
func TestARunThatIsAskedForWronglyIsRefusedAtOnce(t *testing.T) {
	for name, c := range map[string]struct {
		o    jepsen.Options
		says []string
	}{
		"workload":       {jepsen.Options{Workloads: []string{"tetris"}}, append([]string{"tetris"}, someWorkloads(t)...)},
		"nemesis":        {jepsen.Options{Nemeses: []string{"flood"}}, append([]string{"flood"}, nemesis.Names()...)},
		"both":           {jepsen.Options{Workloads: []string{"tetris"}, Nemeses: []string{"flood"}}, []string{"tetris", "flood"}},
		"size":           {jepsen.Options{Nodes: 9}, []string{"9", "1 to 7"}},
		"timing":         {jepsen.Options{Timing: "fast"}, []string{"fast", "lan, wan"}},
		"time":           {jepsen.Options{Time: -time.Second}, []string{"negative"}},
		"no addresses":   {jepsen.Options{Target: &jepsen.Target{}}, []string{"addresses"}},
		"half a hook":    {jepsen.Options{Target: &jepsen.Target{Endpoints: []string{"127.0.0.1:1"}, HookFault: "true"}}, []string{"hook"}},
		"foreign faults": {jepsen.Options{Nemeses: []string{"kill"}, Target: &jepsen.Target{Endpoints: []string{"127.0.0.1:1"}}}, []string{"hooks"}},
		"no programs":    {jepsen.Options{Workloads: []string{"host"}, Target: &jepsen.Target{Endpoints: []string{"127.0.0.1:1"}}}, []string{"host", "programs"}},
		"nobody there":   {jepsen.Options{Target: &jepsen.Target{Endpoints: []string{"127.0.0.1:1"}}}, []string{"127.0.0.1:1"}},
	} {
		t.Run(name, func(t *testing.T) {
			c.o.Dir = t.TempDir()
			_, err := jepsen.Run(t.Context(), c.o)
			if err == nil {
				t.Fatal("there was a run")
			}
			for _, word := range c.says {
				if !strings.Contains(err.Error(), word) {
					t.Errorf("%q does not say %q", err, word)
				}
			}
		})
	}
	if _, err := jepsen.Run(t.Context(), jepsen.Options{}); err == nil || !strings.Contains(err.Error(), "directory") {
		t.Errorf("without a directory: %v", err)
	}
}

// TestAHistoryThatWasCutShortIsJudgedAsFarAsItGoes judges a history that ends in the
// fault phase. Missing parts make the verdict unknown, never ok.
func TestAHistoryThatWasCutShortIsJudgedAsFarAsItGoes(t *testing.T) {
	h := &history.History{
		Header: history.Header{Workloads: append(someWorkloads(t)[:1:1], "of another build"), Seed: 1, Nodes: 3},
		Events: []history.Event{{Kind: history.EventPhase, Name: check.PhaseFaults}},
		Cut:    true,
	}
	run := jepsen.Judge(t.Context(), h)
	if !run.Interrupted || run.Verdict != check.Unknown {
		t.Errorf("it is %s, interrupted: %v", run.Verdict, run.Interrupted)
	}
	if len(run.Results) != 5 {
		t.Errorf("%d results, want two workloads, convergence, liveness and coverage", len(run.Results))
	}
	for _, r := range run.Results {
		if r.Check != check.CoverageName && (r.Verdict != check.Unknown || r.Why == "") {
			t.Errorf("%s is %s %q", r.Check, r.Verdict, r.Why)
		}
	}
}

// An existing cluster still holds the keys of earlier runs.
func TestNoTwoRunsShareAScope(t *testing.T) {
	seen, now := map[string]bool{}, time.Now()
	for _, seed := range []uint64{1, 11} {
		for _, began := range []time.Time{now, now.Add(time.Microsecond)} {
			for _, name := range someWorkloads(t) {
				scope := jepsen.ScopeOf(seed, began, name)
				if err := agent.ValidID("scope", scope); err != nil || seen[scope] {
					t.Errorf("scope %s: twice %v, %v", scope, seen[scope], err)
				}
				seen[scope] = true
			}
		}
	}
}
