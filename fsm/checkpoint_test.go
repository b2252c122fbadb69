package fsm_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"dormouse/agent"
	"dormouse/fsm/kv"
)

func state(key, state string) *agent.PutCheckpoint {
	return &agent.PutCheckpoint{Key: key, State: agent.JSON(state)}
}

func pointing(key, thread string, rev uint64) *agent.PutCheckpoint {
	return &agent.PutCheckpoint{Key: key, State: agent.JSON(`{}`), Thread: &agent.Pointer{Thread: thread, Rev: rev}}
}

func TestAPutCheckpointIsReadBackWhole(t *testing.T) {
	r := newSubject(t)
	r.missing(agent.CodeNotFound, &agent.GetCheckpoint{Key: "c"})
	put := &agent.PutCheckpoint{
		Key: "c", Version: 7, State: agent.JSON(`{"n": 9007199254740993, "__thread__": {"big": 1}}`),
		Lifecycle: "idle", Metadata: agent.JSON(`{"who":"me"}`),
	}
	first := do[*agent.CheckpointResult](r, put)
	got := read[*agent.Checkpoint](r, &agent.GetCheckpoint{Key: "c"})
	if string(got.State) != `{"n":9007199254740993}` || got.Version != 7 || got.Lifecycle != "idle" || string(got.Metadata) != `{"who":"me"}` {
		t.Fatalf("%+v", got)
	}
	second := do[*agent.CheckpointResult](r.after(time.Second), state("c", `{"n":2}`))
	if first.Revision != 1 || second.Revision != 2 || second.CreatedAt != startWall || second.UpdatedAt != startWall+1000 {
		t.Fatalf("%+v then %+v", first, second)
	}
	if got := read[*agent.Checkpoint](r, &agent.GetCheckpoint{Key: "c"}); got.Version != 1 || string(got.Metadata) != `{}` {
		t.Fatalf("defaults: %+v", got)
	}
}

func TestRevisionsAreCompared(t *testing.T) {
	r := newSubject(t)
	at := func(revision uint64) *agent.PutCheckpoint {
		return &agent.PutCheckpoint{Key: "c", State: agent.JSON(`{}`), IfRevision: &revision}
	}
	r.refuse(agent.CodeRevisionMismatch, at(1))
	do[*agent.CheckpointResult](r, at(0))
	if e := r.refusal(agent.CodeRevisionMismatch, at(0)); e.Revision != 1 {
		t.Fatalf("the refusal does not tell the revision: %+v", e)
	}
	do[*agent.CheckpointResult](r, at(1))
	r.refuse(agent.CodeRevisionMismatch, &agent.DeleteCheckpoint{Key: "c", IfRevision: ptr(uint64(1))})
	r.refuse(agent.CodeRevisionMismatch, &agent.PatchCheckpoint{Key: "c", Patch: agent.JSON(`{}`), IfRevision: ptr(uint64(1))})
	do[*agent.DeleteResult](r, &agent.DeleteCheckpoint{Key: "c", IfRevision: ptr(uint64(2))})
	do[*agent.CheckpointResult](r, at(0))
}

func TestAPatchMergesIntoTheStateAndKeepsTheRest(t *testing.T) {
	r := newSubject(t)
	r.refuse(agent.CodeNotFound, &agent.PatchCheckpoint{Key: "c", Patch: agent.JSON(`{}`)})
	do[*agent.ThreadResult](r, appendTo("t", `{}`))
	do[*agent.CheckpointResult](r, &agent.PutCheckpoint{
		Key: "c", Version: 3, State: agent.JSON(`{"a":1,"b":{"c":2,"d":3}}`), Lifecycle: "idle",
		Thread: &agent.Pointer{Thread: "t", Rev: 1}, TTL: time.Hour,
	})
	before := read[*agent.Checkpoint](r, &agent.GetCheckpoint{Key: "c"})
	do[*agent.CheckpointResult](r.after(time.Second), &agent.PatchCheckpoint{Key: "c", Patch: agent.JSON(`{"b":{"c":null,"e":4},"f":5}`)})
	got := read[*agent.Checkpoint](r, &agent.GetCheckpoint{Key: "c"})
	if string(got.State) != `{"a":1,"b":{"d":3,"e":4},"f":5}` {
		t.Fatalf("state %s", got.State)
	}
	if got.Version != 3 || got.Lifecycle != "idle" || got.Thread.Head != before.Thread.Head || got.ExpiresAt != before.ExpiresAt || got.Revision != 2 {
		t.Fatalf("%+v", got)
	}
	big := `{"x":"` + strings.Repeat("0", agent.CheckpointBytesMax-100) + `"}`
	do[*agent.CheckpointResult](r, state("big", big))
	if e := r.refusal(agent.CodeTooLarge, &agent.PatchCheckpoint{Key: "big", Patch: agent.JSON(`{"y":"` + strings.Repeat("0", 100) + `"}`)}); e.Limit == "" {
		t.Fatalf("%+v", e)
	}
}

