package raftlog

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

// AdmissionState is what this node knows of its own. It may be used concurrently.
type AdmissionState struct {
	stable raft.StableStore
	logs   raft.LogStore
	newest *NewestSnapshot

	at      atomic.Pointer[Admission] // nil: none
	reached atomic.Bool               // the log holds it, as it will for ever
	News    chan struct{}             // capacity 1: it may have become this node's
}

func newAdmission(stable raft.StableStore, logs raft.LogStore, newest *NewestSnapshot) *AdmissionState {
	return &AdmissionState{stable: stable, logs: logs, newest: newest, News: make(chan struct{}, 1)}
}

func (a *AdmissionState) load() error {
	kept, err := a.stable.Get(keyAdmission)
	switch {
	case err != nil && !Absent(err):
		return err
	case len(kept) == 0:
		return nil
	case len(kept) != 16:
		return fmt.Errorf("%w: %s has %d bytes, not 16: %s", ErrDamaged, keyAdmission, len(kept), Rebuild)
	}
	a.set(Admission{Index: binary.BigEndian.Uint64(kept), Term: binary.BigEndian.Uint64(kept[8:])})
	return nil
}

// Keep makes at this node's admission, durably. It has followed nobody yet.
func (a *AdmissionState) Keep(at Admission) error {
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

func (a *AdmissionState) set(at Admission) {
	a.at.Store(&at)
	select {
	case a.News <- struct{}{}:
	default:
	}
}

// Over tells whether the log holds the entry. It is committed, so it stays.
func (a *AdmissionState) Over() bool {
	at := a.at.Load()
	if at == nil || a.reached.Load() {
		return true
	}
	var entry raft.Log
	if a.newest.Index() < at.Index && (a.logs.GetLog(at.Index, &entry) != nil || entry.Term != at.Term) {
		return false
	}
	a.reached.Store(true)
	return true
}
