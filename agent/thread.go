package agent

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
)

// Head is a hash chain over a thread's entries; the zero Head belongs to a thread
// without entries. See Head.Next.
type Head [32]byte

// String returns the head in hex, as in the API.
func (h Head) String() string { return hex.EncodeToString(h[:]) }

// Thread is a thread without its entries, which are read separately.
//
// Invariants: Floor <= Rev; Rev is the number of entries ever appended in this
// incarnation, so the seq of the last entry is Rev-1.
type Thread struct {
	ID          string
	Incarnation uint64 // grows when the thread is created again after a delete
	Rev         uint64
	Head        Head
	Floor       uint64 // the first seq that is still stored
	Summary     JSON   // entry payload that compaction stored at the floor; may be nil
	CreatedAt   int64  // Unix ms, from the log
	UpdatedAt   int64
	Metadata    JSON // a JSON object, "{}" if none was given
	ForkedFrom  *ForkPoint
	ExpiresAt   int64 // Unix ms; 0 means never: see SetTTL
}

// ForkPoint is where a fork was made from its parent.
type ForkPoint struct {
	Thread      string
	Incarnation uint64
	Rev         uint64
}

// Pointer is a checkpoint's reference to a thread at a rev.
type Pointer struct {
	Thread      string
	Rev         uint64
	Head        string // hex; "" on a write means the thread's head at Rev; always set in stored checkpoints
	Incarnation uint64 // set by the state machine; 0 on a write means the current one
}

// Next returns the head after one more entry: SHA-256 over h, id, at, kind, payload
// and refs. at is eight bytes; the others are each preceded by their length as eight
// bytes, big-endian. So different entries never hash the same bytes.
func (h Head) Next(id string, at int64, kind string, payload, refs JSON) Head {
	return h.After(&Entry{ID: id, At: at, Kind: kind, Payload: payload, Refs: refs})
}

// After is Next for an entry. The content type and the bytes of an entry that has them follow its
// refs, each preceded by its length as eight bytes.
func (h Head) After(e *Entry) Head {
	// Everything except payload and refs goes through one buffer, which stays on the
	// stack if id and kind are within their limits.
	buffer := make([]byte, 0, len(h)+4*8+IDBytesMax+KindBytesMax)
	buffer = append(buffer, h[:]...)
	buffer = binary.BigEndian.AppendUint64(buffer, uint64(len(e.ID)))
	buffer = append(buffer, e.ID...)
	buffer = binary.BigEndian.AppendUint64(buffer, uint64(e.At))
	buffer = binary.BigEndian.AppendUint64(buffer, uint64(len(e.Kind)))
	buffer = append(buffer, e.Kind...)
	buffer = binary.BigEndian.AppendUint64(buffer, uint64(len(e.Payload)))

	digest := sha256.New()
	digest.Write(buffer)
	digest.Write(e.Payload)
	digest.Write(binary.BigEndian.AppendUint64(buffer[:0], uint64(len(e.Refs))))
	digest.Write(e.Refs)
	if e.ContentType != "" {
		buffer = binary.BigEndian.AppendUint64(buffer[:0], uint64(len(e.ContentType)))
		buffer = append(buffer, e.ContentType...)
		digest.Write(binary.BigEndian.AppendUint64(buffer, uint64(len(e.Bytes))))
		digest.Write(e.Bytes)
	}
	var next Head
	digest.Sum(next[:0])
	return next
}

// ParseHead parses a head in hex.
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
