//go:build zoo

package node_test

import (
	"testing"
	"testing/synctest"

	"dormouse/internal/planted"
)

// crowdsMax is how many crowds a bug may outlive: one of 24 instances finds the
// rarer of those below about every fourth time. crowdsSound live without one.
const (
	crowdsMax   = 25
	crowdsSound = 4
)

// The crowd is not blind: bugs that are planted in the product are found by it,
// and it complains of nothing where there is none.
//
// What only the fence of a partition stands against is not among them, since a
// crowd's turns are guarded three times: by the fence, by the request id of the
// signal and by the rev that they go on from. Workload plan of the harness is
// for that.
func TestACrowdFindsPlantedBugsSim(t *testing.T) {
	for _, bug := range []planted.Bug{planted.SignalHandledTwice, planted.NoDedupe, ""} {
		t.Run(string(bug), func(t *testing.T) {
			planted.Plant(bug)
			defer planted.Plant("")
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
