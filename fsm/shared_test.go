package fsm_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"dormouse/agent"
	"dormouse/fsm"
	"dormouse/fsm/kv"
	"dormouse/fsm/txn"
	"dormouse/storage"
)

func (r *subject) scopeBytes() uint64 {
	r.tb.Helper()
	return read[*agent.Scope](r, &agent.GetScope{}).Bytes
}

// A deleted thread keeps the rows that a fork reads, and no others. They count until the last fork is
// gone.
func TestAForkKeepsTheRowsThatItReadsAndTheyCount(t *testing.T) {
	r := newSubject(t)
	r.record()
	many := make([]string, 300)
	for i := range many {
		many[i] = fmt.Sprintf(`{"n":%q}`, strings.Repeat("x", 1000))
	}
	do[*agent.ThreadResult](r, appendTo("t", many...))
	whole := r.scopeBytes()
	for at, fork := range []string{"at 0", "at 1", "at 2"} {
		do[*agent.ThreadResult](r, &agent.ForkThread{Thread: "t", NewThread: fork, AtRev: ptr(uint64(at))})
	}
	forks := r.scopeBytes() - whole
	do[*agent.DeleteResult](r, &agent.DeleteThread{Thread: "t"})
	if rows, bytes := r.rows(kv.KindEntry), r.scopeBytes(); rows != 2 || bytes < 2000+forks || bytes > 3000 {
		t.Fatalf("forks at rev 2 keep %d rows, and %d bytes count", rows, bytes)
	}
	do[*agent.DeleteResult](r, &agent.DeleteThread{Thread: "at 2"})
	if rows, bytes := r.rows(kv.KindEntry), r.scopeBytes(); rows != 1 || bytes < 1000 || bytes > 2000 {
		t.Fatalf("a fork at rev 1 keeps %d rows, and %d bytes count", rows, bytes)
	}
	do[*agent.DeleteResult](r, &agent.DeleteThread{Thread: "at 0"})
	do[*agent.DeleteResult](r, &agent.DeleteThread{Thread: "at 1"})
	if rows, bytes := r.rows(kv.KindEntry), r.scopeBytes(); rows != 0 || bytes != 0 {
		t.Fatalf("%d rows are left, and %d bytes count", rows, bytes)
	}
}

// Entries that a compaction leaves for forks count too, and so do entries with chosen ids, which all
// stay.
func TestWhatOnlyForksReadCounts(t *testing.T) {
	r := newSubject(t)
	r.record()
	large := func(id string) agent.Draft {
		return agent.Draft{ID: id, Payload: agent.JSON(`{"x":"` + strings.Repeat("x", 1000) + `"}`)}
	}
	do[*agent.ThreadResult](r, &agent.AppendThread{Thread: "t", Entries: []agent.Draft{large(""), large(""), large("")}})
	do[*agent.ThreadResult](r, &agent.ForkThread{Thread: "t", NewThread: "f"})
	before := r.scopeBytes()
	do[*agent.ThreadResult](r, &agent.CompactThread{Thread: "t", BeforeSeq: 3})
	if got := r.scopeBytes(); got != before {
		t.Fatalf("%d bytes before a compaction that removes no row, %d after it", before, got)
	}
	do[*agent.DeleteResult](r, &agent.DeleteThread{Thread: "f"})
	if rows, got := r.rows(kv.KindEntry), r.scopeBytes(); rows != 0 || got > 100 {
		t.Fatalf("%d rows and %d bytes after the fork is gone", rows, got)
	}

	do[*agent.ThreadResult](r, &agent.AppendThread{Thread: "c", Entries: []agent.Draft{large("a"), large("b")}})
	do[*agent.ThreadResult](r, &agent.ForkThread{Thread: "c", NewThread: "f", AtRev: ptr(uint64(1))})
	do[*agent.DeleteResult](r, &agent.DeleteThread{Thread: "c"})
	if rows, got := r.rows(kv.KindEntry), r.scopeBytes(); rows != 2 || got < 2000 {
		t.Fatalf("%d rows and %d bytes of entries with chosen ids", rows, got)
	}
	do[*agent.DeleteResult](r, &agent.DeleteThread{Thread: "f"})
	do[*agent.DeleteResult](r, &agent.DeleteThread{Thread: "t"})
	if rows, got := r.rows(kv.KindEntry)+r.rows(kv.KindEntryID), r.scopeBytes(); rows != 0 || got != 0 {
		t.Fatalf("%d rows and %d bytes are left", rows, got)
	}
}

