package raftlog

import (
	"testing"

	"github.com/hashicorp/raft"
)

func TestANodeHasAPartInElectionsFromTheEntryThatLetItIn(t *testing.T) {
	logs, stable := raft.NewInmemStore(), raft.NewInmemStore()
	open := func() *AdmissionState {
		t.Helper()
		a := newAdmission(stable, logs, &NewestSnapshot{})
		if err := a.load(); err != nil {
			t.Fatal(err)
		}
		return a
	}
	store := func(index, term uint64) {
		t.Helper()
		if err := logs.StoreLog(&raft.Log{Index: index, Term: term}); err != nil {
			t.Fatal(err)
		}
	}
	if !open().Over() {
		t.Error("a founder waits for being let in")
	}
	a := open()
	if err := a.Keep(Admission{}); err != nil || !a.Over() {
		t.Errorf("a leader that names no entry: %v", err)
	}
	if err := a.Keep(Admission{Index: 3, Term: 7}); err != nil {
		t.Fatal(err)
	}
	store(1, 1)
	store(2, 7)
	if a.Over() || open().Over() {
		t.Error("over before the entry is there")
	}
	store(3, 6)
	store(4, 6)
	if a.Over() || open().Over() {
		t.Error("over in a history that has another entry there")
	}
	store(3, 7)
	if !a.Over() || !open().Over() {
		t.Error("not over, and the entry is there")
	}
	if err := logs.DeleteRange(1, 3); err != nil {
		t.Fatal(err)
	}
	b := open()
	if !a.Over() || b.Over() {
		t.Error("the entry is in no log and no snapshot")
	}
	b.newest.meta = raft.SnapshotMeta{Index: 3, Term: 7}
	if !b.Over() {
		t.Error("not over, and the entry is in a snapshot")
	}
	if err := stable.Set(keyAdmission, []byte("short")); err != nil {
		t.Fatal(err)
	}
	if err := newAdmission(stable, logs, &NewestSnapshot{}).load(); err == nil {
		t.Error("damage is taken for an admission")
	}
}
