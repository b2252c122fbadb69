package raftlog

import (
	"errors"
	"fmt"
	"sync"

	"github.com/hashicorp/raft"
)

// LogPhantom is the type of the entry that snapTerm answers where only the
// term is known. No raft applies it, and no guard lets it in from outside: it
// must never pass for the entry that it stands for.
const LogPhantom raft.LogType = 0xff

// snapTerm answers for the newest snapshot's index from the snapshot, and
// keeps the log's tail when raft installs one.
//
// A follower with a longer tail of another term is sent a snapshot, compares
// the entry at its index with its own old one, refuses, and is sent the
// snapshot again, for ever (hashicorp/raft#697). A log store that claims to be
// monotonic is emptied instead, but raft goes on believing in the old tail and
// refuses just the same. So of a log that raft empties because of a snapshot
// the part behind the snapshot stays: it is what raft believes in, and the
// leader's next entries replace what is wrong with it. The part before goes
// always: it may differ from what the snapshot holds, and a leader with such
// a log would hand it on.
type snapTerm struct {
	raft.LogStore
	newest *NewestSnapshot
}

// IsMonotonic makes raft empty the log when it installs a snapshot. No engine
// of ours is to have a gap.
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

// reconcile makes the log agree with the newest snapshot before raft starts. A
// crash inside an installation leaves the two as they were at that moment, and
// raft does not look.
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
		return fmt.Errorf("%w: the log begins at entry %d and the newest snapshot ends at %d: what lies between is missing: %s", ErrDamaged, first, at.Index, Rebuild)
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

// NewestSnapshot is the snapshot store, and what its newest snapshot is,
// without listing them at every question.
type NewestSnapshot struct {
	raft.SnapshotStore // nil where there is none

	mu    sync.Mutex
	meta  raft.SnapshotMeta // guarded by mu; zero where there is no snapshot
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

// at is the newest snapshot's meta, and whether there is one.
func (s *NewestSnapshot) at() (raft.SnapshotMeta, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stale {
		if err := s.list(); err != nil {
			return raft.SnapshotMeta{}, false // as if #697 were not answered; asked again next time
		}
	}
	return s.meta, s.meta.Index > 0
}

// Index is where the newest snapshot ends; 0 without one.
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

// notedSink tells when its snapshot is in place.
type notedSink struct {
	raft.SnapshotSink
	note func()
}

// Unwrap is the store's own sink, which the state machine may know and give
// its files to without copying them.
func (s notedSink) Unwrap() raft.SnapshotSink { return s.SnapshotSink }

func (s notedSink) Close() error {
	err := s.SnapshotSink.Close()
	s.note()
	return err
}
