package raftlog

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/hashicorp/raft"
)

// errNotAdmitted refuses votes while this node's log ends before its admission.
var errNotAdmitted = errors.New("this node is still catching up to the index at which it joined: it may not vote yet")

var keyAdmission = []byte("dormouse/admission")

// Admission is the entry from which a new node takes part in elections. The
// founder, which was never admitted, has the zero value.
type Admission struct {
	Index uint64
	Term  uint64
}

// AdmissionState is this node's own admission. Its methods may be called
// concurrently.
type AdmissionState struct {
	stable raft.StableStore
	logs   raft.LogStore
	newest *NewestSnapshot

	at      atomic.Pointer[Admission] // nil: none
	reached atomic.Bool               // the log holds the entry, which is committed
	News    chan struct{}             // capacity 1: the admission has changed
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

// Keep stores at as this node's admission, durably, before the node follows a
// leader.
func (a *AdmissionState) Keep(at Admission) error {
	if at == (Admission{}) { // the leader's version names none
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

// Over reports whether the log holds the entry of the admission. The entry is
// committed, so the log keeps it.
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
