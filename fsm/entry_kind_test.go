package fsm_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"dormouse/agent"
	"dormouse/fsm"
	"dormouse/fsm/kv"
	"dormouse/fsm/txn"
)

// ofKinds appends one entry of each kind, in commits of maximal size.
func ofKinds(r *subject, thread string, kinds ...string) {
	r.tb.Helper()
	for chunk := range slices.Chunk(kinds, agent.CommitEntriesMax) {
		var entries []agent.Draft
		for _, kind := range chunk {
			entries = append(entries, agent.Draft{Kind: kind})
		}
		do[*agent.ThreadResult](r, &agent.AppendThread{Thread: thread, Entries: entries})
	}
}

func seqs(entries []agent.Entry) (all []uint64) {
	for _, e := range entries {
		all = append(all, e.Seq)
	}
	return all
}

// pages reads all pages of a load. A page without entries must be the last.
func pages(r *subject, q agent.LoadEntries) (all []agent.Entry) {
	r.tb.Helper()
	for {
		page := read[*agent.Entries](r, &q)
		all = append(all, page.Items...)
		if page.Next == nil {
			return all
		}
		if len(page.Items) == 0 {
			r.tb.Fatalf("%+v is answered without entries, and next = %d", q, *page.Next)
		}
		q.From, q.Tail, q.AtRev = *page.Next, 0, &page.Thread.Rev
	}
}

func TestAKindIsFoundBeyondManyBytesOfOthers(t *testing.T) {
	r := newSubject(t)
	ofKinds(r, "t", "c", "c")
	other := agent.Draft{Kind: "other", Payload: agent.JSON(`{"x":"` + strings.Repeat("x", 1<<20-100) + `"}`)}
	for range 20 {
		do[*agent.ThreadResult](r, &agent.AppendThread{Thread: "t", Entries: []agent.Draft{other}})
	}
	for _, c := range []struct {
		load agent.LoadEntries
		want []uint64
	}{
		{agent.LoadEntries{Tail: 1}, []uint64{1}},
		{agent.LoadEntries{Tail: 5}, []uint64{0, 1}},
		{agent.LoadEntries{Tail: 1, AtRev: ptr(uint64(1))}, []uint64{0}},
		{agent.LoadEntries{Limit: 1}, []uint64{0, 1}},
		{agent.LoadEntries{From: 1}, []uint64{1}},
		{agent.LoadEntries{From: 2}, nil},
	} {
		c.load.Thread, c.load.Kinds = "t", []string{"c"}
		page := read[*agent.Entries](r, &c.load)
		if len(c.want) > 0 && len(page.Items) == 0 {
			t.Errorf("%+v finds nothing, and next is %v", c.load, page.Next)
		}
		if got := seqs(pages(r, c.load)); !slices.Equal(got, c.want) {
			t.Errorf("%+v finds %d, want %d", c.load, got, c.want)
		}
	}
	// A tail that is larger than a page is continued.
	if got := pages(r, agent.LoadEntries{Thread: "t", Kinds: []string{"other"}, Tail: 19}); len(got) != 19 || got[18].Seq != 21 {
		t.Errorf("a tail of 19 MiB finds %d", seqs(got))
	}
}

func TestKindsAreFoundInEveryBlockOfAThreadAndItsForks(t *testing.T) {
	for _, level := range []uint32{0, fsm.FeatureLevelMax} {
		t.Run(fmt.Sprint("at level ", level), func(t *testing.T) { findInEveryBlock(t, level) })
	}
}

func findInEveryBlock(t *testing.T, level uint32) {
	t.Helper()
	r := newSubject(t)
	r.raise(level)
	const block = kv.KindBlock
	kinds := make([]string, 2*block+10)
	for i := range kinds {
		kinds[i] = agent.KindMessage
	}
	marks := []uint64{0, block - 1, block, block + 7, 2*block - 1, 2 * block, 2*block + 9}
	for _, seq := range marks {
		kinds[seq] = "mark"
	}
	kinds[3] = "mark and more" // begins with the other kind's name
	ofKinds(r, "t", kinds...)
	check := func(thread string, from uint64, want ...uint64) {
		t.Helper()
		for _, limit := range []uint64{1, 3, 0} {
			if got := seqs(pages(r, agent.LoadEntries{Thread: thread, Kinds: []string{"mark"}, From: from, Limit: limit})); !slices.Equal(got, want) {
				t.Fatalf("%s from %d, %d a page: %d, want %d", thread, from, limit, got, want)
			}
		}
		for n := range len(want) {
			tail := want[n:]
			if got := seqs(pages(r, agent.LoadEntries{Thread: thread, Kinds: []string{"mark", "mark", "none"}, Tail: uint64(len(tail))})); !slices.Equal(got, tail) {
				t.Fatalf("the last %d of %s: %d, want %d", len(tail), thread, got, tail)
			}
		}
	}
	check("t", 0, marks...)
	do[*agent.ThreadResult](r, &agent.ForkThread{Thread: "t", NewThread: "f", AtRev: ptr(uint64(block + 5))})
	ofKinds(r, "f", "x", "mark")
	check("f", 0, 0, block-1, block, block+6)

	do[*agent.DeleteResult](r, &agent.DeleteThread{Thread: "t"})
	check("f", 0, 0, block-1, block, block+6)
	do[*agent.DeleteResult](r, &agent.DeleteThread{Thread: "f"})
	if n := r.rows(kv.KindEntryKind); n != 0 {
		t.Fatalf("%d rows are left of threads that have gone", n)
	}
}

