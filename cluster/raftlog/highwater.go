package raftlog

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
)

// How far the mark may lag behind the log: whichever comes first, plus the one
// write that is under way.
const (
	markEvery   = time.Second
	markEntries = 4096
)

var keyHighWater = []byte("dormouse/high-water")

// highWater keeps a durable mark in the stable store: an index that the log has
// reached. Raft-wal takes a tail that is truncated, zeroed, damaged or gone for
// a write that was torn by a crash, and opens without it; the node then votes
// as if it had never acknowledged those entries (HAZARDS S2).
//
// What it detects: any log that ends below the mark, however that came about
// (also: the log's files gone, or put back from an old copy). Such a node may
// neither vote nor stand until leaders have brought its log to the mark again.
// A torn write of entries that were never acknowledged lies above the mark, so
// it is never mistaken for damage.
//
// What it does not detect: the loss of entries that were acknowledged after the
// mark was last moved, so of at most the last second or the last 4,096 entries
// before a crash (none after an orderly Close); and the loss of the mark and
// the log together, as when a whole directory is put back from an old copy.
// Damage in the middle of the log is for the checksums.
//
// Invariant: mark <= what the log or the newest snapshot holds durably, unless
// the log is damaged. The mark goes down, durably, before a suffix of the log
// does: entries that a leader has overruled were never committed, and neither
// was anything that followed them.
type highWater struct {
	raft.LogStore
	stable raft.StableStore
	newest *NewestSnapshot
	logger hclog.Logger

	mu      sync.Mutex    // held while the mark or the log's end goes back
	Mark    atomic.Uint64 // written under mu; what the stable store says
	Reach   atomic.Uint64 // the log's last entry, or the newest snapshot's where that is further
	Damaged atomic.Bool   // reach < mark since the log was opened
	due     chan struct{} // the mark lags by markEntries; never closed
}

func newHighWater(logs raft.LogStore, stable raft.StableStore, newest *NewestSnapshot, logger hclog.Logger) *highWater {
	return &highWater{LogStore: logs, stable: stable, newest: newest, logger: logger, due: make(chan struct{}, 1)}
}

// open compares the log with the mark. accept takes the log as it is.
func (s *highWater) open(accept bool) error {
	mark, err := s.stable.GetUint64(keyHighWater)
	if err != nil && !Absent(err) {
		return err
	}
	last, err := s.LastIndex()
	if err != nil {
		return err
	}
	reach := max(last, s.newest.Index())
	s.Mark.Store(mark)
	s.Reach.Store(reach)
	switch {
	case reach >= mark:
		return nil
	case accept:
		s.logger.Warn("the log's tail is missing, and the operator accepts it: this node votes as if it had never acknowledged those entries", "log_ends_at", reach, "acknowledged_up_to", mark)
		return s.set(reach)
	}
	s.Damaged.Store(true)
	s.logger.Error("the log's tail is missing: this node does not vote until the leader has sent those entries again; if no leader can be elected without it, and only then, start it once with the damage accepted", "log_ends_at", reach, "acknowledged_up_to", mark)
	return nil
}

// Whole tells whether the log holds all that the mark says it held.
func (s *highWater) Whole() bool { return !s.Damaged.Load() }

func (s *highWater) set(mark uint64) error {
	if err := s.stable.SetUint64(keyHighWater, mark); err != nil {
		return err
	}
	s.Mark.Store(mark)
	return nil
}

// advance notes that the log or a snapshot has reached index.
func (s *highWater) advance(index uint64) {
	for {
		reach := s.Reach.Load()
		if index <= reach || s.Reach.CompareAndSwap(reach, index) {
			break
		}
	}
	mark := s.Mark.Load()
	if index >= mark && s.Damaged.CompareAndSwap(true, false) {
		s.logger.Info("the log has caught up with what this node once acknowledged: it votes again", "index", index)
	}
	if index >= mark+markEntries {
		select {
		case s.due <- struct{}{}:
		default:
		}
	}
}

func (s *highWater) StoreLog(log *raft.Log) error { return s.StoreLogs([]*raft.Log{log}) }

func (s *highWater) StoreLogs(logs []*raft.Log) error {
	if err := s.LogStore.StoreLogs(logs); err != nil {
		return err
	}
	if len(logs) > 0 {
		s.advance(logs[len(logs)-1].Index)
	}
	return nil
}

func (s *highWater) DeleteRange(lowest, highest uint64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	last, err := s.LastIndex()
	if err != nil {
		return err
	}
	if highest < last {
		return s.LogStore.DeleteRange(lowest, highest) // a prefix: the log ends where it did
	}
	reach := max(lowest-1, s.newest.Index())
	if s.Mark.Load() > reach {
		if err := s.set(reach); err != nil {
			return fmt.Errorf("lower the high-water mark before the log: %w", err)
		}
	}
	if err := s.LogStore.DeleteRange(lowest, highest); err != nil {
		return err
	}
	s.Reach.Store(reach)
	s.advance(reach)
	return nil
}

// Save moves the mark to where the log is. It never lowers it.
func (s *highWater) Save() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if reach := s.Reach.Load(); reach > s.Mark.Load() {
		return s.set(reach)
	}
	return nil
}

// run moves the mark until ctx ends.
func (s *highWater) run(ctx context.Context) error {
	tick := time.NewTicker(markEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		case <-s.due:
		}
		s.advance(s.newest.Index())
		if err := s.Save(); err != nil {
			return fmt.Errorf("move the high-water mark: %w", err)
		}
	}
}
