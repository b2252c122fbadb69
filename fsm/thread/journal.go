package thread

import (
	"encoding/hex"
	"fmt"

	"dormouse/agent"
	"dormouse/fsm/command"
	"dormouse/fsm/kv"
	logpb "dormouse/proto/log"
)

// Journal reads the entries of a thread, including those in rows of the threads that it was forked
// from. Entries below a segment's end belong to that segment's thread, the rest to the thread
// itself.
type Journal struct {
	rows  kv.Reader
	scope string
	Meta  *logpb.ThreadMeta
}

// ZeroHead is the head of a thread without entries.
var ZeroHead = make([]byte, len(agent.Head{}))

func decodeThreadRow(id string, raw []byte) (*logpb.ThreadMeta, error) {
	row := &logpb.ThreadMeta{}
	if err := command.Unmarshal(raw, row); err != nil {
		return nil, fmt.Errorf("decode thread %q: %w", id, err)
	}
	row.Id = id
	return row, nil
}

// owner returns the thread and incarnation that store the entry at seq.
func (j Journal) owner(seq uint64) (thread string, incarnation uint64) {
	for _, s := range j.Meta.Segments {
		if seq < s.To {
			return s.Thread, s.Incarnation
		}
	}
	return j.Meta.Id, j.Meta.Incarnation
}

// ownStart returns the first seq whose row is the thread's own.
func (j Journal) ownStart() uint64 {
	if n := len(j.Meta.Segments); n > 0 {
		return j.Meta.Segments[n-1].To
	}
	return 0
}

// row returns the row of the entry at seq, which must exist.
func (j Journal) row(seq uint64) (*logpb.EntryRow, error) {
	thread, incarnation := j.owner(seq)
	raw, err := j.rows.Get(kv.EntryKey(j.scope, thread, incarnation, seq))
	if err != nil {
		return nil, err
	}
	if raw == nil {
		return nil, fmt.Errorf("thread %q at rev %d lacks its entry %d", j.Meta.Id, j.Meta.Rev, seq)
	}
	row := &logpb.EntryRow{}
	return row, decodeEntryRow(seq, raw, row)
}

// decodeEntryRow decodes an entry's row into an empty one, which shares raw's memory.
func decodeEntryRow(seq uint64, raw []byte, into *logpb.EntryRow) error {
	if err := command.UnmarshalShared(raw, into); err != nil {
		return fmt.Errorf("decode entry %d: %w", seq, err)
	}
	return nil
}

// entry returns the entry at seq, which must exist.
func (j Journal) entry(seq uint64) (agent.Entry, error) {
	row, err := j.row(seq)
	if err != nil {
		return agent.Entry{}, err
	}
	_, incarnation := j.owner(seq)
	return entryOf(row, incarnation, seq), nil
}

// entryOf returns the entry in a row, stored under an incarnation.
func entryOf(row *logpb.EntryRow, incarnation, seq uint64) agent.Entry {
	draft := agent.Draft{ID: row.Id, At: &row.At, Kind: row.Kind, Payload: row.Payload, Refs: row.Refs, ContentType: row.ContentType, Bytes: row.Bytes}
	return draft.Entry(incarnation, seq, row.At)
}

// HeadAt returns the chain's value at a rev, which must not exceed the thread's. Below the floor
// only the value at 0 is known.
func (j Journal) HeadAt(rev uint64) ([]byte, error) {
	switch {
	case rev == 0:
		return ZeroHead, nil
	case rev == j.Meta.Rev:
		return j.Meta.Head, nil
	case rev == j.Meta.Floor:
		return j.Meta.FloorHead, nil
	case rev < j.Meta.Floor:
		return nil, compacted(j.Meta, rev)
	}
	row, err := j.row(rev - 1)
	if err != nil {
		return nil, err
	}
	if len(row.Head) != len(ZeroHead) {
		return nil, fmt.Errorf("entry %d of thread %q has no head", rev-1, j.Meta.Id)
	}
	return row.Head, nil
}

// find looks up an entry by its id. A generated id contains the seq; ids chosen by callers are in
// an index. Compacted entries are not found.
func (j Journal) find(id string) (seq uint64, found bool, err error) {
	if incarnation, at, ok := agent.GeneratedID(id); ok && j.Meta.Floor <= at && at < j.Meta.Rev {
		if _, stored := j.owner(at); stored == incarnation {
			row, err := j.row(at)
			if err != nil || row.Id == "" {
				return at, err == nil, err
			}
		}
	}
	if !j.Meta.ChosenIds {
		return 0, false, nil
	}
	from := j.Meta.Floor
	for _, s := range j.Meta.Segments {
		if seq, found, err = j.indexed(s.Thread, s.Incarnation, id, from, s.To); err != nil || found {
			return seq, found, err
		}
		from = max(from, s.To)
	}
	return j.indexed(j.Meta.Id, j.Meta.Incarnation, id, from, j.Meta.Rev)
}

// indexed looks up an id among the entries of one incarnation between two seqs. An id has several
// seqs if its entry was compacted, the id was used again, and a fork still reads the first entry.
func (j Journal) indexed(thread string, incarnation uint64, id string, from, to uint64) (seq uint64, found bool, err error) {
	raw, err := j.rows.Get(kv.EntryIDKey(j.scope, thread, incarnation, id))
	if err != nil {
		return 0, false, err
	}
	for ; len(raw) >= 8; raw = raw[8:] {
		if seq := kv.DecodeNumber(raw[:8]); from <= seq && seq < to {
			return seq, true, nil
		}
	}
	return 0, false, nil
}

// compacted returns the error of a read of an entry or a head below the floor.
func compacted(meta *logpb.ThreadMeta, at uint64) *agent.Error {
	e := agent.Errorf(agent.CodeCompacted, "thread %q was compacted below %d, so rev %d is not available", meta.Id, meta.Floor, at)
	e.Floor, e.Rev, e.Head = meta.Floor, meta.Rev, hex.EncodeToString(meta.Head)
	return e
}
