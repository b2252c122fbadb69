package cluster

import (
	"context"
	"errors"
	"time"

	"github.com/hashicorp/raft"

	"dormouse/internal/pause"
)

// Compaction says when the log is cut, and how much of it stays for followers
// that lag; one that needs more is sent a snapshot. It goes by bytes first,
// since entries differ by a factor of 80,000 in size. Bytes are counted to the
// nearest 64 KiB or so.
type Compaction struct {
	SnapshotBytes   int64  // a snapshot is due after so many bytes of log,
	SnapshotEntries uint64 // or after so many entries, which a restart replays

	TrailingBytes   int64  // what stays in the log behind a snapshot
	TrailingEntries uint64 // bounds the former by count, too, for tiny entries
}

// DefaultCompaction bounds a restart's replay to some seconds.
func DefaultCompaction() Compaction {
	return Compaction{SnapshotBytes: 256 << 20, SnapshotEntries: 100_000, TrailingBytes: 64 << 20, TrailingEntries: 100_000}
}

// trailingBytesMax is what stays while a follower is catching up.
func (c Compaction) trailingBytesMax() int64 { return max(c.SnapshotBytes, c.TrailingBytes) }

const (
	compactEvery = 2 * time.Second
	compactRetry = 30 * time.Second // after a snapshot that failed
)

// compact takes snapshots and thereby cuts the log, until ctx ends.
func (g *Group) compact(ctx context.Context) error {
	for pause.For(ctx, compactEvery); ctx.Err() == nil; pause.For(ctx, compactEvery) {
		if !g.snapshotDue() {
			continue
		}
		if err := g.cutLog(ctx); err != nil && ctx.Err() == nil {
			g.logger.Warn("could not take a snapshot; trying again later", "error", err)
			pause.For(ctx, compactRetry)
		}
	}
	return nil
}

func (g *Group) snapshotDue() bool {
	since, _ := g.stores.LogBytes()
	if since >= g.keep.SnapshotBytes {
		return true
	}
	return g.machine.Applied() >= g.stores.Newest.Index()+g.keep.SnapshotEntries
}

// freshPart is which part of what makes a snapshot due is too much to replay for
// a node that gets a snapshot anyway.
const freshPart = 10

// refreshSnapshot takes a snapshot before a node without data becomes a member. That
// node is sent the newest snapshot and all entries since, and it takes longer to
// apply many entries than to receive them as part of a snapshot. It does nothing
// while the log goes back to the first entry, since raft sends no snapshot then.
func (g *Group) refreshSnapshot(ctx context.Context) {
	first, err := g.stores.Logs.FirstIndex()
	if err != nil || first <= 1 {
		return
	}
	bytes, _ := g.stores.LogBytes()
	entries := g.machine.Applied() - min(g.stores.Newest.Index(), g.machine.Applied())
	if bytes < g.keep.SnapshotBytes/freshPart && entries < g.keep.SnapshotEntries/freshPart {
		return
	}
	if err := g.cutLog(ctx); err != nil {
		g.logger.Warn("could not take a snapshot for a new node, which applies more of the log instead", "error", err)
	}
}

// cutLog takes a snapshot; raft then cuts the log down to what trails.
func (g *Group) cutLog(ctx context.Context) error {
	trailing := g.trailing()
	err := g.reload(func(c *raft.ReloadableConfig) { c.TrailingLogs = trailing })
	if err != nil {
		return err
	}
	g.metrics.snapshots.Add(1)
	err = wait(ctx, g.raft.Snapshot())
	if errors.Is(err, raft.ErrNothingNewToSnapshot) {
		return nil
	}
	return err
}

// trailing is how many entries stay: about TrailingBytes of them, and more
// while a follower needs older ones, lest the log runs away from it.
func (g *Group) trailing() uint64 {
	slowest, behind := g.followed.slowest()
	return g.keep.trailing(g.raft.LastIndex(), slowest, behind, g.stores.Trailing)
}

// trailing is that of a log which ends at last, where the slowest of those that
// answer, if any, has applied slowest; newest tells how many entries make up so
// many bytes.
func (c Compaction) trailing(last, slowest uint64, answered bool, newest func(bytes int64) uint64) uint64 {
	keep := min(max(newest(c.TrailingBytes), 1), c.TrailingEntries)
	if !answered {
		return keep
	}
	if lag := last - min(slowest, last); lag > keep {
		keep = max(keep, min(lag+lagMax, newest(c.trailingBytesMax())))
	}
	return keep
}
