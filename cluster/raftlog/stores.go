package raftlog

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
	"golang.org/x/sync/errgroup"

	"dormouse/internal/seededbug"
)

// Options configures Open.
type Options struct {
	Dir          string                   // "" keeps everything in memory
	Kind         string                   // wal or bolt; "" means wal
	SegmentBytes int                      // of a wal's segment; 0 means walSegmentBytes
	Files        Files                    // where Dir is; nil means the machine's disk
	Check        func(entry []byte) error // frame and checksum of a command entry; nil checks none
	Snapshots    raft.SnapshotStore
	Applied      func() uint64 // what the state machine has applied; nil means what Raft has handed to it
	Fatal        func(error)   // ends the process; called at most once
	hang         time.Duration // 0 means hangDefault
	AcceptDamage bool          // vote although the log's tail is missing
	CacheBytes   int64         // of recent entries in memory; 0 means CacheBytes
	WriteFirst   bool          // a leader writes its own entries before it sends them
	Reserve      int64         // bytes that must be free to accept writes; 0 means a share of the disk
	// Rebase makes the state itself the newest snapshot, if damage was accepted and
	// the state is ahead of what is left of the log. nil means that the state cannot
	// be ahead.
	Rebase func(logs raft.LogStore, newest *NewestSnapshot) error
	probe  diskProbe // nil means the real disk
	Logger hclog.Logger
}

// Stores are the log store and the stable store that Raft uses. Each layer
// handles a hazard of the layers below it; the ids are those of docs/hazards.md.
// From Raft down to the engine:
//
//	logs                                        stable
//	snapTerm       hashicorp/raft#697           VoteStore      votes while the log is damaged; raft#695
//	cachedLogs     bounds by bytes, not entries checkedStable  flipped bits (S1)
//	ownEntryCheck  raft#695, if the guard fails failStopStable as failStopLogs
//	LeaderLogs     own entries, while they travel
//	highWater      damaged tails (S2)           raft-boltdb
//	meteredLogs    bytes for compaction
//	checkedLogs    flipped bits (S1)
//	failStopLogs   fsyncs that fail (S3, raft#614) or hang (raft#503)
//	raft-wal or raft-boltdb
//
// The cache is above the layers that guard the disk, and below snapTerm, whose
// answer must win. The mark is above the checksums, since it counts only what was
// written, and below the cache, which must not answer for it.
type Stores struct {
	Logs      raft.LogStore
	Stable    raft.StableStore
	Snapshots raft.SnapshotStore // for raft, instead of the one in the options

	Check      func(entry []byte) error
	Applied    func() uint64
	FailStop   *FailStop
	Mark       *highWater
	Admission  *AdmissionState
	Meter      *meteredLogs
	Votes      *VoteStore
	OwnEntries *ownEntryCheck
	Leader     *LeaderLogs
	Newest     *NewestSnapshot
	Disk       *DiskWatch // nil in memory
	cache      *cachedLogs
	engines    *Engines

	closeOnce sync.Once
	closeErr  error
}

// Open opens the stores of one node, checks and repairs what a crash has left, and
// proves that the disk accepts writes. It starts no goroutines.
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

// StackStores is Open on engines that are open already. It closes them if it
// fails.
func StackStores(o Options, engines *Engines) (*Stores, error) {
	if o.hang == 0 {
		o.hang = hangDefault
	}
	s := &Stores{
		Check: o.Check, Applied: o.Applied, engines: engines,
		FailStop: &FailStop{fatal: o.Fatal, hang: o.hang, logger: o.Logger, opening: true},
	}
	if err := s.stack(o); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	failed := func(err error) { _ = s.FailStop.Poison(err) }
	engines.failed.Store(&failed)
	s.FailStop.opened()
	return s, nil
}

