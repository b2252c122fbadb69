package raftlog

import (
	"errors"
	"fmt"
	"testing"

	"github.com/hashicorp/raft"
)

// snapshotAt is a snapshot store that holds one snapshot and counts how often
// it is listed.
type snapshotAt struct {
	raft.SnapshotStore
	index, term uint64
	listed      int
	err         error
}

func (s *snapshotAt) List() ([]*raft.SnapshotMeta, error) {
	s.listed++
	if s.index == 0 || s.err != nil {
		return nil, s.err
	}
	return []*raft.SnapshotMeta{{Index: s.index, Term: s.term}}, nil
}

func entries(term, first, last uint64) []*raft.Log {
	var logs []*raft.Log
	for index := first; index <= last; index++ {
		logs = append(logs, &raft.Log{Index: index, Term: term, Type: raft.LogCommand, Data: fmt.Appendf(nil, "%d/%d", index, term)})
	}
	return logs
}

// storesWith opens stores in memory over a log that is already there.
func storesWith(t *testing.T, at *snapshotAt, logs []*raft.Log) (*Stores, error) {
	t.Helper()
	e := &Engines{Logs: raft.NewInmemStore(), Stable: raft.NewInmemStore()}
	s, err := StackStores(Options{Snapshots: &snapshotAt{}, Logger: quiet}, e)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Logs.StoreLogs(logs); err != nil {
		t.Fatal(err)
	}
	s, err = StackStores(Options{Snapshots: at, Logger: quiet}, e)
	if err == nil {
		t.Cleanup(func() { _ = s.Close() }) // memory
	}
	return s, err
}

func ends(t *testing.T, logs raft.LogStore) [2]uint64 {
	t.Helper()
	first, err := logs.FirstIndex()
	last, err2 := logs.LastIndex()
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	return [2]uint64{first, last}
}

func TestAtOpenTheLogIsMadeToAgreeWithTheSnapshot(t *testing.T) {
	for _, c := range []struct {
		name        string
		index, term uint64
		logs        []*raft.Log
		want        [2]uint64
		refused     bool
	}{
		{"no snapshot", 0, 0, entries(1, 1, 10), [2]uint64{1, 10}, false},
		{"the log goes on from before it", 5, 1, entries(1, 1, 10), [2]uint64{1, 10}, false},
		{"the log begins right after it", 5, 1, entries(1, 6, 10), [2]uint64{6, 10}, false},
		{"the log ends at it", 10, 1, entries(1, 1, 10), [2]uint64{1, 10}, false},
		{"the log ends below it and is dropped", 11, 1, entries(1, 1, 10), [2]uint64{0, 0}, false},
		{"the log has another entry there: what is below is dropped", 5, 2, entries(1, 1, 10), [2]uint64{6, 10}, false},
		{"entries between the two are missing", 5, 1, entries(1, 7, 10), [2]uint64{}, true},
		{"entries before the log are missing", 0, 0, entries(1, 2, 10), [2]uint64{}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := storesWith(t, &snapshotAt{index: c.index, term: c.term}, c.logs)
			if (err != nil) != c.refused {
				t.Fatalf("refused: %v, want %v", err, c.refused)
			}
			if err == nil && ends(t, s.Logs) != c.want {
				t.Errorf("the log is %v, want %v", ends(t, s.Logs), c.want)
			}
		})
	}
}

func TestTheSnapshotAnswersForItsOwnIndex(t *testing.T) {
	at := &snapshotAt{}
	s, err := storesWith(t, at, entries(1, 1, 10))
	if err != nil {
		t.Fatal(err)
	}
	at.index, at.term = 5, 2
	s.Newest.expire()
	for _, c := range []struct {
		index, term uint64
		kind        raft.LogType
	}{{4, 1, raft.LogCommand}, {5, 2, LogPhantom}, {6, 1, raft.LogCommand}} {
		var log raft.Log
		if err := s.Logs.GetLog(c.index, &log); err != nil || log.Term != c.term || log.Type != c.kind {
			t.Errorf("entry %d: term %d type %v, %v; want term %d type %v", c.index, log.Term, log.Type, err, c.term, c.kind)
		}
	}
	at.listed = 0
	for range 100 {
		_ = s.Logs.GetLog(5, new(raft.Log)) // only counted
	}
	if at.listed > 0 {
		t.Errorf("listed the snapshots %d times for 100 reads", at.listed)
	}
}

// Raft goes on believing in the entries behind a snapshot that it installs,
// though it empties the log. Those before it may differ from the snapshot's.
func TestEmptyingTheLogForASnapshotKeepsWhatIsBehindIt(t *testing.T) {
	for _, c := range []struct {
		snapshot uint64
		want     [2]uint64
	}{{1, [2]uint64{2, 10}}, {5, [2]uint64{6, 10}}, {10, [2]uint64{0, 0}}, {20, [2]uint64{0, 0}}} {
		at := &snapshotAt{}
		s, err := storesWith(t, at, entries(1, 1, 10))
		if err != nil {
			t.Fatal(err)
		}
		at.index, at.term = c.snapshot, 2
		s.Newest.expire()
		if err := s.Logs.DeleteRange(1, 10); err != nil {
			t.Fatal(err)
		}
		if got := ends(t, s.Logs); got != c.want {
			t.Errorf("snapshot at %d: the log is %v, want %v", c.snapshot, got, c.want)
		}
	}
}
