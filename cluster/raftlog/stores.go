package raftlog

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

// Options is what Open needs to know.
type Options struct {
	Dir          string                   // "" keeps everything in memory
	Kind         string                   // wal or bolt; "" means wal
	SegmentBytes int                      // of a wal's segment; 0 means walSegmentBytes
	Check        func(entry []byte) error // frame and checksum of a command entry; nil checks none
	Snapshots    raft.SnapshotStore
	Applied      func() uint64 // what the state machine has applied; nil means what raft has handed to it
	Fatal        func(error)   // ends the process; called at most once
	hang         time.Duration // 0 means hangDefault
	AcceptDamage bool          // vote although the log's tail is missing
	Reserve      int64         // bytes that must be free to take writes; 0 means what suits the disk
	// Rebase makes the state itself the newest snapshot, where damage was
	// accepted and the state is ahead of what is left of the log; nil keeps
	// no state that could be.
	Rebase func(logs raft.LogStore, newest *NewestSnapshot) error
	probe  diskProbe // nil means the real disk
	Logger hclog.Logger
}

// Stores are the log store and the stable store as raft sees them. Each answers
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
type Stores struct {
	Logs      raft.LogStore
	Stable    raft.StableStore
	Snapshots raft.SnapshotStore // for raft, instead of the one in the options

	Check     func(entry []byte) error
	Applied   func() uint64
	Latch     *latch
	Mark      *highWater
	Admission *AdmissionState
	Meter     *meteredLogs
	Ballot    *ballot
	Authors   *authoredLogs
	Newest    *NewestSnapshot
	Disk      *disk // nil in memory
	engines   *Engines

	closeOnce sync.Once
	closeErr  error
}

// Open opens the stores of one node, checks and repairs what a crash
// leaves behind, and proves that the disk takes writes. It starts nothing.
func Open(o Options) (*Stores, error) {
	if o.Logger == nil {
		o.Logger = hclog.NewNullLogger()
	}
	engines, err := openEngines(o)
	if err != nil {
		return nil, err
	}
	return StackStores(o, engines)
}

// StackStores is Open on engines that are open; it closes them if it fails.
func StackStores(o Options, engines *Engines) (*Stores, error) {
	if o.hang == 0 {
		o.hang = hangDefault
	}
	s := &Stores{
		Check: o.Check, Applied: o.Applied, engines: engines,
		Latch: &latch{fatal: o.Fatal, hang: o.hang, logger: o.Logger, opening: true},
	}
	if err := s.stack(o); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.Latch.opened()
	return s, nil
}

// stack puts the wrappers on the engines and brings each to where it can work.
func (s *Stores) stack(o Options) error {
	var err error
	if s.Newest, err = newNewestSnapshot(o.Snapshots); err != nil {
		return err
	}
	checked := checkedStable{StableStore: latchedStable{engine: s.engines.Stable, latch: s.Latch}, latch: s.Latch}
	if err := selfTest(checked); err != nil {
		return err
	}
	place := s.engines.place()
	logs := checkedLogs{LogStore: latchedLogs{engine: s.engines.Logs, place: place, latch: s.Latch}, check: o.Check, place: place, latch: s.Latch}
	state := s.Newest.Index()
	if o.Applied != nil {
		state = max(state, o.Applied())
	}
	if err := s.engines.claim(checked, state); err != nil {
		return err
	}
	s.Meter = &meteredLogs{LogStore: logs}
	s.Mark = newHighWater(s.Meter, checked, s.Newest, o.Logger)
	if err := s.Mark.open(o.AcceptDamage || seededbug.Is(seededbug.TailLossAccepted)); err != nil {
		return err
	}
	if err := s.accept(o); err != nil {
		return err
	}
	s.Admission = newAdmission(checked, s.Meter, s.Newest)
	if err := s.Admission.load(); err != nil {
		return err
	}
	if err := (snapTerm{LogStore: s.Meter, newest: s.Newest}).reconcile(); err != nil {
		return err
	}
	if err := s.Meter.load(); err != nil {
		return err
	}
	s.Ballot = &ballot{StableStore: checked, barred: s.Barred, latch: s.Latch}
	if err := s.Ballot.load(); err != nil {
		return err
	}
	s.Authors = &authoredLogs{LogStore: s.Mark, ballot: s.Ballot, latch: s.Latch}
	if o.Dir != "" {
		s.Disk = NewDisk(o.Dir, o.probe, o.Logger)
		s.Disk.asked = o.Reserve
	}
	s.Logs = snapTerm{LogStore: newCachedLogs(s.Authors, logCacheBytes), newest: s.Newest}
	if seededbug.Is(seededbug.NoSnapshotTerm) {
		s.Logs = newCachedLogs(s.Authors, logCacheBytes)
	}
	s.Stable = s.Ballot
	if o.Snapshots != nil {
		s.Snapshots = s.Newest
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

// Run moves the high-water mark and watches the disk until ctx ends.
func (s *Stores) Run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return s.Mark.run(ctx) })
	if s.Disk != nil {
		group.Go(func() error { return s.Disk.run(ctx) })
	}
	return group.Wait()
}

// MayVote tells whether this node may vote for others.
func (s *Stores) MayVote() bool { return s.Barred() == nil }

// Barred is why this node may not vote, or nil: its log holds all that it ever
// acknowledged and reaches to where it was let in, and the stores work.
func (s *Stores) Barred() error {
	switch {
	case s.Latch.Failed() != nil:
		return s.Latch.Failed()
	case !s.Mark.Whole():
		return errMayNotVote
	case !s.Admission.Over():
		return errNotAdmitted
	}
	return nil
}

// MayStand tells whether this node may ask for votes. A node that is short of
// space still gives its own: it may take both to elect one that is not.
func (s *Stores) MayStand() bool { return s.MayVote() && s.Writable() == nil }

// Writable is nil, or the agent error with which this node refuses proposals.
func (s *Stores) Writable() error {
	if s.Disk == nil {
		return nil
	}
	return s.Disk.writable()
}

// LogBytes is the size of the log's entries after the newest snapshot, and of all.
func (s *Stores) LogBytes() (sinceSnapshot, total int64) {
	return s.Meter.after(s.Newest.Index()), s.Meter.after(0)
}

// Trailing is how many of the newest entries make up at most the given bytes:
// what to tell raft, which counts entries.
func (s *Stores) Trailing(bytes int64) (entries uint64) { return s.Meter.newest(bytes) }

// Close closes the stores. Raft must have stopped.
func (s *Stores) Close() error {
	s.closeOnce.Do(func() {
		if s.Mark != nil && s.Latch.Failed() == nil {
			s.closeErr = s.Mark.Save()
		}
		s.Latch.close()
		s.closeErr = errors.Join(s.closeErr, s.engines.Close())
	})
	return s.closeErr
}
