package raftlog

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"

	"dormouse/internal/failpoint"
)

// The mark lags behind the log by at most the first of these two, and the write
// that is under way.
const (
	markEvery   = time.Second
	markEntries = 4096
)

var keyHighWater = []byte("dormouse/high-water")

// highWater keeps a durable mark in the stable store: an index that the log has
// reached. Raft-wal takes a tail that is truncated, zeroed, damaged or missing for
// a write that a crash interrupted, and opens without it. The node would then vote
// as if it had never acknowledged those entries (docs/hazards.md, S2).
//
// The mark detects every log that ends below it, for any reason, also if the log's
// files are missing or come from an old copy. Such a node may neither vote nor
// stand for election until leaders have brought its log to the mark again. A torn
// write of entries that were never acknowledged lies above the mark, so it is never
// mistaken for damage.
//
// The mark does not detect the loss of entries that were acknowledged after it was
// last moved: at most the last second or the last 4,096 entries before a crash, and
// none after an orderly Close. Nor does it detect that the mark and the log are
// lost together, as when a whole directory is restored from an old copy. Checksums
// detect damage in the middle of the log.
//
// Invariant: mark <= what the log or the newest snapshot holds durably, unless
// the log is damaged. Before a suffix of a whole log is deleted, the mark is lowered
// durably: entries that a leader overwrites were never committed, and neither were
// the entries after them. That is not so for a damaged log, as one from an old copy:
// what the leader overwrites may have been replaced before, by entries that were
// committed and are lost here. The mark then stays.
type highWater struct {
	raft.LogStore
	stable raft.StableStore
	newest *NewestSnapshot
	logger hclog.Logger

	mu      sync.Mutex    // held while the mark or the log's end goes back
	Mark    atomic.Uint64 // written under mu; what the stable store says
	Reach   atomic.Uint64 // the last entry of the log or of the newest snapshot, whichever is higher
	Damaged atomic.Bool   // reach < mark since the log was opened
	due     chan struct{} // the mark lags by markEntries; never closed

	truncations atomic.Uint64 // suffixes beyond the newest snapshot that were removed
}

func newHighWater(logs raft.LogStore, stable raft.StableStore, newest *NewestSnapshot, logger hclog.Logger) *highWater {
	return &highWater{LogStore: logs, stable: stable, newest: newest, logger: logger, due: make(chan struct{}, 1)}
}

// open compares the log with the mark. With accept it lowers the mark to the log.
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

// Whole reports whether the log reaches the mark.
func (s *highWater) Whole() bool { return !s.Damaged.Load() }

func (s *highWater) set(mark uint64) error {
	if err := s.stable.SetUint64(keyHighWater, mark); err != nil {
		return err
	}
	s.Mark.Store(mark)
	return nil
}

// advance records that the log or a snapshot has reached index.
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
	failpoint.At(failpoint.CompactBegin)
	defer failpoint.At(failpoint.CompactEnd)
	s.mu.Lock()
	defer s.mu.Unlock()
	last, err := s.LastIndex()
	if err != nil {
		return err
	}
	if highest < last {
		return s.LogStore.DeleteRange(lowest, highest) // a prefix: the log's end stays
	}
	if highest > s.newest.Index() {
		s.truncations.Add(1)
	}
	reach := max(lowest-1, s.newest.Index())
	if s.Mark.Load() > reach && !s.Damaged.Load() {
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

// Save moves the mark up to the end of the log. It never lowers the mark.
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
