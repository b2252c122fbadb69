package raftlog

import (
	"errors"
	"fmt"
	"sync"

	"github.com/hashicorp/raft"
)

// LogPhantom is the type of the entry that snapTerm returns if only its term is
// known. Raft does not apply it, and the guard accepts none from other nodes, so it
// never replaces the real entry.
const LogPhantom raft.LogType = 0xff

// snapTerm returns the term of the newest snapshot's last entry, and keeps the
// log's tail when Raft installs a snapshot.
//
// A follower with a longer tail of another term is sent a snapshot, compares the
// entry at the snapshot's index with its own old one, refuses, and is sent the
// snapshot again without end (hashicorp/raft#697). Raft empties a log store that
// declares itself monotonic, but keeps the old tail's index and term in memory, and
// refuses as well. So when Raft empties the log because of a snapshot, snapTerm
// keeps the part behind the snapshot: it matches Raft's memory, and the leader's
// next entries replace what is wrong with it. snapTerm always deletes the part
// before, which may differ from the snapshot: as a leader, this node would send it
// to others.
type snapTerm struct {
	raft.LogStore
	newest *NewestSnapshot
}

// IsMonotonic makes Raft empty the log when it installs a snapshot, so that the log
// has no gap.
func (snapTerm) IsMonotonic() bool { return true }

func (s snapTerm) GetLog(index uint64, log *raft.Log) error {
	err := s.LogStore.GetLog(index, log)
	if err != nil && !Absent(err) {
		return err
	}
	at, known := s.newest.at()
	if !known || at.Index != index || err == nil && log.Term == at.Term {
		return err
	}
	*log = raft.Log{Index: at.Index, Term: at.Term, Type: LogPhantom}
	return nil
}

func (s snapTerm) DeleteRange(lowest, highest uint64) error {
	first, last, err := span(s)
	if err != nil {
		return err
	}
	at, known := s.newest.at()
	if known && lowest <= first && highest >= last && first <= at.Index && at.Index < last {
		highest = at.Index
	}
	return s.LogStore.DeleteRange(lowest, highest)
}

// reconcile makes the log agree with the newest snapshot before Raft starts. A
// crash during an installation can leave the two in conflict, and Raft does not
// check.
func (s snapTerm) reconcile() error {
	first, last, err := span(s)
	if err != nil {
		return err
	}
	at, known := s.newest.at()
	switch {
	case last == 0:
		return nil
	case first > at.Index+1: // without a snapshot at.Index is 0
		return fmt.Errorf("%w: the log begins at entry %d and the newest snapshot ends at %d: the entries between them are missing: %s", ErrDamaged, first, at.Index, Rebuild)
	case !known:
		return nil
	case last < at.Index: // new entries could only follow after a gap
		return s.LogStore.DeleteRange(first, last)
	case at.Index < first:
		return nil
	}
	var log raft.Log
	if err := within(s.LogStore, at.Index, &log); err != nil {
		return err
	}
	if log.Term != at.Term {
		return s.LogStore.DeleteRange(first, at.Index)
	}
	return nil
}

// NewestSnapshot is a snapshot store that caches the metadata of its newest
// snapshot. Its methods may be called concurrently.
type NewestSnapshot struct {
	raft.SnapshotStore // may be nil

	mu    sync.Mutex
	meta  raft.SnapshotMeta // guarded by mu; zero without a snapshot
	stale bool              // guarded by mu
}

func newNewestSnapshot(store raft.SnapshotStore) (*NewestSnapshot, error) {
	s := &NewestSnapshot{SnapshotStore: store}
	return s, s.list()
}

func (s *NewestSnapshot) list() error {
	if s.SnapshotStore == nil {
		return nil
	}
	metas, err := s.List()
	if err != nil {
		return fmt.Errorf("list the snapshots: %w", err)
	}
	s.meta, s.stale = raft.SnapshotMeta{}, false
	if len(metas) > 0 {
		s.meta = *metas[0]
	}
	return nil
}

// at returns the metadata of the newest snapshot, and whether there is one.
func (s *NewestSnapshot) at() (raft.SnapshotMeta, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stale {
		if err := s.list(); err != nil {
			return raft.SnapshotMeta{}, false // without the workaround for #697; the next call lists again
		}
	}
	return s.meta, s.meta.Index > 0
}

// Index returns the last index of the newest snapshot; 0 without one.
func (s *NewestSnapshot) Index() uint64 {
	meta, _ := s.at()
	return meta.Index
}

// Create implements raft.SnapshotStore.
func (s *NewestSnapshot) Create(version raft.SnapshotVersion, index, term uint64, configuration raft.Configuration, configurationIndex uint64, trans raft.Transport) (raft.SnapshotSink, error) {
	if s.SnapshotStore == nil {
		return nil, errors.New("this node keeps no snapshots")
	}
	sink, err := s.SnapshotStore.Create(version, index, term, configuration, configurationIndex, trans)
	if err != nil {
		return nil, err
	}
	return notedSink{SnapshotSink: sink, note: s.expire}, nil
}

func (s *NewestSnapshot) expire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stale = true
}

// notedSink calls note once its snapshot is complete.
type notedSink struct {
	raft.SnapshotSink
	note func()
}

// Unwrap returns the store's own sink, to which the state machine can hand files
// without copying them.
func (s notedSink) Unwrap() raft.SnapshotSink { return s.SnapshotSink }

func (s notedSink) Close() error {
	err := s.SnapshotSink.Close()
	s.note()
	return err
}
