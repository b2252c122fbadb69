package cluster

import (
	"context"
	"fmt"
	"time"

	"github.com/hashicorp/raft"

	"dormouse/cluster/raftlog"
	"dormouse/internal/pause"
)

// A node that comes back with an empty directory is another one under an old
// name. The cluster takes the old one's vote before it lets the new one in
// (bury). But the log that it is then sent begins before that, with the
// memberships in which its name had a vote: with a founder's name it would need
// no vote but its own, and elect itself.
//
// So the leader that lets a node in names an entry that it wrote after all that.
// Until the log here holds that very entry, which no other history does, this
// node gives no vote, asks for none, is not given one, and confirms nobody's
// term. Why so: ADR 22.
//
// Nor does it stand. A lone voter asks nobody, so it would raise its term with
// each attempt that fails, and depose each leader that it hears of afterwards.

// noviceTimeout is how long a node that is not to stand waits for a leader.
const noviceTimeout = 24 * time.Hour

// noviceLook paces the look at whether it may.
const noviceLook = 100 * time.Millisecond

// admission writes the entry from which a node that is let in now counts.
func (g *Group) admission(ctx context.Context) (raftlog.Admission, error) {
	index, err := g.entryBarrier(ctx)
	if err != nil {
		return raftlog.Admission{}, err
	}
	var entry raft.Log
	if err := g.stores.Logs.GetLog(index, &entry); err != nil {
		return raftlog.Admission{}, fmt.Errorf("read the entry of an admission: %w", err)
	}
	return raftlog.Admission{Index: index, Term: entry.Term}, nil
}

// enrol makes at this node's admission before it follows anybody.
func (g *Group) enrol(at raftlog.Admission) error {
	if err := g.stores.Admission.Keep(at); err != nil {
		return err
	}
	if g.stores.Admission.Over() {
		return nil
	}
	return g.reload(func(c *raft.ReloadableConfig) { c.HeartbeatTimeout, c.ElectionTimeout = noviceTimeout, noviceTimeout })
}

// graduate lets raft stand when the admission is over, until ctx ends.
func (g *Group) graduate(ctx context.Context) error {
	a := g.stores.Admission
	for {
		select {
		case <-a.News:
		case <-ctx.Done():
			return nil
		}
		for !a.Over() {
			if !pause.For(ctx, noviceLook) {
				return nil
			}
		}
		err := g.reload(func(c *raft.ReloadableConfig) {
			c.HeartbeatTimeout, c.ElectionTimeout = g.o.Timing.Heartbeat, g.o.Timing.Election
		})
		if err != nil {
			return err
		}
	}
}

// reload changes what raft lets change while it runs.
func (g *Group) reload(change func(*raft.ReloadableConfig)) error {
	g.reloading.Lock()
	defer g.reloading.Unlock()
	c := g.raft.ReloadableConfig()
	change(&c)
	if err := g.raft.ReloadConfig(c); err != nil {
		return fmt.Errorf("change raft's settings: %w", err)
	}
	return nil
}
