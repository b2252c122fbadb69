package fsm

import (
	"fmt"

	"dormouse/agent"
	"dormouse/fsm/checkpoint"
	"dormouse/fsm/thread"
	"dormouse/fsm/txn"
	"dormouse/internal/seededbug"
	logpb "dormouse/proto/log"
)

// thawEntriesHint is the most entries for which a thaw has room at first.
const thawEntriesHint = 256

// readThaw reads a checkpoint and its thread at the pointer's rev. If the thread is missing or has
// another incarnation, it returns an error, never an empty thread.
//
// All entries are in one answer, so a thread larger than agent.ReadBytesMax needs a tail.
func readThaw(r txn.Reader, q *agent.Thaw) (agent.Found, error) {
	checkpoint, err := checkpoint.At(r, q.Key, q.Revision)
	if err != nil {
		return nil, err
	}
	thawed := &agent.Thawed{Checkpoint: *checkpoint}
	p := checkpoint.Thread
	if p == nil {
		return thawed, nil
	}
	j, err := thread.JournalOrNone(r, p.Thread)
	if err != nil {
		return nil, err
	}
	if j.Meta == nil && p.Incarnation == 0 && p.Rev == 0 {
		thawed.Thread = &agent.Thread{ID: p.Thread, Metadata: agent.JSON("{}")}
		return thawed, nil
	}
	if err := pointsTo(p, j); err != nil {
		return nil, err
	}
	if seededbug.Is(seededbug.ThawPastPointer) {
		now := *p
		now.Rev, p = j.Meta.Rev, &now
	}
	then, err := thread.At(r, j, p.Rev)
	if err != nil {
		return nil, err
	}
	thawed.Thread, thawed.Ahead = &then, j.Meta.Rev-p.Rev
	from := min(j.Meta.Floor, p.Rev)
	if q.Tail != nil && p.Rev-from > *q.Tail {
		from = p.Rev - *q.Tail
	}
	size := 0
	add := func(n int) error {
		if size += n; size <= agent.ReadBytesMax {
			return nil
		}
		tooLarge := agent.TooLarge("tail", "read_bytes_max", size, agent.ReadBytesMax)
		tooLarge.Detail = fmt.Sprintf("the %d entries of thread %q take more than %d bytes: ask for a tail, and load the rest in pages",
			p.Rev-from, p.Thread, agent.ReadBytesMax)
		return tooLarge
	}
	if q.Encoded {
		thawed.Encoded, err = thread.Encoded(r, j, from, p.Rev, add)
		return thawed, err
	}
	thawed.Entries = make([]agent.Entry, 0, min(p.Rev-from, thawEntriesHint))
	err = thread.EachEntry(r, j, from, p.Rev, func(_ *logpb.EntryRow, e agent.Entry) (bool, error) {
		thawed.Entries = append(thawed.Entries, e)
		err := add(int(thread.EntryBytes(&e)))
		return err == nil, err
	})
	if err != nil {
		return nil, err
	}
	return thawed, nil
}

// pointsTo returns an error if a pointer does not match the thread.
func pointsTo(p *agent.Pointer, j thread.Journal) error {
	if j.Meta == nil {
		return checkpoint.MissingThread(p.Thread)
	}
	if p.Incarnation == 0 && p.Rev == 0 {
		return nil // the thread was made after the checkpoint
	}
	if p.Incarnation != j.Meta.Incarnation {
		return checkpoint.ThreadMismatch(j.Meta, "it was deleted and created again since")
	}
	if p.Rev > j.Meta.Rev {
		return checkpoint.ThreadMismatch(j.Meta, fmt.Sprintf("it has not come to rev %d", p.Rev))
	}
	head, err := j.HeadAt(p.Rev)
	if err != nil {
		return err
	}
	if p.Head != fmt.Sprintf("%x", head) {
		return checkpoint.ThreadMismatch(j.Meta, fmt.Sprintf("its head at rev %d is another", p.Rev))
	}
	return nil
}
