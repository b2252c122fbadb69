package fsm_test

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"dormouse/agent"
	"dormouse/fsm/kv"
	"dormouse/fsm/txn"
)

// remember writes n memories of an agent, some per commit.
func (r *subject) remember(name string, n int) {
	r.tb.Helper()
	for i := 0; i < n; i += 50 {
		var ops []agent.Op
		for j := i; j < min(i+50, n); j++ {
			ops = append(ops, &agent.WriteMemory{Agent: name, ID: fmt.Sprintf("m-%05d", j), Content: "c"})
		}
		do[*agent.MemoryResult](r, ops...)
	}
}

// listedMemories returns the agents and ids of the list of all memories, oldest write first, read
// in pages of limit.
func (r *subject) listedMemories(limit uint64) (all []string) {
	r.tb.Helper()
	for q := (agent.ListMemories{Page: agent.Page{Limit: limit}}); ; {
		list := read[*agent.MemoryList](r, &q)
		for _, m := range list.Items {
			all = append(all, m.Agent+"/"+m.ID)
		}
		if q.After = list.Next; q.After == "" {
			return all
		}
	}
}

// listRows fails unless both kinds of the list's rows are n each.
func (r *subject) listRows(n int) {
	r.tb.Helper()
	if list, places := r.rows(kv.KindMemoryList), r.rows(kv.KindMemoryPlace); list != n || places != n {
		r.tb.Fatalf("the list has %d rows, the agents have %d, want %d", list, places, n)
	}
}

func lists(t *testing.T, got []string, want ...string) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Fatalf("listed %v, want %v", got, want)
	}
}

func TestAllMemoriesAreListedByTheirLastWrite(t *testing.T) {
	r := newSubject(t)
	r.record()
	do[*agent.MemoryResult](r, &agent.WriteMemory{Agent: "b", ID: "1", Content: "c"}, &agent.WriteMemory{Agent: "a", ID: "2", Content: "c"})
	r.after(time.Millisecond)
	do[*agent.MemoryResult](r, &agent.WriteMemory{Agent: "b", ID: "3", Content: "c"}, &agent.WriteMemory{Agent: "a", ID: "4", Content: "c"}, &agent.WriteMemory{Agent: "a", ID: "5", Content: "c", TTL: time.Second})
	for _, limit := range []uint64{1, 2, 3, 0} {
		lists(t, r.listedMemories(limit), "b/1", "a/2", "b/3", "a/4", "a/5")
	}
	do[*agent.MemoryResult](r, &agent.WriteMemory{Agent: "a", ID: "2", Content: "again"}, &agent.WriteMemory{Agent: "b", ID: "1", Content: "again"})
	do[*agent.DeleteResult](r, &agent.DeleteMemory{Agent: "b", ID: "3"})
	lists(t, r.listedMemories(1), "a/4", "a/5", "a/2", "b/1")
	r.listRows(4)
	r.after(2 * time.Second).pass() // a/5 expires
	lists(t, r.listedMemories(1), "a/4", "a/2", "b/1")
	r.listRows(3)
}

func TestMemoriesFromBelowTheLevelAreListedAPieceAnEntry(t *testing.T) {
	for _, c := range []struct{ before, entries int }{
		{0, 1},
		{agent.MemoriesListedMax, 1},
		{agent.MemoriesListedMax + 1, 2},
	} {
		r := newSubject(t)
		r.raise(txn.ListedLevel - 1)
		r.remember("a", c.before)
		r.settled()
		r.listRows(0)
		r.missing(agent.CodeUnavailable, &agent.ListMemories{})
		r.raise(txn.ListedLevel)
		for i := range c.entries {
			r.missing(agent.CodeUnavailable, &agent.ListMemories{})
			r.listRows(min(c.before, i*agent.MemoriesListedMax))
			r.pass()
		}
		if n := r.settled(); n != 0 {
			t.Errorf("of %d memories some were left after %d entries: it took %d more", c.before, c.entries, n)
		}
		r.listRows(c.before)
		if got := r.listedMemories(500); len(got) != c.before {
			t.Errorf("%d of %d memories are listed", len(got), c.before)
		}
	}
}

// Memories that are written, overwritten, copied, deleted and erased during the backfill are each
// listed once.
func TestWritesBesideTheBackfillAreListedOnce(t *testing.T) {
	r := newSubject(t)
	r.raise(txn.ListedLevel - 1)
	const many = agent.MemoriesListedMax
	r.remember("a", many)
	r.remember("b", many)
	r.remember("c", many)
	r.raise(txn.ListedLevel)
	r.pass() // a's are listed; b's and c's are not
	for _, name := range []string{"a", "b", "c"} {
		do[*agent.MemoryResult](r, &agent.WriteMemory{Agent: name, ID: "m-00001", Content: "again"})
		do[*agent.DeleteResult](r, &agent.DeleteMemory{Agent: name, ID: "m-00002"})
		do[*agent.MemoryResult](r, &agent.WriteMemory{Agent: name, ID: "new", Content: "c"})
	}
	do[*agent.Erasure](r, &agent.EraseAgent{Agent: "c"})
	do[*agent.MemoryResult](r, &agent.WriteMemory{Agent: "c", ID: "m-00003", Content: "c"})
	r.settled()
	r.listRows(2*many + 1)
	seen := map[string]int{}
	for _, m := range r.listedMemories(0) {
		if seen[m]++; seen[m] > 1 {
			t.Errorf("%s is listed twice", m)
		}
	}
	if len(seen) != 2*many+1 || seen["a/m-00001"]+seen["b/m-00001"]+seen["c/m-00003"] != 3 || seen["a/m-00002"]+seen["b/m-00002"]+seen["c/new"] != 0 {
		t.Errorf("%d are listed, want %d", len(seen), 2*many+1)
	}
}

