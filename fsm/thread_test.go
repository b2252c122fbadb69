package fsm_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"dormouse/agent"
	"dormouse/fsm/kv"
)

func appendTo(thread string, payloads ...string) *agent.AppendThread {
	return &agent.AppendThread{Thread: thread, Entries: drafts(payloads...)}
}

func loaded(r *subject, thread string) []agent.Entry {
	r.tb.Helper()
	return read[*agent.Entries](r, &agent.LoadEntries{Thread: thread}).Items
}

func TestAppendGivesSeqsAndMovesRevAndHead(t *testing.T) {
	r := newSubject(t)
	first := do[*agent.ThreadResult](r, appendTo("t", `{"n":1}`, `{"n":2}`))
	if first.Thread.Rev != 2 || first.Entries[0].Seq != 0 || first.Entries[1].Seq != 1 {
		t.Fatalf("first append: %+v", first)
	}
	second := do[*agent.ThreadResult](r.after(time.Second), appendTo("t", `{"n":3}`))
	if second.Thread.Rev != 3 || second.Entries[0].Seq != 2 || second.Entries[0].At != r.wall {
		t.Fatalf("second append: %+v", second)
	}
	if second.Thread.CreatedAt != startWall || second.Thread.UpdatedAt != startWall+1000 {
		t.Fatalf("times: %+v", second.Thread)
	}
	var head agent.Head
	for _, e := range loaded(r, "t") {
		head = head.After(&e)
	}
	if head != second.Thread.Head {
		t.Fatalf("head %s, recomputed %s", second.Thread.Head, head)
	}
	if v := read[*agent.Verified](r, &agent.VerifyThread{Thread: "t"}); !v.OK || v.Head != head {
		t.Fatalf("verify: %+v", v)
	}
}

func TestAppendAppliesOnlyAtTheExpectedRevAndHead(t *testing.T) {
	r := newSubject(t)
	at := func(rev uint64, head string) *agent.AppendThread {
		return &agent.AppendThread{Thread: "t", Entries: drafts(`{}`), ExpectedRev: &rev, ExpectedHead: head}
	}
	r.refuse(agent.CodeConflict, at(1, ""))
	r.missing(agent.CodeNotFound, &agent.GetThread{Thread: "t"}) // S-18: it stays absent
	one := do[*agent.ThreadResult](r, at(0, agent.Head{}.String()))
	e := r.refusal(agent.CodeConflict, at(0, ""))
	if e.Rev != 1 || e.Head != one.Thread.Head.String() {
		t.Fatalf("the refusal does not tell rev and head: %+v", e)
	}
	r.refuse(agent.CodeConflict, at(1, agent.Head{}.String()))
	do[*agent.ThreadResult](r, at(1, one.Thread.Head.String()))
}

func TestAChosenIDIsUniqueInItsThread(t *testing.T) {
	r := newSubject(t)
	entry := agent.Draft{ID: "e1", Kind: "message", Payload: agent.JSON(`{"n":1}`)}
	other := agent.Draft{ID: "e1", Kind: "message", Payload: agent.JSON(`{"n":2}`)}
	put := func(d ...agent.Draft) *agent.AppendThread { return &agent.AppendThread{Thread: "t", Entries: d} }
	do[*agent.ThreadResult](r, put(agent.Draft{}, entry))
	again := do[*agent.ThreadResult](r, put(entry, agent.Draft{ID: "e2"}))
	if again.Thread.Rev != 3 || again.Entries[0].Seq != 1 || again.Entries[1].Seq != 2 {
		t.Fatalf("an equal entry is skipped, with its stamp: %+v", again)
	}
	if e := r.refusal(agent.CodeDuplicateEntry, put(other)); e.Seq != 1 {
		t.Fatalf("seq %d, want 1", e.Seq)
	}
	r.refuse(agent.CodeDuplicateEntry, put(agent.Draft{ID: "e9", Kind: "a"}, agent.Draft{ID: "e9", Kind: "b"}))
	r.refuse(agent.CodeConflict, &agent.AppendThread{Thread: "t", Entries: []agent.Draft{other}, ExpectedRev: ptr(uint64(0))})

	generated := loaded(r, "t")[0].ID
	r.refuse(agent.CodeDuplicateEntry, put(agent.Draft{ID: generated, Kind: "other"}))
	if got := read[*agent.Entry](r, &agent.GetEntry{Thread: "t", Entry: generated}); got.Seq != 0 {
		t.Fatalf("by generated id: %+v", got)
	}
	if got := read[*agent.Entry](r, &agent.GetEntry{Thread: "t", Entry: "e2"}); got.Seq != 2 {
		t.Fatalf("by chosen id: %+v", got)
	}
}

