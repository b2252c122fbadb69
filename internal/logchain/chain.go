// Package logchain computes the running checksum over the entries of the log. Two logs with equal
// chains at an index have equal entries up to it.
package logchain

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// frameBytes is the size of the frame that begins each entry. Its last 4 bytes are the entry's
// CRC-32C, which does not cover itself.
const frameBytes = 8

// Sum returns the CRC-32C of an entry. The entry must have its frame.
func Sum(entry []byte) uint32 {
	return crc32.Update(crc32.Checksum(entry[:4], castagnoli), castagnoli, entry[frameBytes:])
}

// Check returns the CRC-32C of an entry, and an error if the entry does not match the one in its
// frame.
func Check(entry []byte) (uint32, error) {
	if len(entry) < frameBytes {
		return 0, fmt.Errorf("an entry of %d bytes is shorter than its frame", len(entry))
	}
	sum := Sum(entry)
	if stored := binary.LittleEndian.Uint32(entry[4:]); stored != sum {
		return 0, fmt.Errorf("an entry is damaged: its checksum is %08x, its bytes have %08x", stored, sum)
	}
	return sum, nil
}

// Next returns the chain after one more entry:
//
//	chain' = CRC-32C(chain ‖ index ‖ term ‖ CRC-32C of the entry)
//
// each big-endian, starting at 0.
func Next(chain uint32, index, term uint64, entry uint32) uint32 {
	var b [24]byte
	binary.BigEndian.PutUint32(b[0:], chain)
	binary.BigEndian.PutUint64(b[4:], index)
	binary.BigEndian.PutUint64(b[12:], term)
	binary.BigEndian.PutUint32(b[20:], entry)
	return crc32.Checksum(b[:], castagnoli)
}