func TestHistoryIsKeptAsThePolicySays(t *testing.T) {
	r := newSubject(t)
	for n := range 6 {
		do[*agent.CheckpointResult](r, state("c", fmt.Sprintf(`{"n":%d}`, n+1)))
	}
	revisions := func() (out []uint64) {
		for _, row := range read[*agent.CheckpointList](r, &agent.CheckpointHistory{Key: "c"}).Items {
			out = append(out, row.Revision)
		}
		return out
	}
	if got := fmt.Sprint(revisions()); got != "[6 5 4 3]" {
		t.Fatalf("history %s, want the newest %d", got, agent.HistoryDefault)
	}
	if got := read[*agent.Checkpoint](r, &agent.GetCheckpoint{Key: "c", Revision: 3}); string(got.State) != `{"n":3}` {
		t.Fatalf("revision 3: %+v", got)
	}
	r.missing(agent.CodeNotFound, &agent.GetCheckpoint{Key: "c", Revision: 2})
	do[*agent.ScopeResult](r, &agent.PutScope{Policy: agent.Policy{History: 2}})
	do[*agent.CheckpointResult](r, state("c", `{"n":7}`))
	if got := fmt.Sprint(revisions()); got != "[7 6]" {
		t.Fatalf("history %s after the policy shrank", got)
	}
	if s := read[*agent.Scope](r, &agent.GetScope{}); s.Keys != 1 || s.Bytes != 2*(7+2) {
		t.Fatalf("the scope counts %+v", s)
	}
	if got := r.rows(kv.KindCheckpointBody); got != 2 {
		t.Fatalf("%d bodies are kept", got)
	}
}

func TestAPointerMustMatchTheJournalAsOfItsCommit(t *testing.T) {
	r := newSubject(t)
	if e := r.refusal(agent.CodeMissingThread, pointing("c", "t", 1)); e.Thread != "t" {
		t.Fatalf("%+v", e)
	}
	both := []agent.Op{appendTo("t", `{}`, `{}`), pointing("c", "t", 2)}
	got := do[*agent.CheckpointResult](r, both...)
	meta := read[*agent.Thread](r, &agent.GetThread{Thread: "t"})
	if got.Thread.Head != meta.Head.String() || got.Thread.Incarnation != meta.Incarnation {
		t.Fatalf("the pointer is not filled in: %+v", got.Thread)
	}
	if e := r.refusal(agent.CodeThreadMismatch, pointing("c", "t", 3)); e.Rev != 2 || e.Head != meta.Head.String() {
		t.Fatalf("%+v", e)
	}
	other := pointing("c", "t", 2)
	other.Thread.Head = agent.Head{1}.String()
	r.refuse(agent.CodeThreadMismatch, other)
	r.refuse(agent.CodeThreadMismatch, appendTo("t", `{}`), pointing("c", "t", 4)) // nothing applies
	if got := read[*agent.Thread](r, &agent.GetThread{Thread: "t"}); got.Rev != 2 {
		t.Fatalf("a refused commit has appended: %+v", got)
	}
	old := pointing("c", "t", 1)
	old.Thread.Incarnation = meta.Incarnation + 1
	r.refuse(agent.CodeThreadMismatch, old)
	do[*agent.CheckpointResult](r, pointing("c", "t", 1)) // an older rev is fine
}

