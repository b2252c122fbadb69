package fsm

import (
	"fmt"
	"io"
	"sync"

	"github.com/hashicorp/raft"

	"dormouse/fsm/command"
	"dormouse/storage"
)

// Replica is a machine that is filled from a backup and from shipped log entries, outside of a
// cluster. One goroutine may use it.
type Replica struct {
	*Machine
	mu     sync.Mutex
	failed error // why the machine has stopped; guarded by mu
}

// OpenReplica reads a backup into the empty directory dir. Close it after use. Of the caches 0 means the default.
func OpenReplica(fs storage.FS, dir string, caches Caches, backup io.Reader) (*Replica, error) {
	r := &Replica{}
	var err error
	if r.Machine, err = Open(Options{Dir: dir, FS: fs, Caches: caches, Fatal: r.fail}); err != nil {
		return nil, err
	}
	err = r.Restore(io.NopCloser(backup))
	if err = r.why(err); err != nil {
		_ = r.Close()
		return nil, err
	}
	return r, nil
}

// Replay applies an entry of the log.
func (r *Replica) Replay(index, term uint64, entry []byte) error {
	if applied := r.Applied(); index <= applied {
		return fmt.Errorf("entry %d comes after entry %d", index, applied)
	}
	r.Apply(&raft.Log{Type: raft.LogCommand, Index: index, Term: term, Data: entry})
	if applied := r.Applied(); applied != index {
		return r.why(fmt.Errorf("entry %d cannot be applied: the state ends at entry %d", index, applied))
	}
	return nil
}

func (r *Replica) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failed == nil {
		r.failed = err
	}
}

// why returns the error that stopped the machine, if err is not nil and there is one.
func (r *Replica) why(err error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil && r.failed != nil {
		return r.failed
	}
	return err
}

// EntryTime returns the wall time in Unix milliseconds with which a leader stamped an entry. The
// time of the state is that of its newest stamp.
func EntryTime(entry []byte) (int64, error) {
	b, _, err := command.Unpack(entry)
	if err != nil {
		return 0, err
	}
	return b.WallMs, nil
}

// ChainAt returns the chain of a machine after one of its newest entries; false if it is not kept.
func ChainAt(m *Machine, index uint64) (uint32, bool) { return m.chains.At(index) }
