package agent

import "encoding/hex"

// Head is the hash chain over a thread's entries; the zero Head is that of a
// thread without entries. See Head.Next.
type Head [32]byte

// String is the head in hex, as the API writes it.
func (h Head) String() string { return hex.EncodeToString(h[:]) }

// Thread is a journal's meta: the entries themselves are read apart.
//
// Invariants: Floor <= Rev; Rev is the number of entries ever appended in this
// incarnation, so the seq of the last entry is Rev-1.
type Thread struct {
	ID          string
	Incarnation uint64 // grows when the thread is created anew after a delete
	Rev         uint64
	Head        Head
	Floor       uint64 // the first seq that is still there
	Summary     JSON   // an entry payload kept at the floor by compaction; may be nil
	CreatedAt   int64  // Unix ms, from the log
	UpdatedAt   int64
	Metadata    JSON // a JSON object, "{}" where none was given
	ForkedFrom  *ForkPoint
	ExpiresAt   int64 // Unix ms; 0 means never: see SetTTL
}

// ForkPoint says where a fork left its parent.
type ForkPoint struct {
	Thread      string
	Incarnation uint64
	Rev         uint64
}

// Pointer is a checkpoint's reference into a thread, pinned to a rev.
type Pointer struct {
	Thread      string
	Rev         uint64
	Head        string // hex; empty on a write means "whatever the journal says at Rev"; always filled in what is stored
	Incarnation uint64 // filled in by the state machine; 0 on a write means the current one
}
