package kv

import (
	"fmt"
	"slices"
	"strings"

	"dormouse/internal/protocode"
	"dormouse/storage"
)

// PointDeletesMax is how many rows are deleted one by one. More rows are deleted by a range delete,
// which is cheap for many rows and expensive for few.
const PointDeletesMax = 128

// Reader reads rows by key; the value is nil if there is no row. Callers must not change the value.
type Reader interface {
	Get(key string) ([]byte, error)
}

// EngineRows reads the rows of an engine.
type EngineRows struct{ Engine storage.Reader }

// Get implements Reader.
func (r EngineRows) Get(key string) ([]byte, error) {
	value, _, err := r.Engine.Get([]byte(key))
	return value, err
}

// Overlay holds the changes of one log entry so far, over the engine. A commit writes into it, and
// rolls back to its mark if it is refused. So each commit sees those before it, and leaves all of
// its changes or none.
type Overlay struct {
	engine storage.Reader
	hot    *ApplyCache

	rows   []change       // one for each row, in the order of the first change
	places map[string]int // of the rows, by key
	order  keyOrder       // of the rows
	ranges deletedRanges
	absent absentSpans      // which includes the ranges, without the keys that were written later
	undo   []replacedChange // since the commit began
	clock  int              // increases with each change
	bytes  int              // of all written rows, including those of refused commits

	room    int   // for how many rows places has memory
	sorted  []int // memory of WriteTo
	visited int   // how many keys Keys has visited, for tests
}

// change is a row's newest value. It is deleted if it has neither a value nor a message.
type change struct {
	key     string
	value   []byte
	message protocode.Message // the value, not encoded yet
	at      int
}

func (c *change) deleted() bool { return c.value == nil && c.message == nil }

// removed reports whether a deleted range can contain such keys.
func (o *Overlay) removed(is func(key string) bool) bool {
	return slices.ContainsFunc(o.ranges.all, func(r deletedRange) bool { return r.mayHold(is) })
}

// replacedChange is a change that the current commit has replaced.
type replacedChange struct {
	place  int
	before change
}

// NewOverlay returns an overlay that serves one entry after the other, and keeps its memory.
func NewOverlay(hot *ApplyCache) *Overlay {
	return &Overlay{hot: hot, places: map[string]int{}}
}

const (
	// changesKeptMax is the number of changes of an entry, those of refused commits included, beyond
	// which the overlay gives its memory back.
	changesKeptMax = 1 << 13
	// clearAt is the part of its memory that an entry must use for a map to be cleared as a whole,
	// which takes time for all of its memory, in place of row by row.
	clearAt = 8
)

// Open begins an entry over an engine.
func (o *Overlay) Open(engine storage.Reader) { o.engine = engine }

// Drop drops all changes, and ends the entry.
func (o *Overlay) Drop() {
	if o.clock > changesKeptMax {
		*o = *NewOverlay(o.hot)
		return
	}
	o.room = max(o.room, len(o.rows))
	if len(o.rows) < o.room/clearAt {
		for i := range o.rows {
			delete(o.places, o.rows[i].key)
		}
	} else {
		clear(o.places)
	}
	clear(o.rows)
	clear(o.undo)
	o.rows, o.undo, o.sorted, o.ranges, o.clock, o.bytes = o.rows[:0], o.undo[:0], o.sorted[:0], deletedRanges{}, 0, 0
	o.order, o.absent = keyOrder{}, absentSpans{}
}

// EngineError is a failure of the engine, after which a replica must stop.
type EngineError struct{ error }

func (e *EngineError) Unwrap() error { return e.error }

// Size returns the bytes of the written keys and values, including those of refused commits, and
// what Count added.
func (o *Overlay) Size() int { return o.bytes }

// Count adds n bytes to Size.
func (o *Overlay) Count(n int) { o.bytes += n }

// mark is a point to roll back to.
type mark struct {
	rows, ranges int
	absent       []span
}

// Begin starts a commit.
func (o *Overlay) Begin() mark {
	clear(o.undo)
	o.undo = o.undo[:0]
	return mark{rows: len(o.rows), ranges: len(o.ranges.all), absent: o.absent.mark()}
}

// Rollback undoes all changes since Begin.
func (o *Overlay) Rollback(m mark) {
	for _, u := range slices.Backward(o.undo) {
		o.rows[u.place] = u.before
	}
	for i := m.rows; i < len(o.rows); i++ {
		delete(o.places, o.rows[i].key)
	}
	o.room = max(o.room, len(o.rows))
	clear(o.rows[m.rows:])
	o.rows = o.rows[:m.rows]
	o.order.truncate(m.rows)
	o.ranges.truncate(m.ranges)
	o.absent.reset(m.absent)
}

// Set writes a row. The overlay keeps value, which callers must not change afterwards.
func (o *Overlay) Set(key string, value []byte) {
	if value == nil {
		value = []byte{}
	}
	o.put(key, change{value: value}, len(value))
}

