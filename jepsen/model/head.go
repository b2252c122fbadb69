package model

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
)

// Head is the hash chain over a thread's entries. The zero Head is the chain over no
// entries.
type Head [sha256.Size]byte

func (h Head) String() string { return hex.EncodeToString(h[:]) }

// ChainedEntry is the part of an entry that the chain covers.
type ChainedEntry struct {
	ID, Kind, Payload, Refs string
	At                      int64 // Unix ms
}

// Next returns the head after one more entry: SHA-256 over h, id, at, kind, payload
// and refs. At is eight bytes, big-endian. Each other field is preceded by its length
// in eight bytes, big-endian.
func (h Head) Next(e ChainedEntry) Head {
	text := h[:]
	field := func(value string) {
		text = binary.BigEndian.AppendUint64(text, uint64(len(value)))
		text = append(text, value...)
	}
	field(e.ID)
	text = binary.BigEndian.AppendUint64(text, uint64(e.At))
	field(e.Kind)
	field(e.Payload)
	field(e.Refs)
	return sha256.Sum256(text)
}
