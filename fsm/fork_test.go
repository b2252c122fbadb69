package fsm_test

import (
	"fmt"
	"testing"

	"dormouse/agent"
)

func payloads(entries []agent.Entry) string {
	out := ""
	for _, e := range entries {
		out += string(e.Payload)
	}
	return out
}

func TestAForkSharesItsPrefixAndGoesItsOwnWay(t *testing.T) {
	r := newSubject(t)
	do[*agent.ThreadResult](r, appendTo("t", `{"n":0}`, `{"n":1}`, `{"n":2}`))
	fork := do[*agent.ThreadResult](r, &agent.ForkThread{Thread: "t", NewThread: "f", AtRev: ptr(uint64(2))}).Thread
	if fork.Rev != 2 || fork.ForkedFrom == nil || fork.ForkedFrom.Rev != 2 || fork.ForkedFrom.Thread != "t" {
		t.Fatalf("fork: %+v", fork)
	}
	do[*agent.ThreadResult](r, appendTo("f", `{"n":"f"}`))
	do[*agent.ThreadResult](r, appendTo("t", `{"n":3}`))
	do[*agent.ThreadResult](r, &agent.ForkThread{Thread: "f", NewThread: "g"})
	do[*agent.ThreadResult](r, appendTo("g", `{"n":"g"}`))
	if got := payloads(loaded(r, "g")); got != `{"n":0}{"n":1}{"n":"f"}{"n":"g"}` {
		t.Fatalf("fork of the fork: %s", got)
	}
	for _, id := range []string{"t", "f", "g"} {
		if v := read[*agent.Verified](r, &agent.VerifyThread{Thread: id}); !v.OK {
			t.Fatalf("%s: %+v", id, v)
		}
	}
	r.refuse(agent.CodeAlreadyExists, &agent.ForkThread{Thread: "t", NewThread: "f"})
	r.refuse(agent.CodeNotFound, &agent.ForkThread{Thread: "none", NewThread: "h"})
	if e := r.refusal(agent.CodeConflict, &agent.ForkThread{Thread: "t", NewThread: "h", AtRev: ptr(uint64(9))}); e.Rev != 4 {
		t.Fatalf("%+v", e)
	}
}

func TestAForkKeepsTheRowsOfADeletedThread(t *testing.T) {
	empty := newSubject(t)
	do[*agent.ThreadResult](empty, appendTo("x"))
	do[*agent.DeleteResult](empty, &agent.DeleteThread{Thread: "x"})

	r := newSubject(t)
	many := make([]string, 300) // more than are deleted one by one
	for i := range many {
		many[i] = fmt.Sprintf(`{"n":%d}`, i)
	}
	do[*agent.ThreadResult](r, &agent.AppendThread{Thread: "t", Entries: append(drafts(many...), agent.Draft{ID: "chosen"})})
	do[*agent.ThreadResult](r, &agent.ForkThread{Thread: "t", NewThread: "f"})
	do[*agent.ThreadResult](r, &agent.ForkThread{Thread: "f", NewThread: "g", AtRev: ptr(uint64(200))})
	do[*agent.DeleteResult](r, &agent.DeleteThread{Thread: "t"})
	do[*agent.ThreadResult](r, appendTo("t", `{"another":1}`))
	if got := loaded(r, "f"); len(got) != 301 || payloads(got[:1]) != `{"n":0}` {
		t.Fatalf("the fork has %d entries", len(got))
	}
	r.refuse(agent.CodeDuplicateEntry, &agent.AppendThread{Thread: "f", Entries: []agent.Draft{{ID: "chosen", Kind: "other"}}})
	do[*agent.DeleteResult](r, &agent.DeleteThread{Thread: "f"})
	if got := loaded(r, "g"); len(got) != 200 {
		t.Fatalf("the fork's fork has %d entries", len(got))
	}
	if got := r.rows(entryRows); got != 302 {
		t.Fatalf("%d entry rows while a fork needs them, want 301 and the new thread's", got)
	}
	do[*agent.DeleteResult](r, &agent.DeleteThread{Thread: "g"})
	if got := r.rows(entryRows); got != 1 {
		t.Fatalf("%d entry rows after the last fork, want the new thread's alone", got)
	}
	do[*agent.DeleteResult](r, &agent.DeleteThread{Thread: "t"})
	if s := read[*agent.Scope](r, &agent.GetScope{}); s.Keys != 0 || s.Bytes != 0 {
		t.Fatalf("the scope counts what is not there: %+v", s)
	}
}

