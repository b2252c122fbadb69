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

	rows   map[string]change
	ranges []deletedRange // in order
	undo   []undo         // since the commit began
	clock  int            // increases with each change
	bytes  int            // of all written rows, including those of refused commits

	sorted []string // memory of WriteTo
}

// change is a row's newest value. It is deleted if it has neither a value nor a message.
type change struct {
	value   []byte
	message protocode.Message // the value, not encoded yet
	at      int
}

func (c change) deleted() bool { return c.value == nil && c.message == nil }

// deletedRange deletes lower <= key < upper at a point of the overlay's clock.
type deletedRange struct {
	lower, upper string
	at           int
}

// mayHold reports whether the range can contain a key for which is returns true. is depends only on
// the key's kind.
func (r deletedRange) mayHold(is func(key string) bool) bool {
	for kind := int(r.lower[0]); kind <= int(r.upper[0]); kind++ {
		if is(string([]byte{byte(kind)})) {
			return true
		}
	}
	return false
}

// removed reports whether a deleted range can contain such keys.
func (o *Overlay) removed(is func(key string) bool) bool {
	return slices.ContainsFunc(o.ranges, func(r deletedRange) bool { return r.mayHold(is) })
}

type undo struct {
	key    string
	before change
	had    bool
}

// NewOverlay returns an overlay that serves one entry after the other, and keeps its memory.
func NewOverlay(hot *ApplyCache) *Overlay {
	return &Overlay{hot: hot, rows: map[string]change{}}
}

// changesKeptMax is the number of changes of an entry, those of refused commits included, beyond
// which the overlay gives its memory back: each later entry would have to clear it.
const changesKeptMax = 1 << 13

// Open begins an entry over an engine.
func (o *Overlay) Open(engine storage.Reader) { o.engine = engine }

// drop drops all changes.
func (o *Overlay) drop() {
	if o.clock > changesKeptMax {
		*o = *NewOverlay(o.hot)
		return
	}
	clear(o.rows)
	clear(o.sorted)
	clear(o.undo[:cap(o.undo)])
	o.sorted, o.undo, o.ranges, o.clock, o.bytes = o.sorted[:0], o.undo[:0], nil, 0, 0
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
type mark struct{ ranges int }

// Begin starts a commit.
func (o *Overlay) Begin() mark {
	o.undo = o.undo[:0]
	return mark{ranges: len(o.ranges)}
}

// Rollback undoes all changes since Begin.
func (o *Overlay) Rollback(m mark) {
	for i := len(o.undo) - 1; i >= 0; i-- {
		u := o.undo[i]
		if u.had {
			o.rows[u.key] = u.before
		} else {
			delete(o.rows, u.key)
		}
	}
	o.undo = o.undo[:0]
	o.ranges = o.ranges[:m.ranges]
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
	before, had := o.rows[key]
	o.undo = append(o.undo, undo{key: key, before: before, had: had})
	o.clock++
	o.bytes += len(key) + size
	c.at = o.clock
	o.rows[key] = c
}

// Get returns a row's value, which callers must not change; nil if there is none.
func (o *Overlay) Get(key string) ([]byte, error) {
	c, ok := o.rows[key]
	if ok && !o.deletedSince(key, c.at) {
		if c.message != nil {
			c.value, c.message = c.message.Encode(), nil
			o.rows[key] = c
		}
		return c.value, nil
	}
	if ok || o.deletedSince(key, 0) {
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

// deletedSince reports whether a range delete after a moment covers the key.
func (o *Overlay) deletedSince(key string, at int) bool {
	for i := len(o.ranges) - 1; i >= 0 && o.ranges[i].at > at; i-- {
		if r := o.ranges[i]; r.lower <= key && key < r.upper {
			return true
		}
	}
	return false
}

// RemoveRange deletes lower <= key < upper.
func (o *Overlay) RemoveRange(lower, upper string) error {
	keys, more, err := o.Keys(lower, upper, PointDeletesMax)
	if err != nil {
		return err
	}
	if more {
		o.clock++
		o.ranges = append(o.ranges, deletedRange{lower: lower, upper: upper, at: o.clock})
		return nil
	}
	for _, key := range keys {
		o.Remove(key)
	}
	return nil
}

// Keys returns the first keys of a range, at most limit; more reports whether there are others.
func (o *Overlay) Keys(lower, upper string, limit int) (keys []string, more bool, err error) {
	ours := o.within(lower, upper)
	cursor, err := o.engine.Scan([]byte(lower), []byte(upper))
	if err != nil {
		return nil, false, &EngineError{err}
	}
	theirs := cursor.Next()
	for theirs || len(ours) > 0 {
		var key string
		switch {
		case theirs && (len(ours) == 0 || string(cursor.Key()) < ours[0]):
			key = string(cursor.Key())
			theirs = cursor.Next()
			if o.deletedSince(key, 0) {
				continue
			}
		default:
			key = ours[0]
			ours = ours[1:]
			if theirs && string(cursor.Key()) == key {
				theirs = cursor.Next()
			}
			if c := o.rows[key]; c.deleted() || o.deletedSince(key, c.at) {
				continue
			}
		}
		if len(keys) == limit {
			more = true
			break
		}
		keys = append(keys, key)
	}
	if err := cursor.Close(); err != nil {
		return nil, false, &EngineError{err}
	}
	return keys, more, nil
}

// within returns the changed keys of a range, in order.
func (o *Overlay) within(lower, upper string) []string {
	var keys []string
	for key := range o.rows {
		if lower <= key && key < upper {
			keys = append(keys, key)
		}
	}
	slices.SortFunc(keys, strings.Compare)
	return keys
}

// WriteTo adds all changes to a batch.
func (o *Overlay) WriteTo(b *storage.Batch) {
	for _, r := range o.ranges {
		b.DeleteRange([]byte(r.lower), []byte(r.upper))
	}
	for k, c := range o.rows {
		if !o.deletedSince(k, c.at) {
			o.sorted = append(o.sorted, k)
		}
	}
	slices.Sort(o.sorted) // the engine looks for neighbours in memory that it has just used
	var key []byte        // the batch copies it
	for _, k := range o.sorted {
		switch c := o.rows[k]; {
		case c.message != nil:
			b.SetEncoded(k, c.message)
		case c.value != nil:
			key = append(key[:0], k...)
			b.Set(key, c.value)
		default:
			key = append(key[:0], k...)
			b.Delete(key)
		}
	}
}

// Settle updates the apply cache after the engine has the entry, and ends the entry.
func (o *Overlay) Settle() {
	defer o.drop()
	if o.removed(inApplyCache) {
		o.hot.clear()
	}
	for k, c := range o.rows {
		switch {
		case !inApplyCache(k):
		case c.deleted() || o.deletedSince(k, c.at):
			o.hot.drop(k)
		default:
			o.hot.set(k, c.value)
		}
	}
}
