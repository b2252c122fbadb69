package cluster

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/hashicorp/raft"
)

// errNotAdmitted answers votes while this node reads of memberships that are over.
var errNotAdmitted = errors.New("this node is new, and its log does not reach to where it was let in: it may not vote yet")

var keyAdmission = []byte("dormouse/admission")

// Admission is the entry from which a new node has a part in elections. The zero
// value is none: the founder's, which was never let in.
type Admission struct {
	Index uint64
	Term  uint64
}

// admission is what this node knows of its own. It may be used concurrently.
type admission struct {
	stable raft.StableStore
	logs   raft.LogStore
	newest *newestSnapshot

	at      atomic.Pointer[Admission] // nil: none
	reached atomic.Bool               // the log holds it, as it will for ever
	news    chan struct{}             // capacity 1: it may have become this node's
}

func newAdmission(stable raft.StableStore, logs raft.LogStore, newest *newestSnapshot) *admission {
	return &admission{stable: stable, logs: logs, newest: newest, news: make(chan struct{}, 1)}
}

func (a *admission) load() error {
	kept, err := a.stable.Get(keyAdmission)
	switch {
	case err != nil && !absent(err):
		return err
	case len(kept) == 0:
		return nil
	case len(kept) != 16:
		return fmt.Errorf("%w: %s has %d bytes, not 16: %s", ErrDamaged, keyAdmission, len(kept), Rebuild)
	}
	a.set(Admission{Index: binary.BigEndian.Uint64(kept), Term: binary.BigEndian.Uint64(kept[8:])})
	return nil
}

// keep makes at this node's admission, durably. It has followed nobody yet.
func (a *admission) keep(at Admission) error {
	if at == (Admission{}) { // the leader is of a version that names none
		return nil
	}
	kept := binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, at.Index), at.Term)
	if err := a.stable.Set(keyAdmission, kept); err != nil {
		return fmt.Errorf("keep the admission: %w", err)
	}
	a.set(at)
	return nil
}

func (a *admission) set(at Admission) {
	a.at.Store(&at)
	select {
	case a.news <- struct{}{}:
	default:
	}
}

// over tells whether the log holds the entry. It is committed, so it stays.
func (a *admission) over() bool {
	at := a.at.Load()
	if at == nil || a.reached.Load() {
		return true
	}
	var entry raft.Log
	if a.newest.index() < at.Index && (a.logs.GetLog(at.Index, &entry) != nil || entry.Term != at.Term) {
		return false
	}
	a.reached.Store(true)
	return true
}
