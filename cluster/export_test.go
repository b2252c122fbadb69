package cluster

import (
	"context"

	"github.com/hashicorp/raft"

	"dormouse/cluster/raftlog"
	"dormouse/cluster/transport"
)

// What tests of package cluster_test may touch.

// Redial closes all connections of the group.
func (g *Group) Redial() { g.stream.Redial() }

func (g *Group) Raft() *raft.Raft { return g.raft }

// NoteDialer records addr as a node does of a connection that says in a handshake that its node is a member there.
func (g *Group) NoteDialer(addr string) { g.contacts.NoteMember(addr) }

// Vacating makes vacate empty the nodes that are removed.
func (g *Group) Vacating(vacate func(context.Context, string) (done func())) {
	g.leader.Vacate = vacate
}

// OpenEarlier opens the term of the notification before the latest one, and reports whether
// this node may propose in it.
func (g *Group) OpenEarlier(ctx context.Context) bool {
	g.leadership.mu.Lock()
	count := g.leadership.count
	g.leadership.mu.Unlock()
	return g.leadership.open(ctx, count-1)
}

// RestartReplay makes the group wait, as after a restart, until it has applied its log up to until.
func (g *Group) RestartReplay(until uint64) {
	g.replay.until = until
	g.replay.done.Store(false)
}

// Repairable reports why the group could not go on if its log had lost entries that it has
// acknowledged.
func (g *Group) Repairable() error {
	g.stores.Mark.Damaged.Store(true)
	defer g.stores.Mark.Damaged.Store(false)
	return g.repairable()
}

// HoldProposer waits until nothing is in flight and lets no entry be sent until
// resume is called.
func (g *Group) HoldProposer(ctx context.Context) (resume func(), err error) {
	return g.proposer.Hold(ctx)
}

// CutFounding leaves stores as a crash after so many steps of founding does, of three.
func CutFounding(dir, node, cluster string, steps int) error {
	s, err := raftlog.Open(raftlog.Options{Dir: dir, Fatal: func(error) {}})
	if err != nil {
		return err
	}
	all := []func() error{
		func() error { return s.Stable.Set([]byte("dormouse/founding"), []byte(cluster)) },
		func() error {
			self, err := transport.LoadSelf(node, s.Stable)
			if err != nil {
				return err
			}
			return self.Adopt(cluster)
		},
		func() error { return s.Stable.SetUint64([]byte(raftlog.KeyCurrentTerm), 1) },
	}
	for _, step := range append(all[:steps], s.Close) {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// SetDisk makes free return how much room the disk has. It is called before Run.
func (g *Group) SetDisk(dir string, free func() int64) {
	g.stores.Disk = raftlog.NewDiskWatch(dir, func(string) (int64, error) { return free(), nil }, g.logger)
}

// Unapplied is unapplied.
var Unapplied = unapplied
