package fsm_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"dormouse/agent"
	"dormouse/fsm"
	"dormouse/fsm/kv"
	"dormouse/storage"
)

// note writes a plain memory of agent a.
func note(id, content string) *agent.WriteMemory {
	return &agent.WriteMemory{Agent: "a", ID: id, Content: content}
}

// recalled returns the ids that a recall finds.
func recalled(r *subject, q agent.Recall) string {
	r.tb.Helper()
	if q.Agent == "" {
		q.Agent = "a"
	}
	if q.Query == "" && (q.Mode == "" || q.Mode == agent.ModeRecent) {
		q.Query = "anything"
	}
	if err := (&agent.Reads{Reads: []agent.Read{&q}}).Validate(); err != nil {
		r.tb.Fatal(err)
	}
	var ids []string
	for _, item := range read[*agent.Recalled](r, &q).Items {
		ids = append(ids, item.Memory.ID)
	}
	return strings.Join(ids, " ")
}

func TestAMemoryIsReadBackWhole(t *testing.T) {
	r := newSubject(t)
	op := &agent.WriteMemory{
		Agent: "a", ID: "m", Session: "s", Class: agent.MemorySemantic, Kind: "fact", Content: "tea, not coffee",
		Data: agent.JSON(`{ "n": 18446744073709551615 }`), Tags: []string{" x ", "y", "x"}, Source: "chat", Metadata: agent.JSON(`{"k":1}`),
		Embedding: []float32{1, -2.5, 3e-9}, ObservedAt: ptr(int64(-5)), TTL: time.Hour,
	}
	done := do[*agent.MemoryResult](r, op)
	want := &agent.Memory{
		Agent: "a", ID: "m", Incarnation: done.Incarnation, Revision: 1, Session: "s", Class: "semantic", Kind: "fact",
		Content: "tea, not coffee", Data: agent.JSON(`{"n":18446744073709551615}`), Tags: []string{"x", "y"}, Source: "chat",
		Metadata: agent.JSON(`{"k":1}`), Embedding: []float32{1, -2.5, 3e-9}, ObservedAt: -5,
		CreatedAt: startWall, UpdatedAt: startWall, ExpiresAt: startWall + time.Hour.Milliseconds(),
	}
	got := read[*agent.Memory](r, &agent.GetMemory{Agent: "a", ID: "m"})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatal(diff)
	}
	r.after(time.Minute)
	again := do[*agent.MemoryResult](r, note("m", "coffee"))
	want = &agent.Memory{
		Agent: "a", ID: "m", Incarnation: done.Incarnation, Revision: 2, Class: "episodic", Kind: "event", Content: "coffee",
		Metadata: agent.JSON(`{}`), ObservedAt: r.wall, CreatedAt: startWall, UpdatedAt: r.wall,
	}
	got = read[*agent.Memory](r, &agent.GetMemory{Agent: "a", ID: "m"})
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" || again.Revision != 2 {
		t.Fatal(diff)
	}
}

// countMemoryRows counts all rows that memories leave, except tombstones.
func countMemoryRows(r *subject) (n int) {
	for _, kind := range fsm.MemoryKinds {
		n += r.rows(kind)
	}
	return n
}

func TestADeletedMemoryLeavesATombstoneAndNothingElse(t *testing.T) {
	r := newSubject(t)
	before := countMemoryRows(r)
	for range 3 {
		for i := range 200 {
			do[*agent.MemoryResult](r, &agent.WriteMemory{Agent: "a", ID: fmt.Sprint(i), Content: "x", TTL: time.Hour})
		}
		for i := range 200 {
			if d := do[*agent.DeleteResult](r, &agent.DeleteMemory{Agent: "a", ID: fmt.Sprint(i)}); !d.Existed {
				t.Fatalf("memory %d did not exist", i)
			}
		}
		if n := countMemoryRows(r); n != before {
			t.Fatalf("%d rows are left", n)
		}
	}
	scope := read[*agent.Scope](r, &agent.GetScope{})
	if scope.Keys != 0 || scope.Bytes != 0 {
		t.Fatalf("the scope counts %+v", scope)
	}
	r.after(agent.TombstoneTTL + time.Hour)
	for range 10 {
		r.batch()
	}
	if n := r.rows(kv.KindMemoryTombstone) + r.rows(kv.KindDueWall); n != 0 {
		t.Fatalf("%d tombstones or places in the queue are left", n)
	}
}