// SetMessage writes a row whose value is the encoding of a message. The overlay keeps the message,
// which callers must not change afterwards, and encodes it once: into the batch of WriteTo, unless
// it is read before.
func (o *Overlay) SetMessage(key string, m protocode.Message) {
	if inApplyCache(key) {
		o.Set(key, m.Encode())
		return
	}
	o.put(key, change{message: m}, m.EncodedSize())
}

// Remove deletes a row, which need not exist.
func (o *Overlay) Remove(key string) { o.put(key, change{}, 0) }

func (o *Overlay) put(key string, c change, size int) {
	o.clock++
	o.bytes += len(key) + size
	c.key, c.at = key, o.clock
	if len(o.absent.all) > 0 && !c.deleted() {
		o.absent.cut(key)
	}
	place, had := o.places[key]
	if !had {
		o.places[key] = len(o.rows)
		o.rows = append(o.rows, c)
		return
	}
	o.undo = append(o.undo, replacedChange{place: place, before: o.rows[place]})
	o.rows[place] = c
}

// Get returns a row's value, which callers must not change; nil if there is none.
func (o *Overlay) Get(key string) ([]byte, error) {
	place, ok := o.places[key]
	if ok && !o.stale(&o.rows[place]) {
		c := &o.rows[place]
		if c.message != nil {
			c.value, c.message = c.message.Encode(), nil
		}
		return c.value, nil
	}
	if ok || o.ranges.coverSince(key, 0) {
		return nil, nil
	}
	keep := inApplyCache(key)
	if keep {
		if value, ok := o.hot.get(key); ok {
			return value, nil
		}
	}
	value, ok, err := o.engine.Get([]byte(key))
	if err != nil {
		return nil, &EngineError{fmt.Errorf("read row %q: %w", key, err)}
	}
	if !ok {
		return nil, nil
	}
	if keep {
		o.hot.set(key, value)
	}
	return value, nil
}

// present reports whether the entry sees a row at the place of a change.
func (o *Overlay) present(place int) bool {
	return !o.rows[place].deleted() && !o.stale(&o.rows[place])
}

// stale reports whether a later range delete covers a change.
func (o *Overlay) stale(c *change) bool { return o.ranges.coverSince(c.key, c.at) }

// RemoveRange deletes lower <= key < upper.
func (o *Overlay) RemoveRange(lower, upper string) error {
	keys, more, err := o.Keys(lower, upper, PointDeletesMax)
	if err != nil {
		return err
	}
	if more {
		o.clock++
		o.ranges.add(deletedRange{lower: lower, upper: upper, at: o.clock})
		o.absent.add(span{lower, upper})
		return nil
	}
	for _, key := range keys {
		o.Remove(key)
	}
	return nil
}

// Keys returns the first keys of a range, at most limit; more reports whether there are others.
func (o *Overlay) Keys(lower, upper string, limit int) (keys []string, more bool, err error) {
	w, err := o.walk(lower, upper)
	if err != nil {
		return nil, false, err
	}
	for key, ok := w.next(); ok; key, ok = w.next() {
		if len(keys) == limit {
			more = true
			break
		}
		keys = append(keys, key)
	}
	if err := w.close(); err != nil {
		return nil, false, err
	}
	return keys, more, nil
}

// WriteTo adds all changes to a batch.
func (o *Overlay) WriteTo(b *storage.Batch) {
	for _, r := range o.ranges.all {
		b.DeleteRange([]byte(r.lower), []byte(r.upper))
	}
	for i := range o.rows {
		if !o.stale(&o.rows[i]) {
			o.sorted = append(o.sorted, i)
		}
	}
	// The engine looks for neighbours in memory that it has just used.
	slices.SortFunc(o.sorted, func(i, j int) int { return strings.Compare(o.rows[i].key, o.rows[j].key) })
	var key []byte // the batch copies it
	for _, i := range o.sorted {
		switch c := &o.rows[i]; {
		case c.message != nil:
			b.SetEncoded(c.key, c.message)
		case c.value != nil:
			key = append(key[:0], c.key...)
			b.Set(key, c.value)
		default:
			key = append(key[:0], c.key...)
			b.Delete(key)
		}
	}
}

// SettleOthers ends an entry whose writes another replica has decided. It empties the apply cache,
// which only a replica that decides needs.
func (o *Overlay) SettleOthers() {
	if o.hot.Len() > 0 {
		o.hot.clear()
	}
}

// Settle updates the apply cache after the engine has the entry, and ends the entry.
func (o *Overlay) Settle() {
	defer o.Drop()
	if o.removed(inApplyCache) {
		o.hot.clear()
	}
	for i := range o.rows {
		switch c := &o.rows[i]; {
		case !inApplyCache(c.key):
		case c.deleted() || o.stale(c):
			o.hot.drop(c.key)
		default:
			o.hot.set(c.key, c.value)
		}
	}
}