func TestThawReadsTheThreadAtThePointersRevAndFailsClosed(t *testing.T) {
	r := newSubject(t)
	thaw := &agent.Thaw{Key: "c"}
	r.missing(agent.CodeNotFound, thaw)
	do[*agent.CheckpointResult](r, pointing("c", "t", 0))
	if got := read[*agent.Thawed](r, thaw); got.Thread == nil || got.Thread.Rev != 0 || len(got.Entries) != 0 {
		t.Fatalf("P-5, an empty thread: %+v", got)
	}
	do[*agent.CheckpointResult](r, appendTo("t", `{"n":0}`, `{"n":1}`, `{"n":2}`), pointing("c", "t", 3))
	at3 := read[*agent.Thread](r, &agent.GetThread{Thread: "t"})
	do[*agent.ThreadResult](r, appendTo("t", `{"n":3}`, `{"n":4}`))
	got := read[*agent.Thawed](r, thaw)
	if got.Ahead != 2 || got.Thread.Rev != 3 || got.Thread.Head != at3.Head || payloads(got.Entries) != `{"n":0}{"n":1}{"n":2}` {
		t.Fatalf("%+v", got)
	}
	if got := read[*agent.Thawed](r, &agent.Thaw{Key: "c", Tail: ptr(uint64(1))}); payloads(got.Entries) != `{"n":2}` {
		t.Fatalf("tail: %+v", got.Entries)
	}
	do[*agent.DeleteResult](r, &agent.DeleteThread{Thread: "t"})
	r.missing(agent.CodeMissingThread, thaw)
	do[*agent.ThreadResult](r, appendTo("t", `{"n":0}`, `{"n":1}`, `{"n":2}`))
	r.missing(agent.CodeThreadMismatch, thaw)
	do[*agent.CheckpointResult](r, state("c", `{}`))
	if got := read[*agent.Thawed](r, thaw); got.Thread != nil {
		t.Fatalf("P-10, without a pointer: %+v", got)
	}
}

func TestWhatExpiresIsGoneInLogTimeAndSweptThroughTheLog(t *testing.T) {
	r := newSubject(t)
	const n = 200
	ops := []agent.Op{}
	for i := range n {
		ops = append(ops, &agent.PutValue{Key: fmt.Sprintf("v%d", i), Bytes: []byte("x"), TTL: time.Minute})
	}
	ops = append(ops, &agent.PutCheckpoint{Key: "c", State: agent.JSON(`{}`), TTL: time.Minute})
	do[*agent.CheckpointResult](r, ops...)
	if _, wall := r.machine.Due(); wall != startWall+60_000 {
		t.Fatalf("due at %d", wall)
	}
	r.after(time.Minute - time.Millisecond).batch()
	read[*agent.Value](r, &agent.GetValue{Key: "v0"})
	r.after(time.Millisecond).batch()
	r.missing(agent.CodeNotFound, &agent.GetValue{Key: fmt.Sprintf("v%d", n-1)})
	r.missing(agent.CodeNotFound, &agent.GetCheckpoint{Key: "c"})
	if got := read[*agent.ValueList](r, &agent.ListValues{}); len(got.Items) != 0 {
		t.Fatalf("%d values are listed", len(got.Items))
	}
	if again := do[*agent.ValueResult](r, &agent.PutValue{Key: fmt.Sprintf("v%d", n-1), IfRevision: ptr(uint64(0))}); again.Revision != 1 {
		t.Fatalf("over an expired value: %+v", again)
	}
	entries := 0
	for _, wall := r.machine.Due(); wall != 0 && wall <= r.wall; _, wall = r.machine.Due() {
		r.batch()
		entries++
	}
	if entries < 1 || entries > n/64+1 {
		t.Fatalf("swept in %d more entries", entries)
	}
	if s := read[*agent.Scope](r, &agent.GetScope{}); s.Keys != 1 || s.Bytes != 0 {
		t.Fatalf("the scope counts %+v", s)
	}
	if got := r.rows(kv.KindDueWall); got != 0 {
		t.Fatalf("%d rows are left in the queue", got)
	}
}

func TestAWriteArmsTheTTLAnewOrClearsIt(t *testing.T) {
	r := newSubject(t)
	with := func(ttl time.Duration) *agent.PutValue { return &agent.PutValue{Key: "v", TTL: ttl} }
	do[*agent.ValueResult](r, with(time.Minute))
	do[*agent.ValueResult](r.after(30*time.Second), with(time.Minute))
	r.after(40 * time.Second).batch()
	read[*agent.Value](r, &agent.GetValue{Key: "v"})
	do[*agent.ValueResult](r, with(0))
	r.after(time.Hour).batch()
	if got := read[*agent.Value](r, &agent.GetValue{Key: "v"}); got.ExpiresAt != 0 || got.Revision != 3 {
		t.Fatalf("%+v", got)
	}
	if got := r.rows(kv.KindDueWall); got != 0 {
		t.Fatalf("%d rows are left in the queue", got)
	}
}
