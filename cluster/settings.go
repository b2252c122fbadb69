package cluster

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hashicorp/raft"

	"dormouse/cluster/raftlog"
)

// settings changes the settings that Raft can change while it runs.
type settings struct {
	mu   sync.Mutex // held during a change
	raft *raft.Raft // set before the first use
}

func (s *settings) change(edit func(*raft.ReloadableConfig)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.raft.ReloadableConfig()
	edit(&c)
	if err := s.raft.ReloadConfig(c); err != nil {
		return fmt.Errorf("change raft's settings: %w", err)
	}
	return nil
}

func (s *settings) setTimeouts(heartbeat, election time.Duration) error {
	return s.change(func(c *raft.ReloadableConfig) { c.HeartbeatTimeout, c.ElectionTimeout = heartbeat, election })
}

// CutLog takes a snapshot now and keeps no more than that many entries behind it:
// followers that need older ones are sent the snapshot. It is for callers that
// cannot wait for the log to grow. Compaction goes on as before.
func (g *Group) CutLog(ctx context.Context, entries uint64) error {
	if err := g.settings.change(func(c *raft.ReloadableConfig) { c.TrailingLogs = max(entries, 1) }); err != nil {
		return fmt.Errorf("cut the log: %w", err)
	}
	if err := raftlog.Wait(ctx, g.raft.Snapshot()); err != nil && !errors.Is(err, raft.ErrNothingNewToSnapshot) {
		return fmt.Errorf("cut the log: %w", err)
	}
	return nil
}
