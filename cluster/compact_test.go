package cluster_test

import (
	"testing"
	"testing/synctest"
	"time"

	"dormouse/cluster"
)

// logSpan is how many entries a node's log holds.
func (n *node) logSpan() uint64 {
	newest, err := n.snaps.List()
	if err != nil || len(newest) == 0 {
		return n.group.Raft().LastIndex()
	}
	return n.group.Raft().LastIndex() - newest[0].Index
}

func TestTheLogIsCutAndALateFollowerGetsASnapshot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		l.tweak = func(o *cluster.Options) {
			o.Compaction = cluster.Compaction{SnapshotBytes: 1 << 20, SnapshotEntries: 100, TrailingBytes: 64 << 10, TrailingEntries: 10}
		}
		l.found("n1", "n2", "n3")
		leader := l.leader()
		late := l.others(leader)[0]
		l.net.Isolate(late.name, l.names...)
		for i := range 500 {
			if err := leader.put("x", i); err != nil {
				t.Fatal(err)
			}
			time.Sleep(50 * time.Millisecond)
		}
		if got := leader.group.Stats().Snapshots; got < 2 {
			t.Fatalf("%d snapshots of 500 entries, one due every 100", got)
		}
		if span := leader.logSpan(); span > 200 {
			t.Errorf("%d entries since the last snapshot", span)
		}
		l.net.HealAll()
		l.until("the late one has caught up", func() bool { return late.machine.get("x") == 499 })
		if applied := len(late.machine.entries()); applied > 400 {
			t.Errorf("it applied %d entries one by one", applied)
		}
		if err := leader.put("x", 500); err != nil {
			t.Fatal(err)
		}
		l.until("it follows on", func() bool { return late.machine.get("x") == 500 })
	})
}

// A node without data is sent the newest snapshot and what the log has since.
func TestANodeWithoutDataIsSentAFreshSnapshot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		l.tweak = func(o *cluster.Options) {
			o.Compaction = cluster.Compaction{SnapshotBytes: 1 << 20, SnapshotEntries: 100, TrailingBytes: 64 << 10, TrailingEntries: 10}
		}
		l.found("n1", "n2", "n3")
		leader := l.leader()
		var n int
		put := func() {
			if err := leader.put("x", n); err != nil {
				t.Fatal(err)
			}
			n++
		}
		for leader.group.Stats().Snapshots == 0 || leader.logSpan() < 60 {
			put()
			time.Sleep(100 * time.Millisecond)
		}
		taken := leader.group.Stats().Snapshots
		n4 := l.start("n4", joining(leader.name))
		l.until("it has caught up", func() bool { return n4.machine.get("x") == n-1 })
		synctest.Wait() // a snapshot counts after its taking, and may have arrived before that
		if got := leader.group.Stats().Snapshots; got != taken+1 {
			t.Errorf("the leader took %d snapshots, want 1", got-taken)
		}
		if applied := len(n4.machine.entries()); applied > 50 {
			t.Errorf("it applied %d entries one by one", applied)
		}
		put()
		l.until("it follows on", func() bool { return n4.machine.get("x") == n-1 })

		taken = leader.group.Stats().Snapshots
		n5 := l.start("n5", joining(leader.name))
		l.until("the next one has caught up", func() bool { return n5.machine.get("x") == n-1 })
		if got := leader.group.Stats().Snapshots; got != taken {
			t.Errorf("the leader took another %d snapshots, though the newest was fresh", got-taken)
		}
	})
}

func TestAnIdleGroupTakesNoSnapshot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, n := lone(t)
		time.Sleep(time.Hour)
		if got := n.group.Stats().Snapshots; got != 0 {
			t.Errorf("%d snapshots", got)
		}
	})
}
