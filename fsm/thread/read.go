package thread

import (
	"encoding/hex"
	"fmt"

	"dormouse/agent"
	"dormouse/fsm/command"
	"dormouse/fsm/kv"
	"dormouse/fsm/txn"
	logpb "dormouse/proto/log"
)

// ReadJournal returns a thread that must exist.
func ReadJournal(r txn.Reader, id string) (Journal, error) {
	j, err := JournalOrNone(r, id)
	if err == nil && j.Meta == nil {
		err = txn.NotFound("thread", id)
	}
	return j, err
}

// JournalOrNone returns a journal whose Meta is nil if there is no thread.
func JournalOrNone(r txn.Reader, id string) (Journal, error) {
	j := Journal{rows: r.Reader, scope: r.Scope}
	raw, err := r.Get(kv.IDKey(kv.KindThread, r.Scope, id))
	if err != nil || raw == nil {
		return j, err
	}
	meta, err := decodeThreadRow(id, raw)
	if err == nil && !r.Gone(kv.KindThread, id, meta) {
		j.Meta = meta
	}
	return j, err
}

// At returns a thread at a rev, as callers see it.
func At(r txn.Reader, j Journal, rev uint64) (agent.Thread, error) {
	t, err := command.DecodeThread(j.Meta)
	if err != nil {
		return agent.Thread{}, err
	}
	head, err := j.HeadAt(rev)
	if err != nil {
		return agent.Thread{}, err
	}
	t.Rev, t.Floor = rev, min(t.Floor, rev)
	copy(t.Head[:], head)
	t.Summary, err = r.Get(kv.IncarnationKey(kv.KindSummary, r.Scope, t.ID, t.Incarnation))
	return t, err
}

// Get answers get_thread.
func Get(r txn.Reader, q *agent.GetThread) (agent.Found, error) {
	j, err := ReadJournal(r, q.Thread)
	if err != nil {
		return nil, err
	}
	t, err := At(r, j, j.Meta.Rev)
	return &t, err
}

// List lists threads without their summaries, which may be large.
func List(r txn.Reader, q *agent.ListThreads) (agent.Found, error) {
	list := &agent.ThreadList{}
	next, err := r.EachInPage(kv.ScopeKey(kv.KindThread, r.Scope), q.Page, func(id string, raw []byte) (int, error) {
		meta, err := decodeThreadRow(id, raw)
		if err != nil || r.Gone(kv.KindThread, id, meta) || !q.Has(meta.UpdatedAt) {
			return 0, err
		}
		t, err := command.DecodeThread(meta)
		if err != nil {
			return 0, err
		}
		list.Items = append(list.Items, t)
		return len(id) + len(raw), nil
	})
	list.Next = next
	return list, err
}

// GetEntry finds one entry by its id. A compacted entry is not found, and the answer has the floor.
func GetEntry(r txn.Reader, q *agent.GetEntry) (agent.Found, error) {
	j, err := ReadJournal(r, q.Thread)
	if err != nil {
		return nil, err
	}
	seq, found, err := j.find(q.Entry)
	if err != nil {
		return nil, err
	}
	if !found {
		if incarnation, at, ok := agent.GeneratedID(q.Entry); ok && incarnation == j.Meta.Incarnation && at < j.Meta.Floor {
			return nil, compacted(j.Meta, at+1)
		}
		e := txn.NotFound("entry", q.Entry)
		if e.Floor = j.Meta.Floor; e.Floor > 0 {
			e.Detail += fmt.Sprintf(" from seq %d on; what was before has been compacted", e.Floor)
		}
		return nil, e
	}
	e, err := j.entry(seq)
	return &e, err
}

