package fsm

import "encoding/binary"

// kindBlock is the number of entries of a thread that share a block of the
// index by kind. The index is ordered by block, then kind, then seq: one range
// delete removes the blocks below a floor, whatever kinds they hold, and a read
// seeks once per block and kind. The number is part of the row format.
const kindBlock = 4096

// entryKindPrefix begins the keys of the index rows of one incarnation's
// entries from a block on.
func entryKindPrefix(scope, thread string, incarnation, block uint64) string {
	return incarnationKey(kindEntryKind, scope, thread, incarnation) + encodeNumber(block)
}

// entryKindKey names the index row of an entry.
func entryKindKey(scope, thread string, incarnation uint64, kind string, seq uint64) string {
	return entryKindPrefix(scope, thread, incarnation, seq/kindBlock) + kindPart(kind) + encodeNumber(seq)
}

// kindPart is a kind with its length, so that no kind is the beginning of
// another.
func kindPart(kind string) string {
	return string(binary.BigEndian.AppendUint16(nil, uint16(len(kind)))) + kind
}
