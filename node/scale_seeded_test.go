//go:build seeded

package node_test

import (
	"testing"
	"testing/synctest"

	"dormouse/internal/seededbug"
)

// crowdsMax is how many crowds a bug may outlive: one of 24 instances finds the
// rarer of those below about every fourth time. crowdsSound live without one.
const (
	crowdsMax   = 25
	crowdsSound = 4
)

// The crowd is not blind: bugs that are seeded in the product are found by it,
// and it complains of nothing if there is none.
//
// What only the fence of a partition stands against is not among them, since a
// crowd's turns are guarded three times: by the fence, by the request id of the
// signal and by the rev that they go on from. Workload plan of the harness is
// for that.
//
// Nor are these, which no crowd of this kind can meet. LapsedLeaseAnswers: all
// of a crowd's turns write, so an owner whose lease has lapsed meets the fence;
// what it answers from memory, as a lookup, is what the test below this one asks
// for. StaleThaw: a node that owns a partition has applied the entry that gave it,
// and with it all that earlier owners could write, so its own state is never
// stale of an instance. EpochReused: it is of claims, and partitions have epochs
// of their own.
func TestACrowdFindsSeededBugsSim(t *testing.T) {
	for _, bug := range []seededbug.Bug{seededbug.SignalHandledTwice, seededbug.NoDedupe, ""} {
		t.Run(string(bug), func(t *testing.T) {
			seededbug.Seed(bug)
			defer seededbug.Seed("")
			crowds, found := 0, []string(nil)
			most := crowdsMax
			if bug == "" {
				most = crowdsSound
			}
			for ; found == nil && crowds < most && !t.Failed(); crowds++ {
				synctest.Test(t, func(t *testing.T) { found = liveThroughItAll(t, crowdSize(t)) })
			}
			t.Logf("%d crowds: %q", crowds, found)
			if (found != nil) != (bug != "") {
				t.Errorf("%d complaints of %q", len(found), bug)
			}
		})
	}
}

// A lookup, and whatever else an owner can answer from memory, finds an owner that
// goes on after its lease has lapsed, each time; a sound one is not blamed.
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