// Verify recomputes the chain from the floor to the head, for a thread of any length: all in this
// view, and with one entry in memory at a time.
func Verify(r txn.Reader, q *agent.VerifyThread) (agent.Found, error) {
	j, err := ReadJournal(r, q.Thread)
	if err != nil {
		return nil, err
	}
	meta := j.Meta
	out := &agent.Verified{Rev: meta.Rev}
	copy(out.Head[:], meta.FloorHead)
	err = EachEntry(r, j, meta.Floor, meta.Rev, func(row *logpb.EntryRow, e agent.Entry) (bool, error) {
		out.Head = out.Head.After(&e)
		if string(out.Head[:]) == string(row.Head) {
			return true, nil
		}
		out.Why = fmt.Sprintf("entry %d does not continue the chain: it holds %s, its content gives %s",
			e.Seq, hex.EncodeToString(row.Head), out.Head)
		return false, nil
	})
	if err != nil {
		out.Why = err.Error() // a missing entry is a finding, not an error
	}
	if out.Why == "" && string(out.Head[:]) != string(meta.Head) {
		out.Why = fmt.Sprintf("the chain ends in %s, the thread's head is %s", out.Head, hex.EncodeToString(meta.Head))
	}
	out.OK = out.Why == ""
	return out, nil
}

// EachEntry visits the entries between two seqs, in order, until visit returns false. A missing one
// is an error. The row is valid until visit returns; the entry may be kept, and shares memory with
// those near it.
func EachEntry(r txn.Reader, j Journal, from, to uint64, visit func(*logpb.EntryRow, agent.Entry) (bool, error)) error {
	return eachEntry(r, j, from, to, false, visit)
}

// eachEntry is EachEntry, from the last entry to the first if back is set.
func eachEntry(r txn.Reader, j Journal, from, to uint64, back bool, visit func(*logpb.EntryRow, agent.Entry) (bool, error)) error {
	for _, s := range j.spans(from, to, back) {
		more, err := eachStored(r, j, s, back, visit)
		if err != nil || !more {
			return err
		}
	}
	return nil
}

// eachStored is eachEntry for entries that are stored under one thread. more reports that visit
// returned true for the last of them.
func eachStored(r txn.Reader, j Journal, s span, back bool, visit func(*logpb.EntryRow, agent.Entry) (bool, error)) (more bool, err error) {
	row := &logpb.EntryRow{}
	return eachRow(r, j, s, back, func(stored storedRow, seq uint64) (bool, error) {
		raw := stored.SharedValue()
		if raw == nil {
			return false, nil // eachRow returns the error
		}
		row.Reset()
		if err := decodeEntryRow(seq, raw, row); err != nil {
			return false, err
		}
		return visit(row, entryOf(row, s.incarnation, seq))
	})
}

// storedRow is a row as storage.Cursor has it. A value that cannot be read is nil, or not ok.
type storedRow interface {
	PinnedValue() (value []byte, ok bool) // valid until visit returns
	SharedValue() []byte                  // shares memory with those near it
}

// eachRow visits the rows of entries that are stored under one thread, until visit returns false.
// more reports that it returned true for the last of them.
func eachRow(r txn.Reader, j Journal, s span, back bool, visit func(stored storedRow, seq uint64) (bool, error)) (more bool, err error) {
	scan, seq := r.Engine.Scan, s.from
	if back {
		scan, seq = r.Engine.ScanBack, s.to-1
	}
	lower, upper := kv.EntryKey(r.Scope, s.thread, s.incarnation, s.from), kv.EntryKey(r.Scope, s.thread, s.incarnation, s.to)
	cursor, err := scan([]byte(lower), []byte(upper))
	if err != nil {
		return false, err
	}
	defer func() {
		if closeErr := cursor.Close(); err == nil {
			err = closeErr
		}
	}()
	left := s.to - s.from
	for ; left > 0 && cursor.Next(); left-- {
		key := cursor.Key()
		if kv.DecodeNumber(key[len(key)-8:]) != seq {
			break
		}
		more, err := visit(cursor, seq)
		if err != nil || !more {
			return false, err
		}
		if back {
			seq--
		} else {
			seq++
		}
	}
	if left > 0 && cursor.Err() == nil {
		return false, fmt.Errorf("thread %q at rev %d lacks its entry %d", j.Meta.Id, j.Meta.Rev, seq)
	}
	return left == 0, nil
}