func TestDeletesOfMemoriesStick(t *testing.T) {
	r := newSubject(t)
	first := do[*agent.MemoryResult](r, note("m", "x"))
	do[*agent.DeleteResult](r, &agent.DeleteMemory{Agent: "a", ID: "m", Seal: time.Minute})
	late := note("m", "late")
	if e := r.refusal(agent.CodeDeleted, late); e.Incarnation != first.Incarnation {
		t.Fatalf("%+v", e)
	}
	r.after(time.Minute)
	late.IfIncarnation = first.Incarnation
	r.refuse(agent.CodeDeleted, late)
	late.IfIncarnation = 0
	if again := do[*agent.MemoryResult](r, late); again.Incarnation <= first.Incarnation || again.Revision != 1 {
		t.Fatalf("made anew: %+v after %+v", again, first)
	}
	r.refuse(agent.CodeDeleted, &agent.DeleteMemory{Agent: "a", ID: "m", IfIncarnation: first.Incarnation})
	do[*agent.DeleteResult](r, &agent.DeleteMemory{Agent: "a", ID: "n", Seal: time.Minute})
	r.refuse(agent.CodeDeleted, note("n", "x"))
	do[*agent.MemoryResult](r, &agent.WriteMemory{Agent: "b", ID: "n", Content: "another agent's"})
}

func TestAMemoryIsHeldToItsRevision(t *testing.T) {
	r := newSubject(t)
	at := func(revision uint64) *agent.WriteMemory {
		op := note("m", "x")
		op.IfRevision = &revision
		return op
	}
	r.refuse(agent.CodeRevisionMismatch, at(1))
	do[*agent.MemoryResult](r, at(0))
	if e := r.refusal(agent.CodeRevisionMismatch, at(0)); e.Revision != 1 {
		t.Fatalf("%+v", e)
	}
	do[*agent.MemoryResult](r, at(1))
	r.refuse(agent.CodeRevisionMismatch, &agent.DeleteMemory{Agent: "a", ID: "m", IfRevision: ptr(uint64(1))})
	do[*agent.DeleteResult](r, &agent.DeleteMemory{Agent: "a", ID: "m", IfRevision: ptr(uint64(2))})
}

// ME-11: a memory with expires_at ≤ now has expired, in the log's time, swept or not.
func TestAMemoryIsGoneAtTheMillisecondThatItExpires(t *testing.T) {
	for _, mode := range []string{agent.ModeRecent, agent.ModeQuery, agent.ModeText, agent.ModeVector, agent.ModeHybrid} {
		t.Run(mode, func(t *testing.T) {
			r := newSubject(t)
			q := agent.Recall{Mode: mode}
			if mode == agent.ModeText || mode == agent.ModeHybrid {
				q.Query = "tea"
			}
			if mode == agent.ModeVector || mode == agent.ModeHybrid {
				q.Embedding = []float32{1, 1}
			}
			for i, expires := range []int64{r.wall + 1000, 0} {
				do[*agent.MemoryResult](r, &agent.WriteMemory{
					Agent: "a", ID: string(rune('m' + i)), Content: "tea", Embedding: []float32{1, float32(i)}, ExpiresAt: expires,
				})
			}
			r.after(999 * time.Millisecond)
			r.batch()
			if got := recalled(r, q); got != "n m" {
				t.Fatalf("a millisecond before: %q", got)
			}
			r.after(time.Millisecond)
			r.batch()
			if got := recalled(r, q); got != "n" {
				t.Fatalf("then: %q", got)
			}
			r.missing(agent.CodeNotFound, &agent.GetMemory{Agent: "a", ID: "m"})
			if list := read[*agent.MemoryList](r, &agent.ListMemories{Agent: "a"}); len(list.Items) != 1 {
				t.Fatalf("listed: %+v", list)
			}
			if d := do[*agent.DeleteResult](r, &agent.DeleteMemory{Agent: "a", ID: "m"}); d.Existed {
				t.Fatal("it was deleted once more")
			}
		})
	}
}

