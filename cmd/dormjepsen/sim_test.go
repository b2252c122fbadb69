package main

import (
	"slices"
	"strings"
	"testing"
	"time"

	"dormouse/jepsen/check"
	"dormouse/jepsen/sim"
)

// A kept run with a seeded bug is as it must be if it fails.
func TestAKeptRunMustFindItsBug(t *testing.T) {
	fails := sim.Document{Order: sim.Order{Seed: 1, Bug: "map-order"}, CPU: time.Second, Results: []check.Result{{Check: "turn", Verdict: check.Violation}}}
	holds := sim.Document{Order: sim.Order{Seed: 2, Bug: "no-fsync"}, CPU: time.Second, Results: []check.Result{{Check: "set", Verdict: check.OK}}}
	all := simDocument{Verdict: check.OK, Counts: map[string]int64{}}
	all.addBug(fails, true)
	if all.Verdict != check.OK || !slices.Equal(all.Found, []string{"map-order"}) || len(all.Runs) != 0 {
		t.Errorf("after a run that found its bug: %+v", all)
	}
	if all.addBug(holds, false) || all.Verdict != check.OK {
		t.Errorf("after one of several runs that did not: %+v", all)
	}
	all.addBug(holds, true)
	if all.Verdict != check.Violation || !slices.Equal(all.Missed, []string{"no-fsync"}) || all.CPU != 3*time.Second {
		t.Errorf("after a run that did not: %+v", all)
	}
	if text := all.table(); !strings.Contains(text, "no-fsync was not found") || !strings.Contains(text, "found in kept runs: map-order") {
		t.Error(text)
	}
}

func TestKeptRunsComeBeforeThoseOfSeeds(t *testing.T) {
	f := simFlags{kept: "../../jepsen/sim/testdata/seeds", runs: 2, order: sim.Order{Seed: 40}}
	orders, err := f.orders()
	if err != nil {
		t.Fatal(err)
	}
	last := orders[len(orders)-2:]
	if last[0][0].Seed != 40 || last[1][0].Seed != 41 {
		t.Errorf("the last runs: %+v", last)
	}
	for i, tries := range orders {
		if tries[0].Bug == "" {
			continue
		}
		for n, o := range tries {
			if o.Bug != tries[0].Bug || o.Seed != tries[0].Seed+uint64(n) {
				t.Errorf("try %d for %s is %+v", n, tries[0].Bug, o)
			}
		}
		if sound := orders[i+1]; len(sound) != 1 || sound[0].Bug != "" || sound[0].Seed != tries[0].Seed {
			t.Errorf("after the runs for %s come %+v", tries[0].Bug, sound)
		}
	}
}
