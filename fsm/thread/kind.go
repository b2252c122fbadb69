package thread

import (
	"bytes"
	"errors"
	"slices"

	"dormouse/agent"
	"dormouse/fsm/kv"
	"dormouse/fsm/txn"
	"dormouse/internal/invariant"
	logpb "dormouse/proto/log"
)

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

// eachOfKinds is eachEntry for the entries of some kinds. It reads no others.
func eachOfKinds(
	r txn.Reader, j Journal, kinds []string, from, to uint64, back bool, visit func(*logpb.EntryRow, agent.Entry) (bool, error),
) error {
	for _, s := range j.spans(from, to, back) {
		more := true
		err := eachKindBlock(r, s, kinds, back, func(seqs []uint64) (bool, error) {
			if back {
				slices.Reverse(seqs)
			}
			for _, seq := range seqs {
				row, err := j.row(seq)
				if err != nil {
					return false, err
				}
				if more, err = visit(row, entryOf(row, s.incarnation, seq)); err != nil || !more {
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
		err := eachKindBlock(r, s, kinds, true, func(seqs []uint64) (bool, error) {
			if found := uint64(len(seqs)); found > 0 {
				start = seqs[found-min(n, found)]
				n -= min(n, found)
			}
			return n > 0, nil
		})
		if err != nil || n == 0 {
			return start, err
		}
	}
	return start, nil
}

// eachKindBlock visits the blocks of a span, from the last one if back is set, with the seqs of the
// entries of some kinds in each, in order, until visit returns false.
func eachKindBlock(r txn.Reader, s span, kinds []string, back bool, visit func(seqs []uint64) (more bool, err error)) (err error) {
	first, last := s.from/kv.KindBlock, (s.to-1)/kv.KindBlock
	cursor, err := r.Engine.Scan(
		[]byte(kv.EntryKindPrefix(r.Scope, s.thread, s.incarnation, first)), []byte(kv.EntryKindPrefix(r.Scope, s.thread, s.incarnation, last+1)))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cursor.Close()) }()
	kinds = slices.Compact(slices.Sorted(slices.Values(kinds)))
	for i := range last - first + 1 {
		block := first + i
		if back {
			block = last - i
		}
		var seqs []uint64
		for _, kind := range kinds {
			part := kv.EntryKindPrefix(r.Scope, s.thread, s.incarnation, block) + kv.KindPart(kind)
			for ok := cursor.Seek([]byte(part + kv.EncodeNumber(s.from))); ok && bytes.HasPrefix(cursor.Key(), []byte(part)); ok = cursor.Next() {
				seq := kv.DecodeNumber(cursor.Key()[len(part):])
				if seq >= s.to {
					break
				}
				seqs = append(seqs, seq)
			}
		}
		if err := cursor.Err(); err != nil {
			return err
		}
		slices.Sort(seqs)
		checkKinds(r, s, kinds, block, seqs)
		if more, err := visit(seqs); err != nil || !more {
			return err
		}
	}
	return nil
}

// kindsCheckedMax is how many entries checkKinds reads for one block.
const kindsCheckedMax = 64

// checkKinds compares a block of the index with the entries, if invariants are enabled and the span
// is short.
func checkKinds(r txn.Reader, s span, kinds []string, block uint64, seqs []uint64) {
	from, to := max(s.from, block*kv.KindBlock), min(s.to, (block+1)*kv.KindBlock)
	if !invariant.Enabled || to-from > kindsCheckedMax {
		return
	}
	var want []uint64
	for seq := from; seq < to; seq++ {
		raw, err := r.Get(kv.EntryKey(r.Scope, s.thread, s.incarnation, seq))
		if err != nil || raw == nil {
			return // the read itself returns the error
		}
		row := &logpb.EntryRow{}
		if decodeEntryRow(seq, raw, row) != nil {
			return
		}
		if slices.Contains(kinds, entryOf(row, s.incarnation, seq).Kind) {
			want = append(want, seq)
		}
	}
	invariant.Check(slices.Equal(seqs, want), "thread %q: the index by kind has entries %d of kinds %q from %d to %d, the thread has %d",
		s.thread, seqs, kinds, from, to, want)
}