func TestAnEmptyAppendRecordsAThreadThatIsStillNew(t *testing.T) {
	r := newSubject(t)
	with := func(metadata string, payloads ...string) *agent.AppendThread {
		return &agent.AppendThread{Thread: "t", Entries: drafts(payloads...), Metadata: agent.JSON(metadata)}
	}
	do[*agent.ThreadResult](r, with(`{"a":1}`))
	got := read[*agent.Thread](r, &agent.GetThread{Thread: "t"})
	if got.Rev != 0 || string(got.Metadata) != `{"a":1}` {
		t.Fatalf("after an empty append: %+v", got)
	}
	do[*agent.ThreadResult](r.after(time.Second), with(`{"a":2}`, `{}`))
	do[*agent.ThreadResult](r.after(time.Second), with(`{"a":3}`, `{}`))
	got = read[*agent.Thread](r, &agent.GetThread{Thread: "t"})
	if string(got.Metadata) != `{"a":2}` || got.CreatedAt != startWall+1000 || got.UpdatedAt != startWall+2000 {
		t.Fatalf("metadata and created_at freeze with the first entry: %+v", got)
	}
}

func TestADeletedThreadComesBackAsAnotherIncarnation(t *testing.T) {
	r := newSubject(t)
	old := do[*agent.ThreadResult](r, appendTo("t", `{"n":1}`)).Thread.Incarnation
	if d := do[*agent.DeleteResult](r, &agent.DeleteThread{Thread: "t"}); !d.Existed || d.Incarnation != old {
		t.Fatalf("delete: %+v", d)
	}
	if d := do[*agent.DeleteResult](r, &agent.DeleteThread{Thread: "t"}); d.Existed {
		t.Fatalf("delete again: %+v", d)
	}
	late := &agent.AppendThread{Thread: "t", Entries: drafts(`{}`), IfIncarnation: old}
	if e := r.refusal(agent.CodeDeleted, late); e.Incarnation != old {
		t.Fatalf("refusal: %+v", e)
	}
	again := do[*agent.ThreadResult](r, appendTo("t", `{"n":2}`)).Thread
	if again.Rev != 1 || again.Incarnation <= old {
		t.Fatalf("made anew: %+v", again)
	}
	if e := r.refusal(agent.CodeDeleted, late); e.Incarnation != again.Incarnation {
		t.Fatalf("refusal: %+v", e)
	}
	r.refuse(agent.CodeDeleted, &agent.DeleteThread{Thread: "t", IfIncarnation: old})
	r.after(2 * agent.TombstoneTTL)
	r.batch()
	do[*agent.DeleteResult](r, &agent.DeleteThread{Thread: "t"})
	r.after(2 * agent.TombstoneTTL)
	r.batch()
	r.refuse(agent.CodeDeleted, late) // it is refused without a tombstone
}

func TestASealRefusesEveryWriteToTheID(t *testing.T) {
	r := newSubject(t)
	do[*agent.ThreadResult](r, appendTo("t", `{}`))
	do[*agent.ThreadResult](r, appendTo("source", `{}`))
	do[*agent.DeleteResult](r, &agent.DeleteThread{Thread: "t", Seal: time.Hour})
	writes := []agent.Op{
		appendTo("t", `{}`),
		&agent.HibernateThread{Thread: "t", Rev: 1, Entries: drafts(`{}`)},
		&agent.ForkThread{Thread: "source", NewThread: "t"},
		&agent.ForkThread{Thread: "t", NewThread: "other"},
		&agent.CompactThread{Thread: "t", BeforeSeq: 1},
	}
	for _, op := range writes {
		r.refuse(agent.CodeDeleted, op)
	}
	r.after(59 * time.Minute)
	do[*agent.DeleteResult](r, &agent.DeleteThread{Thread: "t"}) // succeeds, and does not shorten the seal
	r.refuse(agent.CodeDeleted, writes[0])
	r.after(2 * time.Minute)
	do[*agent.ThreadResult](r, writes[0])
	do[*agent.DeleteResult](r, &agent.DeleteValue{Key: "v", Seal: time.Minute})
	r.refuse(agent.CodeDeleted, &agent.PutValue{Key: "v"}) // an id that never existed can be sealed
}

func TestHibernationAppendsWhatTheJournalLacks(t *testing.T) {
	r := newSubject(t)
	entries := []agent.Draft{{ID: "a", At: ptr(int64(1))}, {ID: "b", At: ptr(int64(2))}, {ID: "c", At: ptr(int64(3))}}
	hibernate := func(from, rev uint64, d ...agent.Draft) *agent.HibernateThread {
		return &agent.HibernateThread{Thread: "t", FromSeq: from, Rev: rev, Entries: d}
	}
	if e := r.refusal(agent.CodeConflict, hibernate(1, 2, entries[1])); e.Rev != 0 {
		t.Fatalf("a gap: %+v", e)
	}
	do[*agent.ThreadResult](r, hibernate(0, 2, entries[:2]...))
	got := do[*agent.ThreadResult](r, hibernate(0, 3, entries...))
	if got.Thread.Rev != 3 || len(got.Entries) != 3 || got.Entries[2].Seq != 2 {
		t.Fatalf("only the tail is appended: %+v", got)
	}
	if again := do[*agent.ThreadResult](r, hibernate(1, 3, entries[1:]...)); again.Thread.Rev != 3 || again.Thread.Head != got.Thread.Head {
		t.Fatalf("P-4, again: %+v", again)
	}
	if e := r.refusal(agent.CodeRevRegression, hibernate(0, 2, entries[:2]...)); e.Rev != 3 || e.Head != got.Thread.Head.String() {
		t.Fatalf("P-7, a longer journal: %+v", e)
	}
	other := agent.Draft{ID: "x", At: ptr(int64(2))}
	r.refuse(agent.CodeConflict, hibernate(0, 3, entries[0], other, entries[2]))                // P-8
	r.refuse(agent.CodeDuplicateEntry, hibernate(3, 4, entries[0]))                             // would make rev differ
	r.refuse(agent.CodeConflict, hibernate(0, 4, entries[0], other, entries[2], agent.Draft{})) // P-9
}

