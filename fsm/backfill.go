package fsm

import (
	"dormouse/fsm/kv"
)

// An index that comes with a feature level lacks the rows that were written
// below that level. A backfill adds them: each entry adds those of the next
// rows, in the order of their keys, until there are no more.
type backfill struct {
	level  uint32 // the feature level that the index comes with
	cursor string // names the row that holds the next key to visit; there is none below the level
	kind   string // of the rows that are indexed
	most   int    // rows that one entry visits
	add    func(b *entry, key string, raw []byte) error
}

// end returns the value of the cursor once the index is complete.
func (f *backfill) end() string { return kv.After(f.kind) }

// complete reports whether the index lacks no row.
func (f *backfill) complete(rows kv.Reader) (bool, error) {
	cursor, err := rows.Get(f.cursor)
	return string(cursor) == f.end(), err
}

// startBackfill makes the backfill due with the next entry.
func startBackfill(b *entry, f *backfill) {
	b.rows.Set(f.cursor, []byte(f.kind))
	b.expireAt(max(b.progress.wall, 1), f.cursor)
}

// fillIndex adds the next rows to the index. Its cost is that share of what an entry
// sweeps which the rows are of those that one entry visits.
func fillIndex(b *entry, f *backfill) (cost int, err error) {
	cursor, err := b.rows.Get(f.cursor)
	if err != nil {
		return 0, err
	}
	keys, more, err := b.rows.Keys(string(cursor), f.end(), f.most)
	if err != nil {
		return 0, err
	}
	for _, key := range keys {
		raw, err := b.rows.Get(key)
		if err != nil {
			return 0, err
		}
		if err := f.add(b, key, raw); err != nil {
			return 0, err
		}
	}
	next := f.end()
	if more {
		next = keys[len(keys)-1] + kv.Separator
		b.expireAt(max(b.progress.wall, 1), f.cursor)
	}
	b.rows.Set(f.cursor, []byte(next))
	return max(1, sweepMax*len(keys)/f.most), nil
}