func TestWhatIsWrittenExpiredIsNeverSeen(t *testing.T) {
	r := newSubject(t)
	for range 200 {
		do[*agent.MemoryResult](r, &agent.WriteMemory{Agent: "a", Content: fmt.Sprint("x", r.index), ExpiresAt: r.wall})
		if got := recalled(r, agent.Recall{}); got != "" {
			t.Fatalf("recalled %q", got)
		}
	}
	for range 4 {
		r.batch()
	}
	if n := countMemoryRows(r); n != 0 {
		t.Fatalf("%d rows are left", n)
	}
}

func TestAnAgentsMemoriesAreBoundedByThePolicy(t *testing.T) {
	r := newSubject(t)
	do[*agent.ScopeResult](r, &agent.PutScope{Policy: agent.Policy{MemoriesMax: 3, MemoryBytesMax: 100}})
	for _, id := range []string{"m", "n"} {
		do[*agent.MemoryResult](r, &agent.WriteMemory{Agent: "a", ID: id, Content: "x", Kind: "k", Metadata: agent.JSON(`{}`)}) // 4 bytes each
	}
	sized := func(id string, bytes int) *agent.WriteMemory {
		return &agent.WriteMemory{Agent: "a", ID: id, Content: strings.Repeat("x", bytes-3), Kind: "k", Metadata: agent.JSON(`{}`)}
	}
	full := func(limit string, op *agent.WriteMemory) {
		t.Helper()
		_, e := r.try(op)
		if e == nil || e.Code != agent.CodeOverloaded || e.Limit != limit || e.Op != 0 || !strings.Contains(e.Detail, "raise the scope's policy") {
			t.Fatalf("%+v, want %s", e, limit)
		}
	}
	full("memory_bytes_max=100", sized("o", 93))
	do[*agent.MemoryResult](r, sized("o", 92))
	full("memories_max=3", note("p", "x"))
	full("memory_bytes_max=100", sized("m", 5))
	do[*agent.MemoryResult](r, sized("m", 4)) // an overwrite adds nothing
	do[*agent.MemoryResult](r, &agent.WriteMemory{Agent: "b", Content: "another agent's"})
	do[*agent.DeleteResult](r, &agent.DeleteMemory{Agent: "a", ID: "o"})
	do[*agent.MemoryResult](r, note("p", "x"))
	do[*agent.ScopeResult](r, &agent.PutScope{Policy: agent.Policy{MemoriesMax: 1, MemoryBytesMax: 1}})
	do[*agent.MemoryResult](r, sized("m", 4))
	for _, wrong := range []agent.Policy{
		{MemoriesMax: agent.MemoriesMaxMost + 1}, {MemoryBytesMax: agent.AgentMemoryBytesMaxMost + 1},
	} {
		if err := (&agent.Commit{Ops: []agent.Op{&agent.PutScope{Policy: wrong}}}).Validate(); agent.CodeOf(err) != agent.CodeInvalid {
			t.Errorf("%+v: %v", wrong, err)
		}
	}
}

