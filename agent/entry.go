package agent

import (
	"bytes"
	"slices"

	"dormouse/internal/compactjson"
)

// Entry is one stored element of a thread.
type Entry struct {
	ID      string
	Seq     uint64 // 0-based position
	At      int64  // Unix ms
	Kind    string
	Payload JSON // an object
	Refs    JSON // an object

	ContentType string // of Bytes; "" if the entry has none
	Bytes       []byte // as the caller sent them, beside the payload
}

// Draft is an entry before it is stored. Empty fields get defaults when it is applied:
// a generated id ("entry_…"), log time, kind "note", "{}".
type Draft struct {
	ID      string
	At      *int64
	Kind    string
	Payload JSON
	Refs    JSON

	ContentType string // of Bytes; "" means DefaultContentType if there are bytes, and no bytes otherwise
	Bytes       []byte // kept as they are, beside the payload
}

// DefaultContentType is the content type of bytes that came without one.
const DefaultContentType = "application/octet-stream"

// The kinds that the supported frameworks use. Kinds are open: any string of at most
// KindBytesMax bytes is valid.
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
	KindMessageCommitted = "message_committed" // a follow-up; see Resolve
	KindAnnotation       = "annotation"        // a follow-up; see Resolve
)

// Keys that entries' refs commonly use.
const (
	RefSignalID       = "signal_id"
	RefInstructionID  = "instruction_id"
	RefAction         = "action"
	RefAgentID        = "agent_id"
	RefParentThreadID = "parent_thread_id"
	RefEntryID        = "entry_id" // the earlier entry that a follow-up is about
)

// Entry returns the entry that d becomes at seq of a thread's incarnation at log time
// now. Empty fields get their defaults.
func (d Draft) Entry(incarnation, seq uint64, now int64) Entry {
	e := Entry{ID: d.ID, Seq: seq, At: now, Kind: d.Kind, Payload: d.Payload, Refs: d.Refs, ContentType: d.ContentType, Bytes: d.Bytes}
	if e.ContentType == "" && len(e.Bytes) > 0 {
		e.ContentType = DefaultContentType
	}
	if e.ID == "" {
		e.ID = generatedID(incarnation, seq)
	}
	if d.At != nil {
		e.At = *d.At
	}
	if e.Kind == "" {
		e.Kind = KindNote
	}
	if compactjson.IsNull(e.Payload) {
		e.Payload = emptyObject
	}
	if compactjson.IsNull(e.Refs) {
		e.Refs = emptyObject
	}
	return e
}

// SameContent reports whether d, when sent again, equals the stored entry e. An empty
// field of d matches the value that Entry would have filled in: any generated id, any
// time, the default kind, payload and refs. JSON and bytes are compared byte by byte.
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
	return filled.Kind == e.Kind && bytes.Equal(filled.Payload, e.Payload) && bytes.Equal(filled.Refs, e.Refs) &&
		filled.ContentType == e.ContentType && bytes.Equal(filled.Bytes, e.Bytes)
}

// Size returns the bytes of the draft that its limit bounds.
func (d *Draft) Size() int {
	return len(d.ID) + len(d.Kind) + len(d.Payload) + len(d.Refs) + len(d.ContentType) + len(d.Bytes)
}

// Size returns the bytes that the entry counts for in its scope's quota.
func (e *Entry) Size() int {
	return len(e.ID) + len(e.Kind) + len(e.Payload) + len(e.Refs) + len(e.ContentType) + len(e.Bytes)
}

// Slice returns the entries from seq from to seq to, both inclusive. entries must be
// in seq order.
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

// OfKind returns the entries whose kind is one of kinds, in order.
func OfKind(entries []Entry, kinds ...string) []Entry {
	var matching []Entry
	for _, e := range entries {
		if slices.Contains(kinds, e.Kind) {
			matching = append(matching, e)
		}
	}
	return matching
}
