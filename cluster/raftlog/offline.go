package raftlog

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
)

// Offline is the log of a node that does not run. It is only read, with checksums
// verified. Opening repairs what a crash left, as a start of the node does.
type Offline struct {
	Stable  raft.StableStore
	logs    raft.LogStore
	newest  *NewestSnapshot
	engines *Engines
}

// OpenOffline opens and locks the stores in dir, of whatever kind the log is. check
// is that of Options. Close it after use. The error wraps ErrForeign if dir holds no
// node's log, and ErrLocked if the node runs.
func OpenOffline(dir string, check func(entry []byte) error, snapshots raft.SnapshotStore) (*Offline, error) {
	if _, err := os.Stat(filepath.Join(dir, "stable.db")); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %s holds no node's log", ErrForeign, dir)
	} else if err != nil {
		return nil, err
	}
	o := &Offline{engines: &Engines{dir: dir, kind: logStoreWAL, segmentBytes: walSegmentBytes, logger: hclog.NewNullLogger()}}
	if err := o.open(check, snapshots); err != nil {
		return nil, errors.Join(err, o.Close())
	}
	return o, nil
}

func (o *Offline) open(check func(entry []byte) error, snapshots raft.SnapshotStore) error {
	e := o.engines
	if err := e.openStable(); err != nil {
		return err
	}
	failStop := &FailStop{fatal: func(error) {}, hang: hangDefault, logger: e.logger, opening: true}
	o.Stable = checkedStable{StableStore: failStopStable{engine: e.Stable, failStop: failStop}, failStop: failStop}
	kind, err := GetString(o.Stable, keyLogStore)
	if err != nil {
		return err
	}
	if kind != "" {
		e.kind = kind
	}
	if e.Logs, err = e.openLog(e.kind); err != nil {
		return err
	}
	place := e.place()
	o.logs = checkedLogs{LogStore: failStopLogs{engine: e.Logs, place: place, failStop: failStop}, check: check, place: place, failStop: failStop}
	o.newest, err = newNewestSnapshot(snapshots)
	return err
}

// Extent describes how far the log and the newest snapshot of a node reach.
type Extent struct {
	Term     uint64 // the current term
	Index    uint64 // of the last entry
	LastTerm uint64 // …and its term
	Marked   uint64 // the node once acknowledged the entries up to this one; see highWater
	Voters   []string
}

// Extent returns how far the log and the newest snapshot reach, and the voters of
// the newest configuration.
func (o *Offline) Extent() (x Extent, err error) {
	if x.Term, err = getUint64(o.Stable, []byte(KeyCurrentTerm)); err != nil {
		return x, err
	}
	if x.Marked, err = getUint64(o.Stable, keyHighWater); err != nil {
		return x, err
	}
	if meta, ok := o.newest.at(); ok {
		x.Index, x.LastTerm = meta.Index, meta.Term
	}
	last, err := o.logs.LastIndex()
	if err != nil {
		return x, err
	}
	if last > x.Index {
		var entry raft.Log
		if err := o.logs.GetLog(last, &entry); err != nil {
			return x, err
		}
		x.Index, x.LastTerm = entry.Index, entry.Term
	}
	if x.Index == 0 {
		return x, nil
	}
	configuration, _, err := LastConfiguration(o.logs, o.newest)
	if err != nil {
		return x, err
	}
	for _, server := range configuration.Servers {
		if server.Suffrage == raft.Voter {
			x.Voters = append(x.Voters, string(server.ID))
		}
	}
	return x, nil
}

// After calls use with each entry of the log after index. The error wraps ErrDamaged
// if the log and the newest snapshot lack the entry that follows index.
func (o *Offline) After(index uint64, use func(*raft.Log) error) error {
	first, last, err := span(o.logs)
	if err != nil {
		return err
	}
	from := max(index, o.newest.Index()) + 1
	if last >= from && first > from {
		return fmt.Errorf("%w: the log in %s begins at entry %d, and the state ends at %d", ErrDamaged, o.engines.dir, first, from-1)
	}
	for i := from; i <= last; i++ {
		entry := new(raft.Log)
		if err := o.logs.GetLog(i, entry); err != nil {
			return err
		}
		if err := use(entry); err != nil {
			return err
		}
	}
	return nil
}

// Close closes the stores and unlocks the directory.
func (o *Offline) Close() error { return o.engines.Close() }

func getUint64(stable raft.StableStore, key []byte) (uint64, error) {
	n, err := stable.GetUint64(key)
	if err != nil && !Absent(err) {
		return 0, fmt.Errorf("read %s: %w", key, err)
	}
	return n, nil
}
