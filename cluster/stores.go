package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
	"golang.org/x/sync/errgroup"

	"dormouse/internal/seededbug"
)

// storesOptions is what openStores needs to know.
type storesOptions struct {
	dir          string                   // "" keeps everything in memory
	kind         string                   // wal or bolt; "" means wal
	segmentBytes int                      // of a wal's segment; 0 means walSegmentBytes
	check        func(entry []byte) error // frame and checksum of a command entry; nil checks none
	snapshots    raft.SnapshotStore
	applied      func() uint64 // what the state machine has applied; nil means what raft has handed to it
	fatal        func(error)   // ends the process; called at most once
	hang         time.Duration // 0 means hangDefault
	acceptDamage bool          // vote although the log's tail is missing
	reserve      int64         // bytes that must be free to take writes; 0 means what suits the disk
	// rebase makes the state itself the newest snapshot, where damage was
	// accepted and the state is ahead of what is left of the log; nil keeps
	// no state that could be.
	rebase func(logs raft.LogStore, newest *newestSnapshot) error
	probe  diskProbe // nil means the real disk
	logger hclog.Logger
}

// stores are the log store and the stable store as raft sees them. Each answers
// a hazard of what lies below it. From raft down to the engine:
//
//	logs                                        stable
//	snapTerm      hashicorp/raft#697            ballot         votes while the log is damaged; raft#695
//	cachedLogs    bounds by bytes, not entries  checkedStable  flipped bits pass (S1)
//	authoredLogs  raft#695, should guard fail   latchedStable  as latchedLogs
//	highWater     damaged tails pass (S2)       raft-boltdb
//	meteredLogs   bytes for compaction
//	checkedLogs   flipped bits pass (S1)
//	latchedLogs   fsyncs are retried (S3, raft#614), hang (raft#503)
//	raft-wal or raft-boltdb
//
// The cache is above everything that guards the disk and below the snapshot's
// term, which must win. The mark is above the seal, since a mark counts only
// what was really written, and below the cache, which must not answer for it.
type stores struct {
	logs      raft.LogStore
	stable    raft.StableStore
	snapshots raft.SnapshotStore // for raft, instead of the one in the options

	check     func(entry []byte) error
	applied   func() uint64
	latch     *latch
	mark      *highWater
	admission *admission
	meter     *meteredLogs
	ballot    *ballot
	authors   *authoredLogs
	newest    *newestSnapshot
	disk      *disk // nil in memory
	engines   *engines

	closeOnce sync.Once
	closeErr  error
}

// openStores opens the stores of one node, checks and repairs what a crash
// leaves behind, and proves that the disk takes writes. It starts nothing.
func openStores(o storesOptions) (*stores, error) {
	if o.logger == nil {
		o.logger = hclog.NewNullLogger()
	}
	engines, err := openEngines(o)
	if err != nil {
		return nil, err
	}
	return stackStores(o, engines)
}

// stackStores is openStores on engines that are open; it closes them if it fails.
func stackStores(o storesOptions, engines *engines) (*stores, error) {
	if o.hang == 0 {
		o.hang = hangDefault
	}
	s := &stores{
		check: o.check, applied: o.applied, engines: engines,
		latch: &latch{fatal: o.fatal, hang: o.hang, logger: o.logger, opening: true},
	}
	if err := s.stack(o); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.latch.opened()
	return s, nil
}