// stack puts the layers on the engines and opens each.
func (s *Stores) stack(o Options) error {
	var err error
	if s.Newest, err = newNewestSnapshot(o.Snapshots); err != nil {
		return err
	}
	checked := checkedStable{StableStore: failStopStable{engine: s.engines.Stable, failStop: s.FailStop}, failStop: s.FailStop}
	if err := selfTest(checked); err != nil {
		return err
	}
	place := s.engines.place()
	logs := checkedLogs{LogStore: failStopLogs{engine: s.engines.Logs, place: place, failStop: s.FailStop}, check: o.Check, place: place, failStop: s.FailStop}
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
	s.Votes = &VoteStore{StableStore: checked, barred: s.Barred, failStop: s.FailStop}
	if err := s.Votes.load(); err != nil {
		return err
	}
	s.Leader = newLeaderLogs(s.Mark)
	s.OwnEntries = &ownEntryCheck{LeaderLogs: s.Leader, votes: s.Votes, failStop: s.FailStop, first: o.WriteFirst}
	if o.Dir != "" && o.Files == nil {
		s.Disk = NewDiskWatch(o.Dir, o.probe, o.Logger)
		s.Disk.asked = o.Reserve
	}
	s.cache = newCachedLogs(s.OwnEntries, cmp.Or(o.CacheBytes, CacheBytes))
	s.Logs = snapTerm{LogStore: s.cache, newest: s.Newest}
	if seededbug.Is(seededbug.NoSnapshotTerm) {
		s.Logs = s.cache
	}
	s.Stable = s.Votes
	if o.Snapshots != nil {
		s.Snapshots = s.Newest
	}
	return nil
}

var keySelfTest = []byte("dormouse/self-test")

// selfTest writes, syncs and reads back a value, so that a node with a disk that
// fails does not start (R10).
func selfTest(stable raft.StableStore) error {
	wrote := []byte(time.Now().UTC().Format(time.RFC3339Nano))
	if err := stable.Set(keySelfTest, wrote); err != nil {
		return fmt.Errorf("%w: it does not accept writes: %w", ErrDisk, err)
	}
	read, err := stable.Get(keySelfTest)
	if err != nil {
		return fmt.Errorf("%w: what was written cannot be read back: %w", ErrDisk, err)
	}
	if !bytes.Equal(read, wrote) {
		return fmt.Errorf("%w: it returned %q for %q: replace it", ErrDisk, read, wrote)
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

// MayVote reports whether this node may vote.
func (s *Stores) MayVote() bool { return s.Barred() == nil }

// Barred returns why this node may not vote, or nil. A node may vote if the stores
// work, and if its log holds all entries that it has acknowledged and the entry of
// its admission.
func (s *Stores) Barred() error {
	switch {
	case s.FailStop.Failed() != nil:
		return s.FailStop.Failed()
	case !s.Mark.Whole():
		return errMayNotVote
	case !s.Admission.Over():
		return errNotAdmitted
	}
	return nil
}

// MayStand reports whether this node may request votes. A node whose disk is
// nearly full still votes for others: its vote may be needed to elect another
// node.
func (s *Stores) MayStand() bool { return s.MayVote() && s.Writable() == nil }

// Writable returns the *agent.Error with which this node refuses proposals, or nil.
func (s *Stores) Writable() error {
	if s.Disk == nil {
		return nil
	}
	return s.Disk.writable()
}

// LogBytes returns the size of the entries after the newest snapshot, and of all
// entries in the log.
func (s *Stores) LogBytes() (sinceSnapshot, total int64) {
	return s.Meter.after(s.Newest.Index()), s.Meter.after(0)
}

// CachedBytes returns the size of the recent entries in memory, and its bound.
func (s *Stores) CachedBytes() (bytes, bytesMax int64) { return s.cache.size(), s.cache.bytesMax }

// Truncations returns how many suffixes of the log were removed since it was opened, because another
// leader's entries replaced them.
func (s *Stores) Truncations() uint64 { return s.Mark.truncations.Load() }

// Trailing returns how many of the newest entries make up at most that many bytes:
// Raft counts entries.
func (s *Stores) Trailing(bytes int64) (entries uint64) { return s.Meter.newest(bytes) }

// finishWrites waits for a leader's entries that are not written yet, for at most as
// long as a call to the disk may take.
func (s *Stores) finishWrites() error {
	hangs := make(chan struct{})
	limit := time.AfterFunc(s.FailStop.hang, func() { close(hangs) })
	defer limit.Stop()
	return s.Leader.Wait(math.MaxUint64, hangs)
}

// Close closes the stores. Raft must have stopped.
func (s *Stores) Close() error {
	s.closeOnce.Do(func() {
		if s.Leader != nil && s.FailStop.Failed() == nil {
			s.closeErr = s.finishWrites()
		}
		if s.Mark != nil && s.FailStop.Failed() == nil && s.closeErr == nil {
			s.closeErr = s.Mark.Save()
		}
		s.FailStop.close()
		s.closeErr = errors.Join(s.closeErr, s.engines.Close())
	})
	return s.closeErr
}
