package txn

import (
	"encoding/binary"
	"fmt"

	"dormouse/storage"
)

// Progress is the last entry of an engine's state. It is one row, written in the batch of every
// entry, so that state and index always match.
type Progress struct {
	Index uint64 // of the last applied entry
	Term  uint64 // its term
	Tick  uint64 // its stamps, which never decrease
	Wall  int64
	Chain uint32 // over all entries up to it; see internal/logchain
}

// engineFormat is the version of the rows. Other versions are refused: 1 and 2 are older than the
// first release, and 2 had no index of entries by kind.
const engineFormat = 3

const progressBytes = 1 + 4*8 + 4

// ProgressKey sorts before every other row.
var ProgressKey = []byte{0x00, 'p'}

// ReadProgress returns the engine's progress; the zero progress of an empty one.
func ReadProgress(r storage.Reader) (Progress, error) {
	raw, ok, err := r.Get(ProgressKey)
	if err != nil || !ok {
		return Progress{}, err
	}
	if len(raw) > 0 && raw[0] > engineFormat {
		return Progress{}, fmt.Errorf("%w: the state was written by a newer version (format %d; this one reads up to %d): "+
			"start the newer version again", storage.ErrForeign, raw[0], engineFormat)
	}
	if len(raw) > 0 && raw[0] < engineFormat {
		return Progress{}, fmt.Errorf("%w: the state was written by a version before the first release (format %d; this one reads %d): "+
			"give the node an empty data directory, and let it join again", storage.ErrForeign, raw[0], engineFormat)
	}
	if len(raw) != progressBytes {
		return Progress{}, fmt.Errorf("%w: the state's progress row has %d bytes, not %d", storage.ErrDamaged, len(raw), progressBytes)
	}
	return Progress{
		Index: binary.BigEndian.Uint64(raw[1:]),
		Term:  binary.BigEndian.Uint64(raw[9:]),
		Tick:  binary.BigEndian.Uint64(raw[17:]),
		Wall:  int64(binary.BigEndian.Uint64(raw[25:])),
		Chain: binary.BigEndian.Uint32(raw[33:]),
	}, nil
}

// Write adds the row to a batch.
func (p Progress) Write(b *storage.Batch) {
	raw := make([]byte, 0, progressBytes)
	raw = append(raw, engineFormat)
	raw = binary.BigEndian.AppendUint64(raw, p.Index)
	raw = binary.BigEndian.AppendUint64(raw, p.Term)
	raw = binary.BigEndian.AppendUint64(raw, p.Tick)
	raw = binary.BigEndian.AppendUint64(raw, uint64(p.Wall))
	raw = binary.BigEndian.AppendUint32(raw, p.Chain)
	b.Set(ProgressKey, raw)
}

// Next returns the progress after an entry with the leader's stamps. Time does not decrease if the
// clock of a new leader is behind. Its chain is not known before the entry is.
func (p Progress) Next(index, term, tick uint64, wall int64) Progress {
	return Progress{Index: index, Term: term, Tick: max(p.Tick, tick), Wall: max(p.Wall, wall)}
}
