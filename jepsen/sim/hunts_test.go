package sim_test

import (
	"testing"

	"dormouse/internal/seededbug"
	"dormouse/jepsen/sim"
)

// notHunted are the bugs that no simulation meets, with the reason.
var notHunted = map[seededbug.Bug]string{
	seededbug.UnappliedTurnStays:  "needs programs, which a simulation does not have",
	seededbug.RevokedTokenCommits: "needs nodes that ask for tokens, which a simulation does not have",
	seededbug.RevokedTokenReads:   "needs nodes that ask for tokens, which a simulation does not have",
}

func TestEveryBugIsHuntedOnce(t *testing.T) {
	hunts, err := sim.Hunts()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[seededbug.Bug]int{}
	for _, h := range hunts {
		seen[h.Bug]++
		if _, err := (sim.Options{Workloads: h.Workloads, Nemeses: h.Nemeses, Nodes: h.Nodes}).Resolve(); err != nil {
			t.Errorf("%s: %v", h.Bug, err)
		}
	}
	for _, bug := range seededbug.All() {
		if want := 1; notHunted[bug] == "" && seen[bug] != want {
			t.Errorf("%s is hunted %d times", bug, seen[bug])
		}
	}
	if _, err := sim.Hunts("none-such"); err == nil {
		t.Error("an unknown bug was accepted")
	}
}
