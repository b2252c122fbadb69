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
	all.addBug(fails)
	if all.Verdict != check.OK || !slices.Equal(all.Found, []string{"map-order"}) || len(all.Runs) != 0 {
		t.Errorf("after a run that found its bug: %+v", all)
	}
	all.addBug(holds)
	if all.Verdict != check.Violation || !slices.Equal(all.Missed, []string{"no-fsync"}) || all.CPU != 2*time.Second {
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
	if last[0].Seed != 40 || last[1].Seed != 41 {
		t.Errorf("the last runs: %+v", last)
	}
	for i, o := range orders {
		if o.Bug == "" {
			continue
		}
		if sound := orders[i+1]; sound.Bug != "" || sound.Seed != o.Seed {
			t.Errorf("after the run of %s comes %+v", o.Bug, sound)
		}
	}
}
