package cluster

import (
	"context"
	"errors"
	"fmt"

	"github.com/hashicorp/raft"
)

// CutLog takes a snapshot now and keeps no more than so many entries behind
// it: followers that need older ones are sent the snapshot. It is for those
// who cannot wait for the log to grow; compaction goes on as before.
func (g *Group) CutLog(ctx context.Context, entries uint64) error {
	if err := g.reload(func(c *raft.ReloadableConfig) { c.TrailingLogs = max(entries, 1) }); err != nil {
		return fmt.Errorf("cut the log: %w", err)
	}
	if err := wait(ctx, g.raft.Snapshot()); err != nil && !errors.Is(err, raft.ErrNothingNewToSnapshot) {
		return fmt.Errorf("cut the log: %w", err)
	}
	return nil
}