func TestHibernationComparesCompactedEntriesByTheChain(t *testing.T) {
	r := newSubject(t)
	entries := []agent.Draft{{ID: "a", At: ptr(int64(1))}, {ID: "b", At: ptr(int64(2))}, {ID: "c", At: ptr(int64(3))}}
	do[*agent.ThreadResult](r, &agent.HibernateThread{Thread: "t", Rev: 3, Entries: entries})
	do[*agent.ThreadResult](r, &agent.CompactThread{Thread: "t", BeforeSeq: 2})
	more := append(slices.Clone(entries), agent.Draft{ID: "d"})
	got := do[*agent.ThreadResult](r, &agent.HibernateThread{Thread: "t", Rev: 4, Entries: more})
	if got.Thread.Rev != 4 || len(got.Entries) != 4 || got.Entries[1].ID != "b" {
		t.Fatalf("%+v", got)
	}
	other := append([]agent.Draft{{ID: "x", At: ptr(int64(1))}}, more[1:]...)
	r.refuse(agent.CodeConflict, &agent.HibernateThread{Thread: "t", Rev: 4, Entries: other})
	unknown := append([]agent.Draft{{}}, more[1:]...)
	if e := r.refusal(agent.CodeCompacted, &agent.HibernateThread{Thread: "t", Rev: 4, Entries: unknown}); e.Floor != 2 {
		t.Fatalf("floor %d", e.Floor)
	}
	r.refuse(agent.CodeCompacted, &agent.HibernateThread{Thread: "t", FromSeq: 1, Rev: 4, Entries: more[1:]})
}

// A thread that is longer than a page is verified in one answer, including entries shared with a
// fork and the rest after a compaction.
func TestAThreadLongerThanAPageIsVerifiedWhole(t *testing.T) {
	r := newSubject(t)
	large := fmt.Sprintf(`{"x":"%s"}`, strings.Repeat("x", agent.EntryBytesMax/2))
	const entries = 2*agent.ReadBytesMax/agent.EntryBytesMax + 10
	for range entries / 2 {
		do[*agent.ThreadResult](r, appendTo("t", large))
	}
	do[*agent.ThreadResult](r, &agent.ForkThread{Thread: "t", NewThread: "f"})
	for range entries / 2 {
		do[*agent.ThreadResult](r, appendTo("f", large))
	}
	do[*agent.ThreadResult](r, &agent.CompactThread{Thread: "f", BeforeSeq: 1})
	meta := read[*agent.Thread](r, &agent.GetThread{Thread: "f"})
	if page := loaded(r, "f"); uint64(len(page)) >= meta.Rev-meta.Floor {
		t.Fatalf("all %d entries are in one page", len(page))
	}
	if v := read[*agent.Verified](r, &agent.VerifyThread{Thread: "f"}); !v.OK || v.Rev != entries || v.Head != meta.Head {
		t.Fatalf("%+v, want rev %d and head %s", v, entries, meta.Head)
	}
}

// Index rows of compacted ids are not used for answers.
func TestACompactedIDIsNobodysAndMayComeAgain(t *testing.T) {
	r := newSubject(t)
	add := func(id string) agent.ThreadResult {
		return *do[*agent.ThreadResult](r, &agent.AppendThread{Thread: "t", Entries: []agent.Draft{{ID: id}}})
	}
	add("a")
	add("b")
	do[*agent.ThreadResult](r, &agent.CompactThread{Thread: "t", BeforeSeq: 1})
	if e := r.answer(&agent.GetEntry{Thread: "t", Entry: "a"}).Err; e == nil || e.Code != agent.CodeNotFound || e.Floor != 1 {
		t.Fatalf("the compacted entry: %+v", e)
	}
	if again := add("a"); again.Thread.Rev != 3 || again.Entries[0].Seq != 2 {
		t.Fatalf("the id, again: %+v", again)
	}
	if e := read[*agent.Entry](r, &agent.GetEntry{Thread: "t", Entry: "a"}); e.Seq != 2 {
		t.Fatalf("it is at %d", e.Seq)
	}
	if rows := r.rows(kv.KindEntryID); rows != 2 {
		t.Fatalf("%d rows in the index, want one an id", rows)
	}
	do[*agent.DeleteResult](r, &agent.DeleteThread{Thread: "t"})
	if rows := r.rows(kv.KindEntryID); rows != 0 {
		t.Fatalf("%d rows outlive the thread", rows)
	}
}
