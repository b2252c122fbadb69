package fsm

import (
	"encoding/binary"
	"fmt"

	"dormouse/storage"
)

// progress says how far an engine's state goes. It is one row, written in the
// batch of every entry, so that state and index never part.
type progress struct {
	index uint64 // of the last entry applied
	term  uint64 // …and its term
	tick  uint64 // …and its stamps, which never run back
	wall  int64
	chain uint32 // over all entries up to it; see chain.go
}

// engineFormat is the version of the rows. An engine of another one is refused:
// 1 and 2 were of before the first release, and nothing reads them: 2 had no
// index of entries by kind.
const engineFormat = 3

const progressBytes = 1 + 4*8 + 4

// progressKey sorts before every other row.
var progressKey = []byte{0x00, 'p'}

// readProgress is the engine's progress; the zero progress of an empty one.
func readProgress(r storage.Reader) (progress, error) {
	raw, ok, err := r.Get(progressKey)
	if err != nil || !ok {
		return progress{}, err
	}
	if len(raw) > 0 && raw[0] > engineFormat {
		return progress{}, fmt.Errorf("%w: the state was written by a newer version (format %d; this one reads up to %d): "+
			"start the newer version again", storage.ErrForeign, raw[0], engineFormat)
	}
	if len(raw) > 0 && raw[0] < engineFormat {
		return progress{}, fmt.Errorf("%w: the state was written by a version of before the first release (format %d; this one reads %d): "+
			"give the node an empty data directory, and let it join again", storage.ErrForeign, raw[0], engineFormat)
	}
	if len(raw) != progressBytes {
		return progress{}, fmt.Errorf("%w: the state's progress row has %d bytes, not %d", storage.ErrDamaged, len(raw), progressBytes)
	}
	return progress{
		index: binary.BigEndian.Uint64(raw[1:]),
		term:  binary.BigEndian.Uint64(raw[9:]),
		tick:  binary.BigEndian.Uint64(raw[17:]),
		wall:  int64(binary.BigEndian.Uint64(raw[25:])),
		chain: binary.BigEndian.Uint32(raw[33:]),
	}, nil
}

// write adds the row to a batch.
func (p progress) write(b *storage.Batch) {
	raw := make([]byte, 0, progressBytes)
	raw = append(raw, engineFormat)
	raw = binary.BigEndian.AppendUint64(raw, p.index)
	raw = binary.BigEndian.AppendUint64(raw, p.term)
	raw = binary.BigEndian.AppendUint64(raw, p.tick)
	raw = binary.BigEndian.AppendUint64(raw, uint64(p.wall))
	raw = binary.BigEndian.AppendUint32(raw, p.chain)
	b.Set(progressKey, raw)
}
