package txn

import (
	"dormouse/fsm/kv"
)

// Backfill adds to an index that comes with a feature level the rows that were
// written below that level. Each entry adds those of the next rows, in the order of
// their keys, until there are no more.
type Backfill struct {
	Level  uint32 // the feature level that the index comes with
	Cursor string // names the row that holds the next key to visit; there is none below the level
	Kind   string // of the rows that are indexed
	Most   int    // rows that one entry visits
	Add    func(b *Entry, key string, raw []byte) error
}

// End returns the value of the cursor once the index is complete.
func (f *Backfill) End() string { return kv.After(f.Kind) }

// Complete reports whether the index lacks no row.
func (f *Backfill) Complete(rows kv.Reader) (bool, error) {
	cursor, err := rows.Get(f.Cursor)
	return string(cursor) == f.End(), err
}

// StartBackfill makes the backfill due with the next entry.
func StartBackfill(b *Entry, f *Backfill) {
	b.Rows.Set(f.Cursor, []byte(f.Kind))
	b.SetExpiry(max(b.Progress.Wall, 1), f.Cursor)
}

// AdvanceBackfill adds the next rows to the index. Its cost is that share of what an entry
// sweeps which the rows are of those that one entry visits.
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