func TestForksOfForksAreBounded(t *testing.T) {
	r := newSubject(t)
	do[*agent.ThreadResult](r, appendTo("t0", `{}`))
	var err *agent.Error
	n := 0
	for ; err == nil && n < 2*agent.ForkSegmentsMax; n++ {
		_, err = r.try(
			&agent.ForkThread{Thread: fmt.Sprintf("t%d", n), NewThread: fmt.Sprintf("t%d", n+1)},
			appendTo(fmt.Sprintf("t%d", n+1), `{}`),
		)
	}
	if err == nil || err.Code != agent.CodeTooLarge || n != agent.ForkSegmentsMax+1 {
		t.Fatalf("after %d forks: %v", n, err)
	}
	last := fmt.Sprintf("t%d", agent.ForkSegmentsMax)
	if got := len(loaded(r, last)); got != agent.ForkSegmentsMax+1 {
		t.Fatalf("%d entries", got)
	}
	do[*agent.ThreadResult](r, appendTo("short", `{}`))
}

func TestCompactionForgetsEntriesAndKeepsTheChain(t *testing.T) {
	r := newSubject(t)
	before := do[*agent.ThreadResult](r, appendTo("t", `{"n":0}`, `{"n":1}`, `{"n":2}`, `{"n":3}`)).Thread
	chosen := &agent.AppendThread{Thread: "t", Entries: []agent.Draft{{ID: "late"}}}
	do[*agent.ThreadResult](r, chosen)
	if e := r.refusal(agent.CodeConflict, &agent.CompactThread{Thread: "t", BeforeSeq: 6}); e.Rev != 5 {
		t.Fatalf("%+v", e)
	}
	got := do[*agent.ThreadResult](r, &agent.CompactThread{Thread: "t", BeforeSeq: 3, Summary: agent.JSON(`{"sum":3}`)}).Thread
	if got.Rev != 5 || got.Floor != 3 {
		t.Fatalf("%+v", got)
	}
	if again := do[*agent.ThreadResult](r, &agent.CompactThread{Thread: "t", BeforeSeq: 1}).Thread; again.Floor != 3 {
		t.Fatalf("a lower floor: %+v", again)
	}
	meta := read[*agent.Thread](r, &agent.GetThread{Thread: "t"})
	if string(meta.Summary) != `{"sum":3}` {
		t.Fatalf("summary %s", meta.Summary)
	}
	if got := payloads(loaded(r, "t")); got != `{"n":3}{}` {
		t.Fatalf("what is left: %s", got)
	}
	if v := read[*agent.Verified](r, &agent.VerifyThread{Thread: "t"}); !v.OK || v.Head != meta.Head {
		t.Fatalf("%+v", v)
	}
	at4 := read[*agent.Entries](r, &agent.LoadEntries{Thread: "t", AtRev: ptr(uint64(4))})
	if at4.Thread.Head != before.Head || at4.Thread.Rev != 4 || len(at4.Items) != 1 {
		t.Fatalf("at rev 4: %+v", at4)
	}
	if e := r.answer(&agent.LoadEntries{Thread: "t", From: 2}).Err; e == nil || e.Code != agent.CodeCompacted || e.Floor != 3 {
		t.Fatalf("%+v", e)
	}
	r.missing(agent.CodeCompacted, &agent.LoadEntries{Thread: "t", AtRev: ptr(uint64(2))})
	r.refuse(agent.CodeCompacted, &agent.ForkThread{Thread: "t", NewThread: "f", AtRev: ptr(uint64(2))})
	if rows := r.rows(entryRows); rows != 2 {
		t.Fatalf("%d entry rows are left", rows)
	}
	do[*agent.ThreadResult](r, &agent.CompactThread{Thread: "t", BeforeSeq: 5})
	if again := do[*agent.ThreadResult](r, chosen); again.Thread.Rev != 6 {
		t.Fatalf("a compacted id is forgotten: %+v", again)
	}
}

