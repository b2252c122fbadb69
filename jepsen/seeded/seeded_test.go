package seeded_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"dormouse/internal/seededbug"
	"dormouse/jepsen/nemesis"
	"dormouse/jepsen/seeded"
	"dormouse/jepsen/workload/catalog"
)

func TestTheZooNamesWhatThereIs(t *testing.T) {
	all, err := seeded.Trials()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[seededbug.Bug]bool{}
	for _, s := range all {
		if seen[s.Bug] || seededbug.About(s.Bug) == "" {
			t.Errorf("%q is no bug, or is there twice", s.Bug)
		}
		seen[s.Bug] = true
		if s.Time <= 0 || s.Time > time.Minute {
			t.Errorf("%s is looked for within %v: more than nothing, and a minute at most", s.Bug, s.Time)
		}
		for _, name := range s.Workloads {
			if _, err := catalog.New(name); err != nil {
				t.Errorf("%s: %v", s.Bug, err)
			}
		}
		for _, name := range s.Nemeses {
			if _, err := nemesis.About(name); err != nil {
				t.Errorf("%s: %v", s.Bug, err)
			}
		}
		if s.Check != "convergence" && s.Check != "liveness" && !slices.Contains(s.Workloads, s.Check) {
			t.Errorf("%s is to be found by %q, which does not run", s.Bug, s.Check)
		}
	}
}

func TestUnknownBugsListTheKnownOnes(t *testing.T) {
	if _, err := seeded.Trials("no-such-bug"); err == nil || !strings.Contains(err.Error(), string(seededbug.MapOrder)) {
		t.Errorf("%v", err)
	}
	one, err := seeded.Trials(string(seededbug.MapOrder))
	if err != nil || len(one) != 1 || one[0].Bug != seededbug.MapOrder {
		t.Errorf("%v, %v", one, err)
	}
}

func TestProgressNamesTheBug(t *testing.T) {
	var told []string
	o := seeded.Options{Progress: func(line string) { told = append(told, line) }}
	for _, s := range []seeded.Trial{{Bug: seededbug.MapOrder}, {}} {
		seeded.Named(o, s)("judging")
	}
	if want := []string{string(seededbug.MapOrder) + "  judging", "sound  judging"}; !slices.Equal(told, want) {
		t.Errorf("told %q, want %q", told, want)
	}
}

// Nodes with clocks that shift, or with failpoints, are built for the run.
func TestWhichTrialsBuildTheirNodes(t *testing.T) {
	for bug, want := range map[seededbug.Bug]bool{
		seededbug.UnguardedHeartbeat: true, seededbug.WallClockTicks: true, seededbug.LeaderLocalRead: false, seededbug.NoFenceCheck: false,
	} {
		trials, err := seeded.Trials(string(bug))
		if err != nil {
			t.Fatal(err)
		}
		if got := seeded.Builds(trials[0]); got != want {
			t.Errorf("%s: %v", bug, got)
		}
	}
}