func TestErasedMemoriesLeaveTheListAPieceAnEntry(t *testing.T) {
	r := newSubject(t)
	r.record()
	const many = 2*agent.EraseRowsMax + 1
	do[*agent.MemoryResult](r, &agent.WriteMemory{Agent: "b", ID: "other", Content: "c"})
	r.remember("a", many)
	erased := do[*agent.Erasure](r, &agent.EraseAgent{Agent: "a"})
	if erased.Complete() || erased.Memories != many {
		t.Fatalf("erased: %+v", erased)
	}
	lists(t, r.listedMemories(0), "b/other")
	do[*agent.MemoryResult](r, &agent.WriteMemory{Agent: "a", ID: "m-00000", Content: "c"}) // an id of an erased memory
	lists(t, r.listedMemories(0), "b/other", "a/m-00000")
	for before := r.rows(kv.KindMemoryPlace); !read[*agent.Erasure](r, &agent.GetErasure{Agent: "a"}).Complete(); {
		if _, wall := r.machine.Due(); wall == 0 || wall > r.wall {
			t.Fatalf("%d places are left, and nothing is due", before)
		}
		r.pass()
		now := r.rows(kv.KindMemoryPlace)
		if gone := before - now; gone > agent.EraseRowsMax {
			t.Fatalf("an entry removed %d memories from the list", gone)
		}
		before = now
		lists(t, r.listedMemories(0), "b/other", "a/m-00000")
	}
	r.listRows(2)
	if got := read[*agent.Erasure](r, &agent.GetErasure{Agent: "a"}); got.Memories != many {
		t.Fatalf("the receipt says %+v", got)
	}
}

func TestATokenOfAllMemoriesIsHeldToItsForm(t *testing.T) {
	r := newSubject(t)
	r.record()
	do[*agent.MemoryResult](r, &agent.WriteMemory{Agent: "a", ID: "1", Content: "c"})
	for _, after := range []string{"x", "abc", "a/1"} {
		r.missing(agent.CodeInvalid, &agent.ListMemories{Page: agent.Page{After: after}})
	}
	for _, after := range []string{"", "00", "ff"} { // in the form of a page token
		read[*agent.MemoryList](r, &agent.ListMemories{Page: agent.Page{After: after}})
	}
}

// The list has exactly the existing memories in the order of their last writes, after any writes,
// deletes, forks, erasures and expiries.
func TestTheListHasEachMemoryOnce(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := newSubject(t)
		defer r.close()
		if rapid.Bool().Draw(rt, "level is raised first") {
			r.record()
		}
		next := map[string]string{"a": "b", "b": "c", "c": "a"}
		names := rapid.SampledFrom([]string{"a", "b", "c"})
		for range rapid.IntRange(1, 30).Draw(rt, "ops") {
			name, id := names.Draw(rt, "agent"), rapid.SampledFrom([]string{"1", "2", "3"}).Draw(rt, "id")
			r.after(rapid.SampledFrom([]time.Duration{0, time.Millisecond, time.Second}).Draw(rt, "pass"))
			switch rapid.IntRange(0, 5).Draw(rt, "op") {
			case 0:
				_, _ = r.try(&agent.DeleteMemory{Agent: name, ID: id})
			case 1:
				_, _ = r.try(&agent.EraseAgent{Agent: name})
			case 2:
				_, _ = r.try(&agent.PutCheckpoint{Key: name, State: agent.JSON(`{}`)})
				_, _ = r.try(&agent.ForkAgent{Agent: name, NewAgent: next[name]})
			default:
				_, _ = r.try(&agent.WriteMemory{Agent: name, ID: id, Content: "c", TTL: rapid.SampledFrom([]time.Duration{0, time.Second}).Draw(rt, "ttl")})
			}
		}
		r.record()
		r.settled()
		live, last := map[string]bool{}, agent.Memory{}
		for _, name := range []string{"a", "b", "c"} {
			for _, m := range read[*agent.MemoryList](r, &agent.ListMemories{Agent: name}).Items {
				live[m.Agent+"/"+m.ID] = true
			}
		}
		r.listRows(len(live))
		for _, m := range read[*agent.MemoryList](r, &agent.ListMemories{}).Items {
			if !live[m.Agent+"/"+m.ID] || m.UpdatedAt < last.UpdatedAt {
				rt.Fatalf("%s/%s follows %s/%s, and of the memories not listed yet there are %v", m.Agent, m.ID, last.Agent, last.ID, live)
			}
			delete(live, m.Agent+"/"+m.ID)
			last = m
		}
		if len(live) > 0 {
			rt.Fatalf("not listed: %v", live)
		}
	})
}
