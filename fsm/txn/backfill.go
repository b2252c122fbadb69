package txn

import (
	"dormouse/fsm/kv"
)

// Backfill adds rows that were written below a feature level to an index that the level adds. Each
// entry adds the next rows, in key order, until all are added.
type Backfill struct {
	Level  uint32 // the feature level that adds the index
	Cursor string // names the row with the next key to visit; it does not exist below the level
	Kind   string // of the indexed rows
	Most   int    // rows that one entry visits
	Add    func(b *Entry, key string, raw []byte) error
}

// End returns the value of the cursor once the index is complete.
func (f *Backfill) End() string { return kv.After(f.Kind) }

// Complete reports whether the index has all rows.
func (f *Backfill) Complete(rows kv.Reader) (bool, error) {
	cursor, err := rows.Get(f.Cursor)
	return string(cursor) == f.End(), err
}

// StartBackfill makes the backfill due at the next entry.
func StartBackfill(b *Entry, f *Backfill) {
	b.Rows.Set(f.Cursor, []byte(f.Kind))
	b.SetExpiry(max(b.Progress.Wall, 1), f.Cursor)
}

// AdvanceBackfill adds the next rows to the index. Its cost is a share of SweepMax: the visited
// rows as a share of those that one entry may visit.
func AdvanceBackfill(b *Entry, f *Backfill) (cost int, err error) {
	cursor, err := b.Rows.Get(f.Cursor)
	if err != nil {
		return 0, err
	}
	keys, more, err := b.Rows.Keys(string(cursor), f.End(), f.Most)
	if err != nil {
		return 0, err
	}
	for _, key := range keys {
		raw, err := b.Rows.Get(key)
		if err != nil {
			return 0, err
		}
		if err := f.Add(b, key, raw); err != nil {
			return 0, err
		}
	}
	next := f.End()
	if more {
		next = keys[len(keys)-1] + kv.Separator
		b.SetExpiry(max(b.Progress.Wall, 1), f.Cursor)
	}
	b.Rows.Set(f.Cursor, []byte(next))
	return max(1, SweepMax*len(keys)/f.Most), nil
}