// stack puts the wrappers on the engines and brings each to where it can work.
func (s *stores) stack(o storesOptions) error {
	var err error
	if s.newest, err = newNewestSnapshot(o.snapshots); err != nil {
		return err
	}
	checked := checkedStable{StableStore: latchedStable{engine: s.engines.stable, latch: s.latch}, latch: s.latch}
	if err := selfTest(checked); err != nil {
		return err
	}
	place := s.engines.place()
	logs := checkedLogs{LogStore: latchedLogs{engine: s.engines.logs, place: place, latch: s.latch}, check: o.check, place: place, latch: s.latch}
	state := s.newest.index()
	if o.applied != nil {
		state = max(state, o.applied())
	}
	if err := s.engines.claim(checked, state); err != nil {
		return err
	}
	s.meter = &meteredLogs{LogStore: logs}
	s.mark = newHighWater(s.meter, checked, s.newest, o.logger)
	if err := s.mark.open(o.acceptDamage || seededbug.Is(seededbug.TailLossAccepted)); err != nil {
		return err
	}
	if err := s.accept(o); err != nil {
		return err
	}
	s.admission = newAdmission(checked, s.meter, s.newest)
	if err := s.admission.load(); err != nil {
		return err
	}
	if err := (snapTerm{LogStore: s.meter, newest: s.newest}).reconcile(); err != nil {
		return err
	}
	if err := s.meter.load(); err != nil {
		return err
	}
	s.ballot = &ballot{StableStore: checked, barred: s.barred, latch: s.latch}
	if err := s.ballot.load(); err != nil {
		return err
	}
	s.authors = &authoredLogs{LogStore: s.mark, ballot: s.ballot, latch: s.latch}
	if o.dir != "" {
		s.disk = newDisk(o.dir, o.probe, o.logger)
		s.disk.asked = o.reserve
	}
	s.logs = snapTerm{LogStore: newCachedLogs(s.authors, logCacheBytes), newest: s.newest}
	if seededbug.Is(seededbug.NoSnapshotTerm) {
		s.logs = newCachedLogs(s.authors, logCacheBytes)
	}
	s.stable = s.ballot
	if o.snapshots != nil {
		s.snapshots = s.newest
	}
	return nil
}

var keySelfTest = []byte("dormouse/self-test")

// selfTest writes, syncs and reads back: a disk that fails is found before this
// node counts as one (HAZARDS R10).
func selfTest(stable raft.StableStore) error {
	wrote := []byte(time.Now().UTC().Format(time.RFC3339Nano))
	if err := stable.Set(keySelfTest, wrote); err != nil {
		return fmt.Errorf("%w: it does not take writes: %w", ErrDisk, err)
	}
	read, err := stable.Get(keySelfTest)
	if err != nil {
		return fmt.Errorf("%w: it does not give back what was written: %w", ErrDisk, err)
	}
	if !bytes.Equal(read, wrote) {
		return fmt.Errorf("%w: it gave back %q for %q: replace it", ErrDisk, read, wrote)
	}
	return nil
}

// run moves the high-water mark and watches the disk until ctx ends.
func (s *stores) run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return s.mark.run(ctx) })
	if s.disk != nil {
		group.Go(func() error { return s.disk.run(ctx) })
	}
	return group.Wait()
}

// mayVote tells whether this node may vote for others.
func (s *stores) mayVote() bool { return s.barred() == nil }

// barred is why this node may not vote, or nil: its log holds all that it ever
// acknowledged and reaches to where it was let in, and the stores work.
func (s *stores) barred() error {
	switch {
	case s.latch.failed() != nil:
		return s.latch.failed()
	case !s.mark.whole():
		return errMayNotVote
	case !s.admission.over():
		return errNotAdmitted
	}
	return nil
}

// mayStand tells whether this node may ask for votes. A node that is short of
// space still gives its own: it may take both to elect one that is not.
func (s *stores) mayStand() bool { return s.mayVote() && s.writable() == nil }

// writable is nil, or the agent error with which this node refuses proposals.
func (s *stores) writable() error {
	if s.disk == nil {
		return nil
	}
	return s.disk.writable()
}

// logBytes is the size of the log's entries after the newest snapshot, and of all.
func (s *stores) logBytes() (sinceSnapshot, total int64) {
	return s.meter.after(s.newest.index()), s.meter.after(0)
}

// trailing is how many of the newest entries make up at most the given bytes:
// what to tell raft, which counts entries.
func (s *stores) trailing(bytes int64) (entries uint64) { return s.meter.newest(bytes) }

// Close closes the stores. Raft must have stopped.
func (s *stores) Close() error {
	s.closeOnce.Do(func() {
		if s.mark != nil && s.latch.failed() == nil {
			s.closeErr = s.mark.save()
		}
		s.latch.close()
		s.closeErr = errors.Join(s.closeErr, s.engines.Close())
	})
	return s.closeErr
}
