package raftlog

import (
	"errors"
	"slices"
	"testing"

	"github.com/hashicorp/raft"
)

// offline returns the log of a node that has ended, with entries 6 to 10.
func offline(t *testing.T, at *snapshotAt) *Offline {
	t.Helper()
	dir := t.TempDir()
	s, _ := mustDiskStores(t, dir, "")
	if err := s.Logs.StoreLogs(commands(1, 10)); err != nil {
		t.Fatal(err)
	}
	if err := s.Logs.DeleteRange(1, 5); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	o, err := OpenOffline(dir, checkFrame, at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = o.Close() }) // it was only read
	return o
}

// A state that lacks a single entry of those that the log has lost must not go on.
func TestTheEntriesAfterAStateAreReadOrItIsDamaged(t *testing.T) {
	for _, c := range []struct {
		state, snapshot uint64
		want            []uint64 // nil means damaged
	}{
		{state: 5, want: []uint64{6, 7, 8, 9, 10}},
		{state: 8, want: []uint64{9, 10}},
		{state: 10, want: []uint64{}},
		{state: 12, want: []uint64{}},
		{state: 4},
		{state: 0},
		{state: 4, snapshot: 5, want: []uint64{6, 7, 8, 9, 10}},
	} {
		got := []uint64{}
		err := offline(t, &snapshotAt{index: c.snapshot, term: 1}).After(c.state, func(log *raft.Log) error {
			got = append(got, log.Index)
			return nil
		})
		if damaged := errors.Is(err, ErrDamaged); damaged != (c.want == nil) || !damaged && (err != nil || !slices.Equal(got, c.want)) {
			t.Errorf("after %d, with a snapshot at %d: %v, %v", c.state, c.snapshot, got, err)
		}
	}
}

func TestALogReachesAsFarAsItOrItsSnapshot(t *testing.T) {
	for _, c := range []struct{ snapshot, index, term uint64 }{{5, 10, 1}, {10, 10, 3}, {20, 20, 3}} {
		x, err := offline(t, &snapshotAt{index: c.snapshot, term: 3}).Extent()
		if err != nil || x.Index != c.index || x.LastTerm != c.term || x.Marked != 10 {
			t.Errorf("with a snapshot at %d: %+v, %v", c.snapshot, x, err)
		}
	}
}
