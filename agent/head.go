package agent

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
)

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
