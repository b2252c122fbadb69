package agent

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
)

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

// Next is the head after one more entry: SHA-256 over h, then id, at, kind,
// payload and refs. Each is led by its length as eight bytes, big-endian, but
// at, which is eight bytes itself; so no two entries feed it the same bytes.
func (h Head) Next(id string, at int64, kind string, payload, refs JSON) Head {
	// Everything but the payloads goes through one buffer, which stays on the
	// stack as long as id and kind are within their limits.
	buffer := make([]byte, 0, len(h)+4*8+IDBytesMax+KindBytesMax)
	buffer = append(buffer, h[:]...)
	buffer = binary.BigEndian.AppendUint64(buffer, uint64(len(id)))
	buffer = append(buffer, id...)
	buffer = binary.BigEndian.AppendUint64(buffer, uint64(at))
	buffer = binary.BigEndian.AppendUint64(buffer, uint64(len(kind)))
	buffer = append(buffer, kind...)
	buffer = binary.BigEndian.AppendUint64(buffer, uint64(len(payload)))

	digest := sha256.New()
	digest.Write(buffer)
	digest.Write(payload)
	digest.Write(binary.BigEndian.AppendUint64(buffer[:0], uint64(len(refs))))
	digest.Write(refs)
	var next Head
	digest.Sum(next[:0])
	return next
}

// ParseHead reads a head in hex.
func ParseHead(text string) (Head, error) {
	var h Head
	if len(text) != hex.EncodedLen(len(h)) {
		return Head{}, Invalid("head", "a head has %d hex digits, this one has %d characters", hex.EncodedLen(len(h)), len(text))
	}
	if _, err := hex.Decode(h[:], []byte(text)); err != nil {
		return Head{}, Invalid("head", "a head is written in hex digits: %v", err)
	}
	return h, nil
}
