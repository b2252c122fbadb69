package cluster_test

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/cluster"
)

// Entries are those that the node has applied, in order and each once, until the log is compacted.
func TestEntriesAreReadUntilTheyAreCompacted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		l.tweak = func(o *cluster.Options) {
			o.Compaction = cluster.Compaction{SnapshotBytes: 1 << 20, SnapshotEntries: 100, TrailingBytes: 64 << 10, TrailingEntries: 10}
		}
		l.found("n1", "n2", "n3")
		leader := l.leader()
		write := func(n int) {
			for i := range n {
				if err := leader.put("x", i); err != nil {
					t.Fatal(err)
				}
				time.Sleep(50 * time.Millisecond)
			}
		}
		write(20)
		var all []uint64
		last, err := leader.group.Entries(0, func(e cluster.Entry) bool {
			if e.Term == 0 || len(e.Data) == 0 {
				t.Errorf("entry %+v", e)
			}
			all = append(all, e.Index)
			return true
		})
		if err != nil || last != leader.machine.Applied() || len(all) < 20 || !slices.IsSorted(all) || all[len(all)-1] > last {
			t.Errorf("entries %v up to %d, %v", all, last, err)
		}
		middle := all[10]
		next, err := leader.group.Entries(middle, func(e cluster.Entry) bool { return e.Index < all[12] })
		if err != nil || next != all[12] {
			t.Errorf("it stops at %d, %v, want %d", next, err, all[12])
		}
		if end, err := leader.group.Entries(last+1000, func(cluster.Entry) bool { t.Error("there is one"); return false }); err != nil || end != last+1000 {
			t.Errorf("behind the end: %d, %v", end, err)
		}
		for leader.group.Stats().Snapshots == 0 {
			write(10)
		}
		time.Sleep(10 * time.Second)
		if at, err := leader.group.Entries(middle, func(cluster.Entry) bool { return true }); !errors.Is(err, cluster.ErrCompacted) || at != middle {
			t.Errorf("after compaction: %d, %v", at, err)
		}
	})
}
