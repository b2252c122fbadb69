package storage

import (
	"errors"
	"fmt"
	"io"

	"github.com/cockroachdb/pebble/v2"
)

// Reader reads an engine: its current state at each call (Engine), or at one point in time (View).
// An error means that the disk could not be read or is damaged; a missing key is not an error.
type Reader interface {
	// Get returns the key's value, which the caller owns.
	Get(key []byte) (value []byte, ok bool, err error)
	// Scan returns the keys from lower up to upper, upper excluded, in ascending order. A nil bound
	// means none. The result is of the time of the call.
	Scan(lower, upper []byte) (*Cursor, error)
	// ScanBack is Scan in descending order.
	ScanBack(lower, upper []byte) (*Cursor, error)
}

// View is an engine at one point in time; see Engine.View.
type View struct{ snapshot *pebble.Snapshot }

// Close ends the view. It is called once.
func (v *View) Close() {
	_ = v.snapshot.Close() // always nil: a snapshot closed twice panics
}

// Get implements Reader.
func (v *View) Get(key []byte) ([]byte, bool, error) { return get(v.snapshot, key) }

// Scan implements Reader.
func (v *View) Scan(lower, upper []byte) (*Cursor, error) {
	return scan(v.snapshot, lower, upper, false)
}

// ScanBack implements Reader.
func (v *View) ScanBack(lower, upper []byte) (*Cursor, error) {
	return scan(v.snapshot, lower, upper, true)
}

// Get implements Reader.
func (e *Engine) Get(key []byte) ([]byte, bool, error) { return get(e.db, key) }

// Scan implements Reader.
func (e *Engine) Scan(lower, upper []byte) (*Cursor, error) { return scan(e.db, lower, upper, false) }

// ScanBack implements Reader.
func (e *Engine) ScanBack(lower, upper []byte) (*Cursor, error) {
	return scan(e.db, lower, upper, true)
}

// source is the common interface of the engine and a view.
type source interface {
	Get(key []byte) (value []byte, closer io.Closer, err error)
	NewIter(o *pebble.IterOptions) (*pebble.Iterator, error)
}

func get(s source, key []byte) ([]byte, bool, error) {
	pinned, closer, err := s.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("get: %w", marked(err))
	}
	value := append(make([]byte, 0, len(pinned)), pinned...)
	if err := closer.Close(); err != nil {
		return nil, false, fmt.Errorf("get: %w", marked(err))
	}
	return value, true, nil
}

func scan(s source, lower, upper []byte, back bool) (*Cursor, error) {
	iterator, err := s.NewIter(&pebble.IterOptions{LowerBound: lower, UpperBound: upper})
	if err != nil {
		return nil, fmt.Errorf("scan: %w", marked(err))
	}
	return &Cursor{iterator: iterator, back: back}, nil
}

// Cursor iterates over a range of keys:
//
//	for c.Next() {
//		… c.Key(), c.Value() …
//	}
//	err := c.Close() // returns the error of Next or Value
//
// Only one goroutine may use it at a time.
type Cursor struct {
	iterator *pebble.Iterator
	back     bool
	started  bool
	err      error
	arena    arena // of SharedValue
}

// Next moves to the first key, then to the one after, and reports whether there is one.
func (c *Cursor) Next() bool {
	if c.err != nil {
		return false
	}
	if !c.started {
		c.started = true
		if c.back {
			return c.iterator.Last()
		}
		return c.iterator.First()
	}
	if c.back {
		return c.iterator.Prev()
	}
	return c.iterator.Next()
}

// Seek moves to the first key at or after key (or before it, in descending order), and reports
// whether there is one. Next continues from there.
func (c *Cursor) Seek(key []byte) bool {
	if c.err != nil {
		return false
	}
	c.started = true
	if c.back {
		return c.iterator.SeekLT(key)
	}
	return c.iterator.SeekGE(key)
}

// Key returns the key, valid until the cursor moves or is closed.
func (c *Cursor) Key() []byte { return c.iterator.Key() }

// Value returns a copy of the value, which the caller owns. It is nil if the value cannot be read;
// then Next ends and Close returns the error.
func (c *Cursor) Value() []byte {
	value, ok := c.PinnedValue()
	if !ok {
		return nil
	}
	return append(make([]byte, 0, len(value)), value...)
}

// SharedValue is Value with copies that share memory: one allocation holds many. A caller that keeps one of
// them keeps up to arenaChunk bytes.
func (c *Cursor) SharedValue() []byte {
	value, ok := c.PinnedValue()
	if !ok {
		return nil
	}
	return c.arena.copyOf(value)
}

// PinnedValue returns the value, valid until the cursor moves or is closed. ok is false if the value
// cannot be read; then Next ends and Close returns the error.
func (c *Cursor) PinnedValue() (value []byte, ok bool) {
	value, err := c.iterator.ValueAndErr()
	if err != nil {
		c.err = err
		return nil, false
	}
	return value, true
}

// Err returns the error so far.
func (c *Cursor) Err() error {
	if err := errors.Join(c.err, c.iterator.Error()); err != nil {
		return fmt.Errorf("scan: %w", marked(err))
	}
	return nil
}

// Close ends the cursor and returns its error.
func (c *Cursor) Close() error {
	if err := errors.Join(c.err, c.iterator.Close()); err != nil {
		return fmt.Errorf("scan: %w", marked(err))
	}
	return nil
}