// A quota of bytes holds for the metadata and the summary of a thread.
func TestMetadataAndSummariesOfThreadsCount(t *testing.T) {
	r := newSubject(t)
	r.record()
	text := func(n int) agent.JSON { return agent.JSON(`{"x":"` + strings.Repeat("x", n-8) + `"}`) }
	do[*agent.ThreadResult](r, &agent.AppendThread{Thread: "t", Metadata: text(1000)})
	if got := r.scopeBytes(); got != 1000 {
		t.Fatalf("metadata of 1000 bytes counts %d", got)
	}
	do[*agent.ThreadResult](r, &agent.AppendThread{Thread: "t", Metadata: text(100), Entries: drafts(`{}`)})
	do[*agent.ThreadResult](r, &agent.CompactThread{Thread: "t", BeforeSeq: 1, Summary: text(5000)})
	do[*agent.ThreadResult](r, &agent.CompactThread{Thread: "t", BeforeSeq: 1, Summary: text(500)})
	do[*agent.ThreadResult](r, &agent.ForkThread{Thread: "t", NewThread: "f"})
	if got := r.scopeBytes(); got != 2*600 {
		t.Fatalf("two threads of 600 bytes count %d", got)
	}
	do[*agent.ScopeResult](r, &agent.PutScope{Policy: agent.Policy{BytesMax: 1300}})
	if _, e := r.try(&agent.CompactThread{Thread: "t", BeforeSeq: 1, Summary: text(1000)}); e == nil || e.Code != agent.CodeQuotaExceeded {
		t.Fatalf("a summary beyond the quota: %v", e)
	}
	do[*agent.DeleteResult](r, &agent.DeleteThread{Thread: "t"})
	do[*agent.DeleteResult](r, &agent.DeleteThread{Thread: "f"})
	if got := r.scopeBytes(); got != 0 {
		t.Fatalf("%d bytes are left", got)
	}
}

// For any ops on threads, and any moment at which the level rises, the bytes of a scope are those that
// its rows have, also after an import.
func TestTheBytesOfAScopeAreThoseOfItsThreads(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := openSubject(t, fsm.Options{Dir: "state", FS: storage.MemFS()})
		defer r.close()
		r.raise(txn.WholeBytesLevel - 1)
		raise := rapid.IntRange(0, 30).Draw(rt, "raised at")
		for step := range rapid.IntRange(1, 60).Draw(rt, "steps") {
			if step == raise {
				r.record()
			}
			var ops []agent.Op
			for range rapid.IntRange(1, 3).Draw(rt, "ops") {
				ops = append(ops, drawThreadOp(rt))
			}
			if c := (agent.Commit{Ops: ops}); c.Validate() == nil {
				r.batch(c)
			}
			r.after(time.Duration(rapid.IntRange(0, 400).Draw(rt, "ms")) * time.Millisecond)
			sameThreadBytes(rt, r, agent.DefaultScope)
		}
		if r.answer(&agent.GetScope{}).Err == nil {
			e := exportOf(r, agent.DefaultScope)
			importInto(r, "copy", e, rapid.IntRange(1, 9).Draw(rt, "rows of a chunk"))
			sameThreadBytes(rt, r, "copy")
		}
		for _, id := range []string{"a", "b", "c", "d"} {
			do[*agent.DeleteResult](r, &agent.DeleteThread{Thread: id})
			sameThreadBytes(rt, r, agent.DefaultScope)
		}
		if left, ok := r.answer(&agent.GetScope{}).Found.(*agent.Scope); ok && left.Bytes != 0 {
			rt.Fatalf("%d bytes are left without a thread", left.Bytes)
		}
	})
}