func TestAScopesQuotaCountsMemories(t *testing.T) {
	r := newSubject(t)
	do[*agent.ScopeResult](r, &agent.PutScope{Policy: agent.Policy{KeysMax: 1}})
	do[*agent.MemoryResult](r, note("m", "x"))
	if _, e := r.try(note("n", "x")); e == nil || e.Limit != "keys_max=1" {
		t.Fatalf("%+v", e)
	}
	do[*agent.DeleteResult](r, &agent.DeleteScope{})
	if n := countMemoryRows(r); n != 0 {
		t.Fatalf("%d rows outlive their scope", n)
	}
	if got := recalled(r, agent.Recall{}); got != "" {
		t.Fatalf("recalled %q", got)
	}
}

func TestAllEmbeddingsOfAnAgentHaveOneLength(t *testing.T) {
	r := newSubject(t)
	with := func(id string, embedding ...float32) *agent.WriteMemory {
		op := note(id, "x")
		op.Embedding = embedding
		return op
	}
	do[*agent.MemoryResult](r, with("m", 1, 2))
	do[*agent.MemoryResult](r, note("n", "without one"))
	if e := r.refusal(agent.CodeInvalid, with("o", 1, 2, 3)); e.Field != "embedding" {
		t.Fatalf("%+v", e)
	}
	wrong := &agent.Recall{Agent: "a", Mode: agent.ModeVector, Embedding: []float32{1}}
	if a := r.answer(wrong); a.Err == nil || a.Err.Code != agent.CodeInvalid || a.Err.Field != "embedding" {
		t.Fatalf("recalled by another length: %+v", a)
	}
	do[*agent.MemoryResult](r, with("m", 1, 2, 3)) // the only one that exists
	do[*agent.DeleteResult](r, &agent.DeleteMemory{Agent: "a", ID: "m"})
	do[*agent.MemoryResult](r, with("m", 1))
	if got := recalled(r, *wrong); got != "m" {
		t.Fatalf("%q", got)
	}
	r.refuse(agent.CodeInvalid, with("n", 1, 2))
}

// A recall reads its own view, even if the agent's index has moved past it.
func TestARecallIsAsOfItsView(t *testing.T) {
	r := newSubject(t)
	do[*agent.MemoryResult](r, note("m", "tea"))
	old := r.machine.View()
	defer old.Close()
	do[*agent.MemoryResult](r, note("n", "tea"))
	do[*agent.DeleteResult](r, &agent.DeleteMemory{Agent: "a", ID: "m"})
	q := &agent.Recall{Agent: "a", Mode: agent.ModeText, Query: "tea"}
	if got := recalled(r, *q); got != "n" {
		t.Fatalf("now: %q", got)
	}
	if _, ok := old.TryAnswer("", q); ok {
		t.Fatal("an index that has gone past the view answered for it")
	}
	found, ok := old.Answer("", q).Found.(*agent.Recalled)
	if !ok || len(found.Items) != 1 || found.Items[0].Memory.ID != "m" || found.Entries != 1 {
		t.Fatalf("then: %+v", found)
	}
	if a, ok := old.TryAnswer("", &agent.Recall{Agent: "a", Query: "x"}); !ok || a.Err != nil {
		t.Fatalf("recent needs no index: %+v", a)
	}
}

// An index that was updated by any writes and deletes finds the same as one that is built at the
// end.
func TestAnIndexThatFollowsFindsWhatANewOneDoes(t *testing.T) {
	r := newSubject(t)
	words := []string{"tea", "coffee", "milk", "water", "wine"}
	for i := range 600 {
		id := fmt.Sprint("m", i*7%31)
		if i%5 == 4 {
			do[*agent.DeleteResult](r, &agent.DeleteMemory{Agent: "a", ID: id})
		} else {
			do[*agent.MemoryResult](r, &agent.WriteMemory{
				Agent: "a", ID: id, Content: words[i%5] + " " + words[i/5%5], Embedding: []float32{float32(i%3) + 1, float32(i % 4)},
				TTL: time.Duration(i%3) * 40 * time.Millisecond,
			})
		}
		r.after(time.Millisecond)
		if i%37 != 0 && i < 595 {
			continue
		}
		for _, q := range []agent.Recall{
			{Mode: agent.ModeText, Query: "tea milk", Limit: 50},
			{Mode: agent.ModeVector, Embedding: []float32{1, 1}, Limit: 50},
			{Mode: agent.ModeHybrid, Query: "wine", Embedding: []float32{2, 1}, Limit: 50},
		} {
			q.Agent = "a"
			got := read[*agent.Recalled](r, &q)
			restored := openSubject(t, fsm.Options{Dir: "state", FS: storage.MemFS()})
			for _, entry := range r.log {
				restored.replay(entry)
			}
			want := read[*agent.Recalled](restored, &q)
			if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("after %d ops, %s: (-new +following)\n%s", i, q.Mode, diff)
			}
			restored.close()
		}
	}
}

