package cluster_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/cluster/raftlog"
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

// A leader may have removed the end of the log that a node held when it started. What is left of it must
// still be applied before the node answers stale reads.
func TestANodeThatLostTheEndOfItsLogIsReplayedOnceItHasAppliedTheRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, n := lone(t)
		last := n.group.Raft().LastIndex()
		release := n.machine.hold()
		n.group.Submit(t.Context(), "", encode(command{Key: "x", Value: 1}), func(agent.Decided, error) {})
		synctest.Wait()
		for _, until := range []uint64{last + 1, last + 5} {
			n.group.RestartReplay(until)
			if err := n.group.Replayed(); agent.CodeOf(err) != agent.CodeUnavailable {
				t.Errorf("with a log up to %d, and entry %d not applied: %v", until, last+1, err)
			}
		}
		release()
		synctest.Wait()
		if err := n.group.Replayed(); err != nil {
			t.Error(err)
		}
	})
}

// A lone voter would wait without end for entries that it has lost, unless another node may have them.
func TestALoneVoterThatLostEntriesNeedsAnotherThatWantsToVote(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, n := lone(t)
		for _, c := range []struct {
			member     layout.Member
			repairable bool
		}{
			{layout.Member{ID: "n2", Incarnation: "i2", RaftAddr: "n2:raft"}, false},
			{layout.Member{ID: "n3", Incarnation: "i3", RaftAddr: "n3:raft", WantVote: true}, true},
		} {
			if _, err := n.submit(command{Put: &c.member}); err != nil {
				t.Fatal(err)
			}
			if err := n.group.Repairable(); (err == nil) != c.repairable || err != nil && !errors.Is(err, raftlog.ErrDamaged) {
				t.Errorf("with member %+v: %v", c.member, err)
			}
		}
	})
}