func TestCompactionStopsAtLivePointersAndForks(t *testing.T) {
	r := newSubject(t)
	do[*agent.ThreadResult](r, appendTo("t", `{}`, `{}`, `{}`, `{}`))
	pointer := func(rev uint64) *agent.PutCheckpoint {
		return &agent.PutCheckpoint{Key: "c", Thread: &agent.Pointer{Thread: "t", Rev: rev}, TTL: 1e9}
	}
	compact := func(before uint64) *agent.CompactThread { return &agent.CompactThread{Thread: "t", BeforeSeq: before} }
	do[*agent.CheckpointResult](r, pointer(1))
	r.refuse(agent.CodeConflict, compact(2))
	do[*agent.ThreadResult](r, compact(1))
	do[*agent.CheckpointResult](r, pointer(3))
	do[*agent.ThreadResult](r, compact(2))
	r.refuse(agent.CodeConflict, compact(4))
	r.wall += 1000 // the checkpoint has expired, swept or not
	do[*agent.ThreadResult](r, &agent.ForkThread{Thread: "t", NewThread: "f", AtRev: ptr(uint64(3))})
	r.refuse(agent.CodeConflict, compact(4))
	do[*agent.ThreadResult](r, compact(3))
	if got := loaded(r, "f"); len(got) != 1 {
		t.Fatalf("the fork reads %d entries of a compacted thread, want 1", len(got))
	}
	do[*agent.DeleteResult](r, &agent.DeleteThread{Thread: "f"})
	if rows := r.rows(entryRows); rows != 1 {
		t.Fatalf("%d entry rows, want 1: the fork held the others", rows)
	}
	do[*agent.ThreadResult](r, compact(4))
}

func TestCompactingAForkPastItsSharedEntriesLetsThemGo(t *testing.T) {
	r := newSubject(t)
	do[*agent.ThreadResult](r, appendTo("t", `{}`, `{}`))
	do[*agent.ThreadResult](r, &agent.ForkThread{Thread: "t", NewThread: "f"})
	do[*agent.ThreadResult](r, appendTo("f", `{"n":2}`, `{"n":3}`))
	do[*agent.DeleteResult](r, &agent.DeleteThread{Thread: "t"})
	do[*agent.ThreadResult](r, &agent.CompactThread{Thread: "f", BeforeSeq: 3})
	if got := payloads(loaded(r, "f")); got != `{"n":3}` {
		t.Fatalf("the fork reads %s", got)
	}
	if rows := r.rows(entryRows); rows != 1 {
		t.Fatalf("%d entry rows, want 1", rows)
	}
	do[*agent.DeleteResult](r, &agent.DeleteThread{Thread: "f"})
	if s := read[*agent.Scope](r, &agent.GetScope{}); s.Keys != 0 || s.Bytes != 0 {
		t.Fatalf("the scope counts what is not there: %+v", s)
	}
}

func TestAnIDThatCameBackAfterCompactionStaysKnownToTheFork(t *testing.T) {
	r := newSubject(t)
	id := func(thread string) *agent.AppendThread {
		return &agent.AppendThread{Thread: thread, Entries: []agent.Draft{{ID: "x"}, {}}}
	}
	do[*agent.ThreadResult](r, id("t"))
	do[*agent.ThreadResult](r, &agent.ForkThread{Thread: "t", NewThread: "f"})
	do[*agent.ThreadResult](r, &agent.CompactThread{Thread: "t", BeforeSeq: 2})
	if got := do[*agent.ThreadResult](r, id("t")); got.Entries[0].Seq != 2 {
		t.Fatalf("%+v", got)
	}
	if got := do[*agent.ThreadResult](r, id("f")); got.Entries[0].Seq != 0 {
		t.Fatalf("the fork has forgotten its entry: %+v", got)
	}
}

// A checkpoint that points to an earlier thread of the same name does not hold up a compaction.
func TestACompactionPassesPointersToAnEarlierThread(t *testing.T) {
	r := newSubject(t)
	do[*agent.CheckpointResult](r, appendTo("t", `{}`), pointing("c", "t", 1))
	do[*agent.ThreadResult](r, &agent.DeleteThread{Thread: "t"}, appendTo("t", `{}`, `{}`, `{}`))
	if got := do[*agent.ThreadResult](r, &agent.CompactThread{Thread: "t", BeforeSeq: 2}).Thread; got.Floor != 2 {
		t.Errorf("the floor is %d", got.Floor)
	}
}
