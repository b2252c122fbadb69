package cluster

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"

	"dormouse/agent/layout"
	"dormouse/cluster/membership"
	"dormouse/cluster/raftlog"
	"dormouse/internal/pause"
)

// Compaction says when the log is cut, and how much of it stays for followers
// that are behind; a follower that needs more is sent a snapshot. Bytes count
// first, since entries differ in size by a factor of 80,000. Bytes are counted to
// about the nearest 64 KiB.
type Compaction struct {
	SnapshotBytes   int64  // a snapshot is due after this many bytes of log,
	SnapshotEntries uint64 // or after this many entries, which a restart replays

	TrailingBytes   int64  // what stays in the log behind a snapshot
	TrailingEntries uint64 // bounds TrailingBytes by count, for tiny entries
}

// DefaultCompaction bounds the replay after a restart to some seconds.
func DefaultCompaction() Compaction {
	return Compaction{SnapshotBytes: 256 << 20, SnapshotEntries: 100_000, TrailingBytes: 64 << 20, TrailingEntries: 100_000}
}

// trailingBytesMax bounds what stays while a follower is catching up.
func (c Compaction) trailingBytesMax() int64 { return max(c.SnapshotBytes, c.TrailingBytes) }

const (
	compactInterval = 2 * time.Second
	compactRetry    = 30 * time.Second // after a snapshot that failed
)

// compactor takes snapshots and thereby cuts the log.
type compactor struct {
	keep      Compaction
	raft      *raft.Raft
	machine   StateMachine
	stores    *raftlog.Stores
	followers *membership.Followers
	settings  *settings
	logger    hclog.Logger
	snapshots atomic.Uint64 // that compaction asked for
}

// run compacts the log until ctx ends.
func (c *compactor) run(ctx context.Context) error {
	for pause.For(ctx, compactInterval); ctx.Err() == nil; pause.For(ctx, compactInterval) {
		if !c.due() {
			continue
		}
		if err := c.cut(ctx); err != nil && ctx.Err() == nil {
			c.logger.Warn("could not take a snapshot; trying again later", "error", err)
			pause.For(ctx, compactRetry)
		}
	}
	return nil
}

func (c *compactor) due() bool {
	since, _ := c.stores.LogBytes()
	if since >= c.keep.SnapshotBytes {
		return true
	}
	return c.machine.Applied() >= c.stores.Newest.Index()+c.keep.SnapshotEntries
}

// refreshPart is the part of a due snapshot's log that is too much to replay for a
// node that gets a snapshot anyway.
const refreshPart = 10

// refresh takes a snapshot before a node without data becomes a member. That node
// is sent the newest snapshot and all entries since, and it takes longer to apply
// many entries than to receive them as part of a snapshot. refresh does nothing
// while the log goes back to the first entry, since Raft sends no snapshot then.
func (c *compactor) refresh(ctx context.Context) {
	first, err := c.stores.Logs.FirstIndex()
	if err != nil || first <= 1 {
		return
	}
	bytes, _ := c.stores.LogBytes()
	entries := c.machine.Applied() - min(c.stores.Newest.Index(), c.machine.Applied())
	if bytes < c.keep.SnapshotBytes/refreshPart && entries < c.keep.SnapshotEntries/refreshPart {
		return
	}
	if err := c.cut(ctx); err != nil {
		c.logger.Warn("could not take a snapshot for a new node, which applies more of the log instead", "error", err)
	}
}

// cut takes a snapshot, after which Raft cuts the log down to what trails.
func (c *compactor) cut(ctx context.Context) error {
	trailing := c.trailing()
	if err := c.settings.change(func(r *raft.ReloadableConfig) { r.TrailingLogs = trailing }); err != nil {
		return err
	}
	c.snapshots.Add(1)
	err := raftlog.Wait(ctx, c.raft.Snapshot())
	if errors.Is(err, raft.ErrNothingNewToSnapshot) {
		return nil
	}
	return err
}

// trailing returns how many entries stay: about TrailingBytes of them, and more
// while a follower needs older ones, so that it can catch up.
func (c *compactor) trailing() uint64 {
	slowest, answered := c.followers.Slowest()
	return c.keep.trailing(c.raft.LastIndex(), slowest, answered, c.stores.Trailing)
}

// trailing returns how many entries stay of a log that ends at last. slowest is
// what the slowest follower that answered has applied. newest returns how many of
// the newest entries make up that many bytes.
func (c Compaction) trailing(last, slowest uint64, answered bool, newest func(bytes int64) uint64) uint64 {
	keep := min(max(newest(c.TrailingBytes), 1), c.TrailingEntries)
	if !answered {
		return keep
	}
	if lag := last - min(slowest, last); lag > keep {
		keep = max(keep, min(lag+layout.LagMax, newest(c.trailingBytesMax())))
	}
	return keep
}