func drawThreadOp(t *rapid.T) agent.Op {
	id, other := rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(t, "id"), rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(t, "other")
	metadata := rapid.SampledFrom([]agent.JSON{nil, nil, agent.JSON(`{"m":1}`), agent.JSON(`{"longer":"metadata"}`)}).Draw(t, "metadata")
	n := uint64(rapid.IntRange(0, 5).Draw(t, "n"))
	switch rapid.IntRange(0, 8).Draw(t, "op") {
	case 0, 1, 2:
		entries := drafts(`{}`, `{"n":1}`, `{"long":"longer"}`)[:rapid.IntRange(0, 3).Draw(t, "entries")]
		if len(entries) > 0 && rapid.IntRange(0, 4).Draw(t, "chosen") == 0 {
			entries[0].ID = fmt.Sprintf("e%d", n)
		}
		return &agent.AppendThread{Thread: id, Metadata: metadata, Entries: entries}
	case 3, 4:
		return &agent.ForkThread{Thread: id, NewThread: other, AtRev: &n}
	case 5, 6:
		return &agent.CompactThread{Thread: id, BeforeSeq: n, Summary: metadata}
	case 7:
		return &agent.SetTTL{Thread: id, TTL: time.Second}
	default:
		return &agent.DeleteThread{Thread: id}
	}
}

func sameThreadBytes(t *rapid.T, r *subject, scope string) {
	t.Helper()
	view := r.machine.View()
	defer view.Close()
	want, err := view.ThreadBytes(scope)
	if err != nil {
		t.Fatal(err)
	}
	got, ok := view.Answer(scope, &agent.GetScope{}).Found.(*agent.Scope)
	if !ok {
		got = &agent.Scope{}
	}
	if got.Bytes != want {
		t.Fatalf("entry %d: scope %q counts %d bytes, and its rows have %d", r.index, scope, got.Bytes, want)
	}
}

// sharedBytes returns the bytes that count for entries that only forks read.
func (r *subject) sharedBytes() (bytes uint64) {
	r.tb.Helper()
	view := r.machine.View()
	defer view.Close()
	err := view.EachOfKind(kv.KindShared, func(_ string, raw []byte) error {
		bytes += kv.DecodeNumber(raw[8:])
		return nil
	})
	if err != nil {
		r.tb.Fatal(err)
	}
	return bytes
}

// Entries with chosen ids of a deleted thread count until its last fork is gone.
func TestEntriesWithChosenIDsCountWhileForksReadThem(t *testing.T) {
	r := newSubject(t)
	r.record()
	do[*agent.ThreadResult](r, &agent.AppendThread{Thread: "t", Entries: []agent.Draft{{ID: "one"}, {ID: "two"}}})
	do[*agent.ThreadResult](r, &agent.ForkThread{Thread: "t", NewThread: "a"}, &agent.ForkThread{Thread: "t", NewThread: "b"})
	do[*agent.DeleteResult](r, &agent.DeleteThread{Thread: "t"})
	shared := r.sharedBytes()
	do[*agent.DeleteResult](r, &agent.DeleteThread{Thread: "a"})
	if got := r.sharedBytes(); got != shared || shared == 0 {
		t.Errorf("%d bytes count after one of two forks is gone, want %d", got, shared)
	}
	do[*agent.DeleteResult](r, &agent.DeleteThread{Thread: "b"})
	if got := r.scopeBytes(); got != 0 {
		t.Errorf("%d bytes count at the end", got)
	}
}
