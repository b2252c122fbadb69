package thread

import (
	"bytes"
	"cmp"
	"errors"
	"slices"
	"sort"

	"dormouse/agent"
	"dormouse/fsm/kv"
	"dormouse/fsm/txn"
	"dormouse/internal/invariant"
	logpb "dormouse/proto/log"
)

// indexKind adds an appended entry to the index by kind, which has a row for the first entry of a run.
func indexKind(c *txn.Tx, t *logpb.ThreadMeta, e *agent.Entry) {
	if e.Kind == t.LastKind && e.Seq%kv.KindRun != 0 {
		return
	}
	c.Rows.Set(kv.EntryKindKey(c.Scope, t.Id, t.Incarnation, e.Kind, e.Seq), nil)
	if c.Level >= txn.KindRunLevel {
		t.LastKind = e.Kind
	}
}

// forgetKinds removes the index rows of the blocks that are entirely below a seq, of one
// incarnation of a thread. The rows of the seq's own block stay until a later compaction, and reads
// skip them.
func forgetKinds(c *txn.Tx, thread string, incarnation, from, before uint64) error {
	lower, upper := from/kv.KindBlock, before/kv.KindBlock
	if lower == upper {
		return nil
	}
	return c.Rows.RemoveRange(kv.EntryKindPrefix(c.Scope, thread, incarnation, lower), kv.EntryKindPrefix(c.Scope, thread, incarnation, upper))
}

// span is a part of a journal whose rows are stored under one thread: the entries from a seq up to
// another, which is excluded.
type span struct {
	thread                string
	incarnation, from, to uint64
}

// spans returns the parts of a journal between two seqs, in order, or from the last one if back is
// set.
func (j Journal) spans(from, to uint64, back bool) (all []span) {
	for _, s := range j.Meta.Segments {
		if end := min(s.To, to); from < end {
			all = append(all, span{s.Thread, s.Incarnation, from, end})
			from = end
		}
	}
	if from < to {
		all = append(all, span{j.Meta.Id, j.Meta.Incarnation, from, to})
	}
	if back {
		slices.Reverse(all)
	}
	return all
}

// eachOfKinds is eachEntry for the entries of some kinds. It visits no others.
func eachOfKinds(
	r txn.Reader, j Journal, kinds []string, from, to uint64, back bool, visit func(*logpb.EntryRow, agent.Entry) (bool, error),
) error {
	for _, s := range j.spans(from, to, back) {
		more, err := eachKindRun(r, j, s, kinds, back, func(run kindRun) (bool, error) {
			for i := range run.to - run.from {
				seq := run.from + i
				if back {
					seq = run.to - 1 - i
				}
				row, err := j.row(seq)
				if err != nil {
					return false, err
				}
				if more, err := visit(row, entryOf(row, s.incarnation, seq)); err != nil || !more {
					return false, err
				}
			}
			return true, nil
		})
		if err != nil || !more {
			return err
		}
	}
	return nil
}

// lastOfKinds returns the seq of the n-th last entry of some kinds between from and to. It returns
// the first one if there are fewer, and to if there is none.
func lastOfKinds(r txn.Reader, j Journal, kinds []string, n, from, to uint64) (uint64, error) {
	start := to
	for _, s := range j.spans(from, to, true) {
		more, err := eachKindRun(r, j, s, kinds, true, func(run kindRun) (bool, error) {
			found := min(n, run.to-run.from)
			start = run.to - found
			n -= found
			return n > 0, nil
		})
		if err != nil || !more {
			return start, err
		}
	}
	return start, nil
}

// kindRun is entries of one kind that follow each other: those from a seq up to another, which is
// excluded.
type kindRun struct {
	kind     string
	from, to uint64
}

