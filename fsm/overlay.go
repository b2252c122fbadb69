package fsm

import (
	"fmt"
	"slices"
	"strings"

	"dormouse/storage"
)

// pointDeletesMax is how many rows are deleted one by one. More go by a range
// delete, which costs the engine little for many rows and much for few.
const pointDeletesMax = 128

// rowReader reads rows by key: nil where there is none. What it returns must
// not be changed.
type rowReader interface {
	get(key string) ([]byte, error)
}

// overlay is what one log entry has changed so far, over the engine. A commit
// writes into it, and rolls back to its mark where it is refused, so each sees
// those before it and leaves all of its changes or none.
type overlay struct {
	engine storage.Reader
	hot    *hotRows

	rows   map[string]change
	ranges []deletedRange // in order
	undo   []undo         // since the commit began
	clock  int            // grows with each change
	bytes  int            // of all rows that were written, those of refused commits too
}

// change is a row's newest value. nil is a deleted row.
type change struct {
	value []byte
	at    int
}

// deletedRange deletes lower <= key < upper as of a moment.
type deletedRange struct {
	lower, upper string
	at           int
}

// mayHold tells whether a row that is such a one may be in the range. is looks
// at a key's kind alone.
func (r deletedRange) mayHold(is func(key string) bool) bool {
	for kind := int(r.lower[0]); kind <= int(r.upper[0]); kind++ {
		if is(string([]byte{byte(kind)})) {
			return true
		}
	}
	return false
}

// removed tells whether a range was deleted that may hold such rows.
func (o *overlay) removed(is func(key string) bool) bool {
	return slices.ContainsFunc(o.ranges, func(r deletedRange) bool { return r.mayHold(is) })
}

type undo struct {
	key    string
	before change
	had    bool
}

// rowsPerCommit is about how many rows a commit changes.
const rowsPerCommit = 5

func newOverlay(engine storage.Reader, hot *hotRows, commits int) *overlay {
	return &overlay{engine: engine, hot: hot, rows: make(map[string]change, rowsPerCommit*commits)}
}

// engineError is a failure of the engine, after which a replica must stop.
type engineError struct{ error }

func (e *engineError) Unwrap() error { return e.error }

// size returns the bytes of the keys and values that were written, those of
// refused commits and those that count adds too.
func (o *overlay) size() int { return o.bytes }

// count adds n bytes to size.
func (o *overlay) count(n int) { o.bytes += n }

// mark is a moment to go back to.
type mark struct{ ranges int }

// begin starts a commit.
func (o *overlay) begin() mark {
	o.undo = o.undo[:0]
	return mark{ranges: len(o.ranges)}
}

// rollback undoes what was written since begin.
func (o *overlay) rollback(m mark) {
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

// set writes a row. The overlay keeps value, which must not change any more.
func (o *overlay) set(key string, value []byte) {
	if value == nil {
		value = []byte{}
	}
	o.put(key, value)
}

// remove deletes a row, which need not be there.
func (o *overlay) remove(key string) { o.put(key, nil) }

func (o *overlay) put(key string, value []byte) {
	before, had := o.rows[key]
	o.undo = append(o.undo, undo{key: key, before: before, had: had})
	o.clock++
	o.bytes += len(key) + len(value)
	o.rows[key] = change{value: value, at: o.clock}
}

// get is a row's value, which must not be changed; nil where there is none.
func (o *overlay) get(key string) ([]byte, error) {
	c, ok := o.rows[key]
	if ok && !o.deletedSince(key, c.at) {
		return c.value, nil
	}
	if ok || o.deletedSince(key, 0) {
		return nil, nil
	}
	keep := hot(key)
	if keep {
		if value, ok := o.hot.get(key); ok {
			return value, nil
		}
	}
	value, ok, err := o.engine.Get([]byte(key))
	if err != nil {
		return nil, &engineError{fmt.Errorf("read row %q: %w", key, err)}
	}
	if !ok {
		return nil, nil
	}
	if keep {
		o.hot.set(key, value)
	}
	return value, nil
}

// deletedSince tells whether a range delete after a moment covers the key.
func (o *overlay) deletedSince(key string, at int) bool {
	for i := len(o.ranges) - 1; i >= 0 && o.ranges[i].at > at; i-- {
		if r := o.ranges[i]; r.lower <= key && key < r.upper {
			return true
		}
	}
	return false
}

// removeRange deletes lower <= key < upper, however many rows that is.
func (o *overlay) removeRange(lower, upper string) error {
	keys, more, err := o.keys(lower, upper, pointDeletesMax)
	if err != nil {
		return err
	}
	if more {
		o.clock++
		o.ranges = append(o.ranges, deletedRange{lower: lower, upper: upper, at: o.clock})
		return nil
	}
	for _, key := range keys {
		o.remove(key)
	}
	return nil
}

// keys lists the first keys of a range, at most limit; more tells of others.
func (o *overlay) keys(lower, upper string, limit int) (keys []string, more bool, err error) {
	ours := o.within(lower, upper)
	cursor, err := o.engine.Scan([]byte(lower), []byte(upper))
	if err != nil {
		return nil, false, &engineError{err}
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
			if c := o.rows[key]; c.value == nil || o.deletedSince(key, c.at) {
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
		return nil, false, &engineError{err}
	}
	return keys, more, nil
}

// within lists the keys of a range that this entry has changed, in order.
func (o *overlay) within(lower, upper string) []string {
	var keys []string
	for key := range o.rows {
		if lower <= key && key < upper {
			keys = append(keys, key)
		}
	}
	slices.SortFunc(keys, strings.Compare)
	return keys
}

// writeTo puts all that has changed into a batch.
func (o *overlay) writeTo(b *storage.Batch) {
	for _, r := range o.ranges {
		b.DeleteRange([]byte(r.lower), []byte(r.upper))
	}
	keys := make([]string, 0, len(o.rows))
	for k, c := range o.rows {
		if !o.deletedSince(k, c.at) {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys) // in order, the engine finds each place next to the last
	var key []byte    // the batch copies it
	for _, k := range keys {
		key = append(key[:0], k...)
		if value := o.rows[k].value; value == nil {
			b.Delete(key)
		} else {
			b.Set(key, value)
		}
	}
}

// settle brings the hot rows up to date, after the engine is.
func (o *overlay) settle() {
	if o.removed(hot) {
		o.hot.clear()
	}
	for k, c := range o.rows {
		switch {
		case !hot(k):
		case c.value == nil || o.deletedSince(k, c.at):
			o.hot.remove(k)
		default:
			o.hot.set(k, c.value)
		}
	}
}
