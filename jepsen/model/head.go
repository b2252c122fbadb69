package model

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
)

// Head is the hash chain over a thread's entries; the zero Head is that of
// none.
type Head [sha256.Size]byte

func (h Head) String() string { return hex.EncodeToString(h[:]) }

// ChainedEntry is what of an entry goes into the chain.
type ChainedEntry struct {
	ID, Kind, Payload, Refs string
	At                      int64 // Unix ms
}

// Next is the head after one more entry: SHA-256 over h and then id, at, kind,
// payload and refs, each led by its length in eight bytes, big-endian, but for
// at, which is eight bytes itself.
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
