//go:build seeded

package node_test

import (
	"testing"
	"testing/synctest"

	"dormouse/internal/seededbug"
)

// loadRunsMax is how many runs a bug may survive: a run of 24 instances finds the rarer of the bugs
// below about every fourth time. cleanLoadRuns is the number of runs without a bug.
const (
	loadRunsMax   = 25
	cleanLoadRuns = 4
)

// The load test finds bugs that are seeded in the product, and reports none if there is none.
//
// Bugs that only a partition's fence catches are not among them, since each turn is protected three
// times: by the fence, by the request id of the signal and by the rev. The harness's workload plan
// tests that.
//
// Neither are these, which this load cannot meet. LapsedLeaseAnswers: all turns write, so the fence
// stops an owner with an expired lease; the test below covers its answers from memory, such as
// lookups. StaleThaw: a node that owns a partition has applied the entry that assigned it, and so
// all writes of earlier owners, so its state of an instance is never stale. EpochReused is about
// claims, and partitions have their own epochs.
func TestACrowdFindsSeededBugsSim(t *testing.T) {
	for _, bug := range []seededbug.Bug{seededbug.SignalHandledTwice, seededbug.NoDedupe, ""} {
		t.Run(string(bug), func(t *testing.T) {
			seededbug.Seed(bug)
			defer seededbug.Seed("")
			runs, found := 0, []string(nil)
			most := loadRunsMax
			if bug == "" {
				most = cleanLoadRuns
			}
			for ; found == nil && runs < most && !t.Failed(); runs++ {
				synctest.Test(t, func(t *testing.T) { found = liveThroughItAll(t, loadSize(t)) })
			}
			t.Logf("%d runs: %q", runs, found)
			if (found != nil) != (bug != "") {
				t.Errorf("%d complaints of %q", len(found), bug)
			}
		})
	}
}

// Lookups and other answers from memory always find an owner that continues after its lease has
// ended; a correct owner is not blamed.
func TestGuessesOfALapsedOwnerAreFoundSim(t *testing.T) {
	for _, bug := range []seededbug.Bug{seededbug.LapsedLeaseAnswers, ""} {
		t.Run(string(bug), func(t *testing.T) {
			seededbug.Seed(bug)
			defer seededbug.Seed("")
			var found []string
			synctest.Test(t, func(t *testing.T) { found = guesses(t) })
			t.Logf("%q", found)
			if (found != nil) != (bug != "") {
				t.Errorf("%d guesses with %q", len(found), bug)
			}
		})
	}
}