// eachKindRun visits the runs of some kinds in a span, in order, or from the last one if back is
// set, until visit returns false. more reports that it returned true for all of them.
func eachKindRun(
	r txn.Reader, j Journal, s span, kinds []string, back bool, visit func(kindRun) (bool, error),
) (more bool, err error) {
	first, last := s.from/kv.KindBlock, (s.to-1)/kv.KindBlock
	cursor, err := r.Engine.Scan(
		[]byte(kv.EntryKindPrefix(r.Scope, s.thread, s.incarnation, first)), []byte(kv.EntryKindPrefix(r.Scope, s.thread, s.incarnation, last+1)))
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, cursor.Close()) }()
	kinds = slices.Compact(slices.Sorted(slices.Values(kinds)))
	for i := range last - first + 1 {
		block := first + i
		if back {
			block = last - i
		}
		runs, err := indexedRuns(r, cursor, s, kinds, block)
		if err != nil {
			return false, err
		}
		checkKinds(j, s, kinds, block, runs)
		if back {
			slices.Reverse(runs)
		}
		for _, run := range runs {
			if run.to, err = runEnd(j, run); err != nil {
				return false, err
			}
			if run.from == run.to {
				continue
			}
			if more, err := visit(run); err != nil || !more {
				return false, err
			}
		}
	}
	return true, nil
}

// seeker is a cursor that can seek.
type seeker interface {
	Seek(key []byte) bool
	Next() bool
	Key() []byte
	Err() error
}

// indexedRuns returns the runs of some kinds in a block of a span, in order, each up to where it ends
// at the latest.
func indexedRuns(r txn.Reader, cursor seeker, s span, kinds []string, block uint64) (runs []kindRun, err error) {
	from := max(s.from, block*kv.KindBlock)
	for _, kind := range kinds {
		part := kv.EntryKindPrefix(r.Scope, s.thread, s.incarnation, block) + kv.KindPart(kind)
		first := len(runs) // of this kind
		for ok := cursor.Seek([]byte(part + kv.EncodeNumber(from/kv.KindRun*kv.KindRun))); ok && bytes.HasPrefix(cursor.Key(), []byte(part)); ok = cursor.Next() {
			seq := kv.DecodeNumber(cursor.Key()[len(part):])
			if seq >= s.to {
				break
			}
			if len(runs) > first {
				runs[len(runs)-1].to = min(runs[len(runs)-1].to, seq)
			}
			runs = append(runs, kindRun{kind: kind, from: seq, to: min((seq/kv.KindRun+1)*kv.KindRun, s.to)})
		}
	}
	for i := range runs { // one that begins before the span
		runs[i].from = min(max(runs[i].from, from), runs[i].to)
	}
	slices.SortFunc(runs, func(a, b kindRun) int { return cmp.Compare(a.from, b.from) })
	return runs, cursor.Err()
}

// runEnd returns the seq at which a run ends: that of the first entry of another kind, or run.to. The
// entries of the run come first, so a binary search finds it.
func runEnd(j Journal, run kindRun) (uint64, error) {
	var failed error
	ended := func(i int) bool {
		row, err := j.row(run.from + uint64(i))
		failed = cmp.Or(failed, err)
		return err != nil || row.Kind != run.kind
	}
	size := int(run.to - run.from)
	if size == 0 || !ended(size-1) { // the usual case
		return run.to, failed
	}
	return run.from + uint64(sort.Search(size-1, ended)), failed
}

// kindsCheckedMax is how many entries checkKinds reads for one block.
const kindsCheckedMax = 64

// checkKinds compares a block of the index with the entries, if invariants are enabled and the span
// is short.
func checkKinds(j Journal, s span, kinds []string, block uint64, runs []kindRun) {
	from, to := max(s.from, block*kv.KindBlock), min(s.to, (block+1)*kv.KindBlock)
	if !invariant.Enabled || to-from > kindsCheckedMax {
		return
	}
	var seqs, want []uint64
	for _, run := range runs {
		end, err := runEnd(j, run)
		if err != nil {
			return // the read itself returns the error
		}
		for seq := run.from; seq < end; seq++ {
			seqs = append(seqs, seq)
		}
	}
	for seq := from; seq < to; seq++ {
		row, err := j.row(seq)
		if err != nil {
			return
		}
		if slices.Contains(kinds, row.Kind) {
			want = append(want, seq)
		}
	}
	invariant.Check(slices.Equal(seqs, want), "thread %q: the index by kind has entries %d of kinds %q from %d to %d, the thread has %d",
		s.thread, seqs, kinds, from, to, want)
}
