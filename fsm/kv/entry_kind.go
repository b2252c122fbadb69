package kv

import "encoding/binary"

// KindBlock is the number of entries of a thread that share a block of the index by kind. The index
// is ordered by block, then kind, then seq. So one range delete removes the blocks below a floor
// with all their kinds, and a read seeks once per block and kind. The number is part of the row
// format.
const KindBlock = 4096

// KindRun is how many entries one row of the index by kind stands for at most. A row stands for its
// entry, and for those of the same kind that follow it up to the next multiple of KindRun. It divides
// KindBlock, and is part of the row format.
const KindRun = 64

// EntryKindPrefix begins the keys of the index rows of one incarnation's entries from a block on.
func EntryKindPrefix(scope, thread string, incarnation, block uint64) string {
	return IncarnationKey(KindEntryKind, scope, thread, incarnation) + EncodeNumber(block)
}

// EntryKindKey names the index row of a run of entries of one kind, whose first is at seq.
func EntryKindKey(scope, thread string, incarnation uint64, kind string, seq uint64) string {
	return EntryKindPrefix(scope, thread, incarnation, seq/KindBlock) + KindPart(kind) + EncodeNumber(seq)
}

// KindPart returns a kind with its length, so that no kind is a prefix of another.
func KindPart(kind string) string {
	return string(binary.BigEndian.AppendUint16(nil, uint16(len(kind)))) + kind
}
