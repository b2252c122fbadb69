package cluster_test

import (
	"testing"
	"testing/synctest"
	"time"
)

// A wiped node hears from its leader long before it has what that one has: by
// its own log it is up to date all the while.
func TestAWipedNodeIsNotReadyUntilItHasCaughtUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := trio(t, nil)
		leader := l.leader()
		wiped := l.others(leader)[0]
		for i := range 500 {
			if err := leader.put("x", i); err != nil {
				t.Fatal(err)
			}
		}
		wiped.crash()
		wiped.wipe()
		// A little at a time, so that there is something to see.
		l.net.Delay(leader.name, wiped.name, 100*time.Millisecond)
		if err := wiped.start(joining(leader.name)); err != nil {
			t.Fatal(err)
		}
		caughtUp := func() bool { return wiped.machine.get("x") == 499 }
		l.until("it has caught up", func() bool {
			if err := wiped.group.Ready(); err == nil && wiped.group.LocalStatus().AppliedIndex+64 < leader.group.LocalStatus().CommitIndex {
				t.Errorf("ready at %d of %d", wiped.group.LocalStatus().AppliedIndex, leader.group.LocalStatus().CommitIndex)
				return true
			}
			return caughtUp()
		})
		l.until("it is ready", func() bool { return wiped.group.Ready() == nil })
	})
}
