package cluster

import (
	"errors"
	"fmt"

	"github.com/hashicorp/raft"

	"dormouse/cluster/raftlog"
)

// repairable returns an error if this node's log lacks entries that it has
// acknowledged and no other node can send them again: it would wait without end.
func (g *Group) repairable() error {
	if g.stores.Mark.Whole() || len(g.o.Join) > 0 || g.self.ClusterID() == "" {
		return nil
	}
	if len(g.roster.OtherVoters(g.o.NodeID)) > 0 {
		return nil
	}
	for _, m := range g.machine.Members() {
		if m.ID != g.o.NodeID && m.WantVote {
			return nil
		}
	}
	return fmt.Errorf("%w: the log in %s ends at entry %d, and this node has acknowledged entries up to %d; it is the only voter, so no other node has them: "+
		"keep a copy of the data directory, then restore a backup, or start it once with --accept-damage to go on without what is lost",
		raftlog.ErrDamaged, g.o.Dir, g.stores.Mark.Reach.Load(), g.stores.Mark.Mark.Load())
}

// rebaser is a state machine with a disk of its own, which may be ahead of a log
// that was damaged.
type rebaser interface {
	// Rebase prepares the state for a snapshot, whatever Raft has replayed, and
	// returns its index and term.
	Rebase() (index, term uint64)
}

// rebase makes a snapshot of the state with the newest configuration that is left.
// What the state has applied was committed, so the snapshot claims nothing new.
func (g *Group) rebase(logs raft.LogStore, newest *raftlog.NewestSnapshot) error {
	machine, ok := g.machine.(rebaser)
	if !ok {
		return nil
	}
	configuration, at, err := raftlog.LastConfiguration(logs, newest)
	if err != nil {
		return err
	}
	index, term := machine.Rebase()
	state, err := g.machine.Snapshot()
	if err != nil {
		return err
	}
	defer state.Release()
	_, transport := raft.NewInmemTransport("") // it only encodes peers in old formats
	sink, err := newest.Create(raft.SnapshotVersionMax, index, term, configuration, at, transport)
	if err != nil {
		return err
	}
	if err := state.Persist(sink); err != nil {
		return errors.Join(err, sink.Cancel())
	}
	if err := sink.Close(); err != nil {
		return err
	}
	g.logger.Warn("the state is ahead of the damaged log: the node goes on from the state", "index", index)
	return nil
}
