package command

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"google.golang.org/protobuf/encoding/protowire"

	"dormouse/agent"
	"dormouse/internal/logchain"
	logpb "dormouse/proto/log"
)

// One log entry is a frame around a logpb.Batch:
//
//	0  magic     2 bytes
//	2  format    1 byte: the version of what follows the frame
//	3  flags     1 byte: none are defined yet
//	4  CRC-32C   4 bytes, little-endian, of bytes 0–3 and of all from 8 on
//	8  the batch, as protobuf
//
// The frame is the same in every format, so any version can check any entry, and can distinguish a
// newer entry from a damaged one.
const (
	frameMagic  = 0xD05E
	FrameBytes  = 8
	entryFormat = 1
)

// EntryBytesMax is the largest entry that is unpacked: one commit at its limit or a coalesced
// batch, with room for the stamps.
const EntryBytesMax = agent.CommitBytesMax + 1<<20

// Castagnoli is the table of CRC-32C, the checksum of entries.
var Castagnoli = crc32.MakeTable(crc32.Castagnoli)

// The fields of logpb.Batch, which this file encodes and decodes by hand: the commits of an entry
// are slices of it, not copies.
const (
	fieldTick       protowire.Number = 1
	fieldWall       protowire.Number = 2
	fieldAuditIndex protowire.Number = 3
	fieldAuditChain protowire.Number = 4
	fieldCommits    protowire.Number = 5
	fieldDecision   protowire.Number = 6
)

// Pack frames a batch as one log entry.
func Pack(b *logpb.Batch) []byte {
	size := FrameBytes + 4*11
	for _, c := range b.Commits {
		size += protowire.SizeTag(fieldCommits) + protowire.SizeBytes(len(c))
	}
	decision := 0
	if b.Decision != nil {
		decision = b.Decision.EncodedSize()
		size += protowire.SizeTag(fieldDecision) + protowire.SizeBytes(decision)
	}
	entry := make([]byte, FrameBytes, size)
	entry = appendVarint(entry, fieldTick, b.TickMs)
	entry = appendVarint(entry, fieldWall, uint64(b.WallMs))
	entry = appendVarint(entry, fieldAuditIndex, b.AuditIndex)
	entry = appendVarint(entry, fieldAuditChain, uint64(b.AuditChain))
	for _, c := range b.Commits {
		entry = protowire.AppendTag(entry, fieldCommits, protowire.BytesType)
		entry = protowire.AppendBytes(entry, c)
	}
	if b.Decision != nil {
		entry = protowire.AppendTag(entry, fieldDecision, protowire.BytesType)
		entry = protowire.AppendVarint(entry, uint64(decision))
		entry = entry[:len(entry)+decision] // size counts it
		b.Decision.EncodeBackward(entry)
	}
	binary.BigEndian.PutUint16(entry, frameMagic)
	entry[2] = entryFormat
	binary.LittleEndian.PutUint32(entry[4:], logchain.Sum(entry))
	return entry
}

func appendVarint(b []byte, field protowire.Number, v uint64) []byte {
	if v == 0 {
		return b
	}
	return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), v)
}

// CheckEntry checks the frame and the CRC of an entry and returns the CRC. It does not check the
// format, so it works for entries of any format.
func CheckEntry(entry []byte) (crc uint32, err error) {
	switch {
	case len(entry) < FrameBytes:
		return 0, agent.Errorf(agent.CodeCorrupt, "log entry of %d bytes is shorter than its frame", len(entry))
	case binary.BigEndian.Uint16(entry) != frameMagic:
		return 0, agent.Errorf(agent.CodeCorrupt, "not a Dormouse log entry: it begins with %x", entry[:2])
	}
	stored, computed := binary.LittleEndian.Uint32(entry[4:]), logchain.Sum(entry)
	if stored != computed {
		return 0, agent.Errorf(agent.CodeCorrupt, "log entry is damaged: its checksum is %08x, its bytes have %08x", stored, computed)
	}
	return stored, nil
}

// Unpack returns the batch in an entry, and the entry's CRC. The batch's commits share the entry's
// memory.
func Unpack(entry []byte) (*logpb.Batch, uint32, error) {
	crc, err := CheckEntry(entry)
	if err != nil {
		return nil, 0, err
	}
	if len(entry) > EntryBytesMax {
		return nil, 0, agent.Errorf(agent.CodeCorrupt, "log entry has %d bytes, more than %d", len(entry), EntryBytesMax)
	}
	if format, flags := entry[2], entry[3]; format != entryFormat || flags != 0 {
		return nil, 0, fmt.Errorf("this entry was written by a newer version (format %d, flags %#x; this one reads format %d): "+
			"upgrade this node", format, flags, entryFormat)
	}
	b, err := parseBatch(entry[FrameBytes:])
	if err != nil {
		return nil, 0, err
	}
	return b, crc, nil
}

// parseBatch is proto.Unmarshal without the copies. It refuses unknown fields: every node must
// decode the same batch.
func parseBatch(raw []byte) (*logpb.Batch, error) {
	b := &logpb.Batch{}
	for len(raw) > 0 {
		field, kind, n := protowire.ConsumeTag(raw)
		if n < 0 {
			return nil, badBatch(protowire.ParseError(n))
		}
		raw = raw[n:]
		switch {
		case field == fieldCommits && kind == protowire.BytesType:
			var commit []byte
			if commit, n = protowire.ConsumeBytes(raw); n >= 0 {
				b.Commits = append(b.Commits, commit[:len(commit):len(commit)])
			}
		case field == fieldDecision && kind == protowire.BytesType && b.Decision == nil:
			var decision []byte
			if decision, n = protowire.ConsumeBytes(raw); n >= 0 {
				b.Decision = &logpb.Decision{}
				if err := UnmarshalShared(decision, b.Decision); err != nil {
					return nil, badBatch(err)
				}
			}
		case field <= fieldAuditChain && kind == protowire.VarintType:
			var v uint64
			if v, n = protowire.ConsumeVarint(raw); n >= 0 {
				setStamp(b, field, v)
			}
		default:
			return nil, badBatch(fmt.Errorf("field %d of kind %d is unknown", field, kind))
		}
		if n < 0 {
			return nil, badBatch(protowire.ParseError(n))
		}
		raw = raw[n:]
	}
	return b, nil
}

func setStamp(b *logpb.Batch, field protowire.Number, v uint64) {
	switch field {
	case fieldTick:
		b.TickMs = v
	case fieldWall:
		b.WallMs = int64(v)
	case fieldAuditIndex:
		b.AuditIndex = v
	default: // parseBatch rejects all others
		b.AuditChain = uint32(v)
	}
}

func badBatch(err error) error {
	return fmt.Errorf("cannot decode the batch in the log entry: %w", err)
}
