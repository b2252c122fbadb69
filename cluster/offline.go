package cluster

import (
	"context"
	"errors"
	"fmt"

	"github.com/hashicorp/raft"

	"dormouse/cluster/raftlog"
	"dormouse/cluster/transport"
)

// OfflineMachine is the state machine of a node that does not run.
type OfflineMachine interface {
	Apply(entry *raft.Log) any
	Applied() uint64
	Check(entry []byte) error
	Snapshots() raft.SnapshotStore
}

// Offline is the log of a node that does not run.
type Offline struct {
	Node      string
	ClusterID string
	Term      uint64 // the current term
	Index     uint64 // of the last entry of the log or the newest snapshot
	LastTerm  uint64 // the term of that entry
	Marked    uint64 // the node once acknowledged the entries up to this one
	Voters    []string

	log     *raftlog.Offline
	machine OfflineMachine
}

// OpenOffline opens the log in dir, whose state machine is open, and locks it. Close
// it after use.
func OpenOffline(dir string, machine OfflineMachine) (*Offline, error) {
	log, err := raftlog.OpenOffline(dir, machine.Check, machine.Snapshots())
	if err != nil {
		return nil, fmt.Errorf("open the log: %w", err)
	}
	o := &Offline{log: log, machine: machine}
	if err := o.describe(); err != nil {
		return nil, errors.Join(fmt.Errorf("read the log: %w", err), log.Close())
	}
	return o, nil
}

func (o *Offline) describe() error {
	x, err := o.log.Extent()
	if err != nil {
		return err
	}
	o.Term, o.Index, o.LastTerm, o.Marked, o.Voters = x.Term, x.Index, x.LastTerm, x.Marked, x.Voters
	o.Node, o.ClusterID, err = transport.ReadSelf(o.log.Stable)
	return err
}

// Replay applies the entries that the state machine lacks. The last ones may not be
// committed: Raft cannot tell without a majority. It ends early with ctx.
func (o *Offline) Replay(ctx context.Context) error {
	err := o.log.After(o.machine.Applied(), func(entry *raft.Log) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if entry.Type != raft.LogCommand {
			return nil
		}
		o.machine.Apply(entry)
		if applied := o.machine.Applied(); applied < entry.Index {
			return fmt.Errorf("entry %d cannot be applied: the state ends at %d", entry.Index, applied)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("replay the log: %w", err)
	}
	return nil
}

// Close closes the log and unlocks its directory.
func (o *Offline) Close() error { return o.log.Close() }