func TestARecallIsBoundedInBytes(t *testing.T) {
	r := newSubject(t)
	for i := range 80 {
		do[*agent.MemoryResult](r, note(fmt.Sprint(i), strings.Repeat("x ", agent.MemoryBytesMax/2-100)))
	}
	for _, q := range []*agent.Recall{
		{Mode: agent.ModeRecent, Query: "x"}, {Mode: agent.ModeQuery}, {Mode: agent.ModeText, Query: "x"},
	} {
		q.Agent, q.Limit = "a", 80
		size := 0
		for _, item := range read[*agent.Recalled](r, q).Items {
			size += len(item.Memory.Content)
		}
		if size < agent.ReadBytesMax-agent.MemoryBytesMax || size > agent.ReadBytesMax+agent.MemoryBytesMax {
			t.Errorf("%s: %d bytes", q.Mode, size)
		}
	}
}

func TestTimesOfObservationAreOrderedFromEndToEnd(t *testing.T) {
	r := newSubject(t)
	times := []int64{math.MinInt64, -1, 0, 1, math.MaxInt64}
	for i, at := range times {
		op := note(fmt.Sprint(i), "x")
		op.ObservedAt = &at
		do[*agent.MemoryResult](r, op)
	}
	for i, since := range times {
		for j, until := range times {
			var want []string
			for n := i; n <= j; n++ {
				want = append(want, fmt.Sprint(n))
			}
			if j < i {
				continue
			}
			q := agent.Recall{Mode: agent.ModeQuery, Filter: agent.MemoryFilter{Since: &since, Until: &until}, Ascending: true}
			if got := recalled(r, q); got != strings.Join(want, " ") {
				t.Errorf("from %d to %d: %q", since, until, got)
			}
			q.Ascending = false
			slices.Reverse(want)
			if got := recalled(r, q); got != strings.Join(want, " ") {
				t.Errorf("back from %d to %d: %q", until, since, got)
			}
		}
	}
}

// An agent changes its model: its only memory with a vector is written again with a vector of another length.
func TestVectorsOfAnotherLengthAreFound(t *testing.T) {
	r := newSubject(t)
	do[*agent.MemoryResult](r, note("plain", "no vector"))
	write := func(id string, vector ...float32) {
		do[*agent.MemoryResult](r, &agent.WriteMemory{Agent: "a", ID: id, Content: "x", Embedding: vector})
	}
	found := func(want string, vector ...float32) {
		t.Helper()
		if got := recalled(r, agent.Recall{Mode: agent.ModeVector, Embedding: vector}); got != want {
			t.Errorf("vectors of length %d: found %q, want %q", len(vector), got, want)
		}
	}
	write("m", 1, 0, 0)
	found("m", 1, 0, 0)
	write("m", 1, 0, 0, 0)
	write("n", 0, 1, 0, 0)
	found("m n", 1, 0, 0, 0)
	do[*agent.DeleteResult](r, &agent.DeleteMemory{Agent: "a", ID: "m"})
	do[*agent.DeleteResult](r, &agent.DeleteMemory{Agent: "a", ID: "n"})
	write("o", 0, 1)
	found("o", 0, 1)
}
