package cluster_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/raft"

	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/cluster"
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

// Raft counts entries as applied once it has queued them for the state machine.
func TestANodeIsNotReadyWhileEntriesWaitForItsStateMachine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := trio(t, nil)
		leader := l.leader()
		follower := l.others(leader)[0]
		release := follower.machine.hold()
		for i := range layout.LagMax + 40 {
			if err := leader.put("x", i); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(time.Second)
		if applied := follower.group.Raft().AppliedIndex(); applied != leader.group.Raft().AppliedIndex() {
			t.Fatalf("Raft has applied %d", applied)
		}
		if err := follower.group.Ready(); agent.CodeOf(err) != agent.CodeUnavailable {
			t.Errorf("with %d entries in the queue: %v", layout.LagMax+40, err)
		}
		release()
		synctest.Wait()
		if err := follower.group.Ready(); err != nil {
			t.Error(err)
		}
	})
}

// Heartbeats come all the while, and say nothing about data.
func TestANodeThatIsBehindIsNotUpToDate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := trio(t, nil)
		leader := l.leader()
		follower := l.others(leader)[0]
		time.Sleep(time.Second)
		if age := time.Since(follower.group.UpToDate()); age > 200*time.Millisecond {
			t.Errorf("with nothing to apply: %v", age)
		}
		release := follower.machine.hold()
		if err := leader.put("x", 1); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		time.Sleep(10 * time.Second)
		if age := time.Since(follower.group.UpToDate()); age < time.Since(began) {
			t.Errorf("with an entry to apply for %v: %v", time.Since(began), age)
		}
		release()
		time.Sleep(time.Second)
		if age := time.Since(follower.group.UpToDate()); age > 200*time.Millisecond {
			t.Errorf("once it was applied: %v", age)
		}
	})
}

// A node that stops leading was up to date while it led. One that is new knows nothing yet.
func TestALeaderIsUpToDateUntilItStopsLeading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := trio(t, nil)
		old := l.leader()
		time.Sleep(time.Minute)
		l.net.Isolate(old.name, l.names...)
		began := time.Now()
		l.otherLeader(old)
		replaced := time.Now() // until then nothing was committed without it
		time.Sleep(10 * time.Second)
		if at := old.group.UpToDate(); at.After(replaced) || at.Before(began.Add(-3*time.Second)) {
			t.Errorf("a leader that was cut off %v ago and replaced %v ago was up to date %v ago", time.Since(began), time.Since(replaced), time.Since(at))
		}
		fresh := l.start("n4", func(o *cluster.Options) { o.Join = []string{"nowhere:1"} })
		if at := fresh.group.UpToDate(); !at.IsZero() {
			t.Errorf("a new node: %v", at)
		}
	})
}

// Entries of Raft itself do not count once the log has them: they never reach the state machine.
func TestUnappliedEntries(t *testing.T) {
	logs := raft.NewInmemStore() // commands up to 10, then ten entries of Raft, then a command
	for i := uint64(1); i <= 21; i++ {
		kind := raft.LogCommand
		if i > 10 && i <= 20 {
			kind = raft.LogNoop
		}
		if err := logs.StoreLog(&raft.Log{Index: i, Type: kind}); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ committed, last, applied, entries uint64 }{
		{committed: 21, last: 21, applied: 21, entries: 0},
		{committed: 20, last: 21, applied: 10, entries: 0},
		{committed: 20, last: 21, applied: 4, entries: 6},
		{committed: 21, last: 21, applied: 10, entries: 11},
		{committed: 30, last: 21, applied: 21, entries: 9},
		{committed: 30, last: 20, applied: 3, entries: 17},
		{committed: 5, last: 21, applied: 8, entries: 0},    // the leader is new
		{committed: 40, last: 30, applied: 28, entries: 10}, // a snapshot ends at entry 30
		{committed: 5, last: 0, applied: 0, entries: 5},
	} {
		if entries, ok := cluster.Unapplied(logs, c.committed, c.last, c.applied); !ok || entries != c.entries {
			t.Errorf("%+v: %d, %v", c, entries, ok)
		}
	}
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
