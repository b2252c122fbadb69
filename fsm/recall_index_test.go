package fsm_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"dormouse/agent"
	"dormouse/fsm"
	"dormouse/fsm/kv"
	"dormouse/storage"
)

// A memory that is deleted right after it was written leaves the index that a recall has built.
func TestTheNewestMemoryLeavesTheIndexWhenItIsDeleted(t *testing.T) {
	r := newSubject(t)
	r.record()
	write := func(id string) {
		t.Helper()
		do[*agent.MemoryResult](r, &agent.WriteMemory{Agent: "a", ID: id, Content: "tea"})
	}
	recalled := func(want ...string) {
		t.Helper()
		var got []string
		for _, item := range read[*agent.Recalled](r, &agent.Recall{Agent: "a", Query: "tea", Mode: agent.ModeText}).Items {
			got = append(got, item.Memory.ID)
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("recalled %q, want %q", got, want)
		}
	}
	write("one")
	write("two")
	recalled("one", "two")
	do[*agent.DeleteResult](r, &agent.DeleteMemory{Agent: "a", ID: "two"})
	recalled("one")
	write("two")
	recalled("one", "two")
}

// The index of an agent leaves memory with the agent's last memory, on a replica that decides an entry, on one
// that decides each entry for itself, and on one that applies what another has decided.
func TestTheIndexOfAnAgentWithoutMemoriesIsDropped(t *testing.T) {
	note := func(name, id string) *agent.WriteMemory {
		return &agent.WriteMemory{Agent: name, ID: id, Content: "tea"}
	}
	for name, end := range map[string]func(r *subject){
		"deleted": func(r *subject) {
			do[*agent.DeleteResult](r, &agent.DeleteMemory{Agent: "a", ID: "one"}, &agent.DeleteMemory{Agent: "a", ID: "two"})
		},
		"erased": func(r *subject) { do[*agent.Erasure](r, &agent.EraseAgent{Agent: "a"}) },
		"expired": func(r *subject) {
			for _, id := range []string{"one", "two"} {
				op := note("a", id)
				op.ExpiresAt = r.wall + 1000
				do[*agent.MemoryResult](r, op)
			}
			r.after(time.Minute).batch()
		},
		"with its scope": func(r *subject) {
			for i := range 2 * kv.PointDeletesMax { // so that the scope's rows are deleted as a range
				do[*agent.MemoryResult](r, note(fmt.Sprint("n", i), "m"))
			}
			do[*agent.DeleteResult](r, &agent.DeleteScope{})
		},
	} {
		for _, each := range []bool{false, true} {
			t.Run(fmt.Sprint(name, ", each decides: ", each), func(t *testing.T) {
				r := openSubject(t, fsm.Options{Dir: "state", FS: storage.MemFS(), EachDecides: each})
				r.record()
				follower := openPeer(t, storage.MemFS())
				do[*agent.MemoryResult](r, note("a", "one"), note("a", "two"))
				follower.apply(t, r.log...)
				applied := len(r.log)
				for _, m := range []*fsm.Machine{r.machine, follower.Machine} {
					view := m.View()
					view.Answer("", &agent.Recall{Agent: "a", Query: "tea", Mode: agent.ModeText})
					view.Close()
					if now, _, _ := fsm.CachesOf(m); now.Indexes == 0 {
						t.Fatal("the recall made no index")
					}
				}
				end(r)
				follower.apply(t, r.log[applied:]...)
				for replica, m := range map[string]*fsm.Machine{"decides": r.machine, "follows": follower.Machine} {
					if now, _, _ := fsm.CachesOf(m); now.Indexes != 0 {
						t.Errorf("%d bytes of the index are left on the replica that %s", now.Indexes, replica)
					}
				}
			})
		}
	}
}