func TestCompactionTrimsTheIndexByKind(t *testing.T) {
	r := newSubject(t)
	const block = kv.KindBlock
	ofKinds(r, "t", slices.Repeat([]string{"a", "b"}, block+block/2)...) // three blocks
	compact := func(before uint64, rows int) {
		t.Helper()
		do[*agent.ThreadResult](r, &agent.CompactThread{Thread: "t", BeforeSeq: before})
		if got := r.rows(kv.KindEntryKind); got != rows {
			t.Fatalf("%d rows after compacting below %d, want %d", got, before, rows)
		}
		got := seqs(pages(r, agent.LoadEntries{Thread: "t", Kinds: []string{"b"}}))
		if got[0] != before|1 || uint64(len(got)) != (3*block-before)/2 {
			t.Fatalf("after compacting below %d there are %d, from %d on", before, len(got), got[0])
		}
	}
	compact(10, 3*block)
	compact(block+2, 2*block)
	compact(block+4, 2*block)

	// A fork keeps the rows that it reads.
	do[*agent.ThreadResult](r, &agent.ForkThread{Thread: "t", NewThread: "f"})
	compact(2*block, 2*block)
	do[*agent.DeleteResult](r, &agent.DeleteThread{Thread: "f"})
	compact(2*block+2, block)
	compact(3*block-2, block)
}

func BenchmarkLoadTailOfAKind(b *testing.B) {
	r := newSubject(b)
	ofKinds(r, "t", append([]string{"c"}, slices.Repeat([]string{"other"}, 100_000)...)...)
	q := &agent.LoadEntries{Thread: "t", Kinds: []string{"c"}, Tail: 1}
	b.ResetTimer()
	for b.Loop() {
		if page := read[*agent.Entries](r, q); len(page.Items) != 1 {
			b.Fatalf("%+v", page)
		}
	}
}

// Entries are found by kind as they are found by reading all of them: in threads that began below the
// level of runs, after forks inside of a run, and after compactions.
func TestRunsOfAKindAreFoundAsEntriesAre(t *testing.T) {
	for seed := range uint64(20) {
		r := newSubject(t)
		random := rand.New(rand.NewPCG(seed, 0))
		kinds := []string{"a", "a", "a", "b", "ab"}
		appendRun := func(thread string) {
			ofKinds(r, thread, slices.Repeat([]string{kinds[random.IntN(len(kinds))]}, 1+random.IntN(2*kv.KindRun))...)
		}
		if seed%2 == 0 {
			appendRun("0")
			appendRun("0")
		}
		r.raise(txn.KindRunLevel)
		appendRun("0")
		threads := 1
		for range 40 {
			thread := fmt.Sprint(random.IntN(threads))
			info := read[*agent.Thread](r, &agent.GetThread{Thread: thread})
			switch random.IntN(8) {
			case 0:
				at := info.Floor + random.Uint64N(info.Rev-info.Floor+1)
				do[*agent.ThreadResult](r, &agent.ForkThread{Thread: thread, NewThread: fmt.Sprint(threads), AtRev: &at})
				threads++
			case 1:
				// A thread that a fork reads is not compacted past the fork.
				_, _ = r.try(&agent.CompactThread{Thread: thread, BeforeSeq: info.Floor + 1 + random.Uint64N(info.Rev-info.Floor+1)})
			default:
				appendRun(thread)
			}
		}
		for n := range threads {
			sameByKind(r, random, fmt.Sprint(n))
		}
	}
}

// sameByKind compares what loads by kind find in a thread with its entries.
func sameByKind(r *subject, random *rand.Rand, thread string) {
	r.tb.Helper()
	all := pages(r, agent.LoadEntries{Thread: thread})
	for _, kinds := range [][]string{{"a"}, {"b"}, {"ab", "b"}, {"none"}} {
		var want []uint64
		for _, e := range all {
			if slices.Contains(kinds, e.Kind) {
				want = append(want, e.Seq)
			}
		}
		if got := seqs(pages(r, agent.LoadEntries{Thread: thread, Kinds: kinds})); !slices.Equal(got, want) {
			r.tb.Fatalf("thread %s has entries %d of kinds %q, and finds %d", thread, want, kinds, got)
		}
		if len(want) == 0 {
			continue
		}
		first := random.IntN(len(want))
		if got := seqs(pages(r, agent.LoadEntries{Thread: thread, Kinds: kinds, From: want[first]})); !slices.Equal(got, want[first:]) {
			r.tb.Fatalf("thread %s from %d finds %d of kinds %q, want %d", thread, want[first], got, kinds, want[first:])
		}
		if got := seqs(pages(r, agent.LoadEntries{Thread: thread, Kinds: kinds, Tail: uint64(len(want) - first)})); !slices.Equal(got, want[first:]) {
			r.tb.Fatalf("the tail of thread %s from %d is %d of kinds %q, want %d", thread, want[first], got, kinds, want[first:])
		}
	}
}

func TestEntriesOfOneKindShareARowOfTheIndex(t *testing.T) {
	r := newSubject(t)
	rows := func(want int) {
		t.Helper()
		if got := r.rows(kv.KindEntryKind); got != want {
			t.Fatalf("the index has %d rows, want %d", got, want)
		}
	}
	ofKinds(r, "t", "a", "a", "a") // below the level
	rows(3)
	r.raise(txn.KindRunLevel)
	ofKinds(r, "t", "a", "a")
	rows(4)
	ofKinds(r, "t", "b", "a", "a")
	rows(6)
	ofKinds(r, "t", slices.Repeat([]string{"a"}, kv.KindRun-8)...)
	rows(6)
	ofKinds(r, "t", "a", "a")
	rows(7)
	do[*agent.ThreadResult](r, &agent.ForkThread{Thread: "t", NewThread: "f"})
	ofKinds(r, "f", "a", "a")
	rows(8)
}
