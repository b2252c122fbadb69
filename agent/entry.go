package agent

import (
	"bytes"
	"slices"
)

// Entry is one element of a thread, as it is stored and read.
type Entry struct {
	ID      string
	Seq     uint64 // 0-based position
	At      int64  // Unix ms
	Kind    string
	Payload JSON // an object
	Refs    JSON // an object
}

// Draft is an entry as a caller hands it in. Empty fields take defaults when
// it is applied: a generated id ("entry_…"), the log's time, kind "note", "{}".
type Draft struct {
	ID      string
	At      *int64
	Kind    string
	Payload JSON
	Refs    JSON
}

// The kinds that the systems of SEMANTICS.md use. Kinds are open: any string
// up to KindBytesMax is one.
const (
	KindMessage          = "message"
	KindToolCall         = "tool_call"
	KindToolResult       = "tool_result"
	KindSignalIn         = "signal_in"
	KindSignalOut        = "signal_out"
	KindInstructionStart = "instruction_start"
	KindInstructionEnd   = "instruction_end"
	KindNote             = "note"
	KindError            = "error"
	KindCheckpoint       = "checkpoint"
	KindMessageCommitted = "message_committed" // a follow-up fact; see Resolve
	KindAnnotation       = "annotation"        // a follow-up fact; see Resolve
)

// Keys that entries' refs commonly use.
const (
	RefSignalID       = "signal_id"
	RefInstructionID  = "instruction_id"
	RefAction         = "action"
	RefAgentID        = "agent_id"
	RefParentThreadID = "parent_thread_id"
	RefEntryID        = "entry_id" // the earlier entry that a follow-up fact speaks of
)

// Entry is the entry that d becomes at seq of a thread's incarnation, now
// being the log's time. Empty fields take their defaults.
func (d Draft) Entry(incarnation, seq uint64, now int64) Entry {
	e := Entry{ID: d.ID, Seq: seq, At: now, Kind: d.Kind, Payload: d.Payload, Refs: d.Refs}
	if e.ID == "" {
		e.ID = generatedID(incarnation, seq)
	}
	if d.At != nil {
		e.At = *d.At
	}
	if e.Kind == "" {
		e.Kind = KindNote
	}
	if isNull(e.Payload) {
		e.Payload = emptyObject
	}
	if isNull(e.Refs) {
		e.Refs = emptyObject
	}
	return e
}

// SameContent tells whether d, sent again, is what e records already. What d
// leaves empty matches what Entry would have filled in: any generated id, any
// time, the default kind, payload and refs. JSON is compared byte by byte.
func (d Draft) SameContent(e Entry) bool {
	if d.ID == "" {
		if _, _, generated := GeneratedID(e.ID); !generated {
			return false
		}
	} else if d.ID != e.ID {
		return false
	}
	if d.At != nil && *d.At != e.At {
		return false
	}
	filled := d.Entry(0, 0, 0)
	return filled.Kind == e.Kind && bytes.Equal(filled.Payload, e.Payload) && bytes.Equal(filled.Refs, e.Refs)
}

// Slice is the part of entries, which are in seq order, from seq from to seq
// to, both included.
func Slice(entries []Entry, from, to uint64) []Entry {
	bySeq := func(e Entry, seq uint64) int {
		switch {
		case e.Seq < seq:
			return -1
		case e.Seq > seq:
			return 1
		}
		return 0
	}
	start, _ := slices.BinarySearchFunc(entries, from, bySeq)
	end, found := slices.BinarySearchFunc(entries, to, bySeq)
	if found {
		end++
	}
	if end < start {
		end = start
	}
	return entries[start:end:end]
}

// OfKind is those of entries whose kind is one of kinds, in their order.
func OfKind(entries []Entry, kinds ...string) []Entry {
	var matching []Entry
	for _, e := range entries {
		if slices.Contains(kinds, e.Kind) {
			matching = append(matching, e)
		}
	}
	return matching
}
