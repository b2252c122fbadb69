package storage

import (
	"fmt"

	"github.com/cockroachdb/pebble/v2"
)

// Batch collects writes for Engine.Commit. It copies its arguments. Only one goroutine may use a
// batch at a time; later writes override earlier ones.
type Batch struct{ batch *pebble.Batch }

// NewBatch returns an empty batch; close it, committed or not.
func (e *Engine) NewBatch() *Batch { return &Batch{batch: e.db.NewBatch()} }

// Set writes a key. It cannot fail: Commit returns the errors of a batch.
func (b *Batch) Set(key, value []byte) { must(b.batch.Set(key, value, nil)) }

// Encoder writes a value of a known size.
type Encoder interface {
	// EncodedSize returns the size of the value in bytes.
	EncodedSize() int
	// EncodeBackward writes the value to the end of b, and returns the index of its first byte.
	EncodeBackward(b []byte) int
}

// SetEncoded is Set for a value that the encoder writes into the batch's own memory.
func (b *Batch) SetEncoded(key string, value Encoder) {
	op := b.batch.SetDeferred(len(key), value.EncodedSize())
	copy(op.Key, key)
	value.EncodeBackward(op.Value)
	must(op.Finish())
}

// Delete deletes a key, which need not exist.
func (b *Batch) Delete(key []byte) { must(b.batch.Delete(key, nil)) }

// DeleteRange deletes the keys from lower up to upper, upper excluded.
func (b *Batch) DeleteRange(lower, upper []byte) { must(b.batch.DeleteRange(lower, upper, nil)) }

// Encoding returns the writes in the format of Pebble's write-ahead log, for DecodeBatch. It is valid
// until the batch is changed or closed.
func (b *Batch) Encoding() []byte { return b.batch.Repr() }

// DecodeBatch returns a batch with the writes of an Encoding, which it copies; close it, committed or
// not. It returns an error if it cannot decode them.
func (e *Engine) DecodeBatch(encoding []byte) (*Batch, error) {
	b := e.NewBatch()
	if err := b.batch.SetRepr(append(b.batch.Repr()[:0], encoding...)); err != nil {
		b.Close()
		return nil, fmt.Errorf("decode a batch: %w", err)
	}
	return b, nil
}

// Write is one write of a batch.
type Write struct {
	Key     []byte // or where a deleted range begins
	Upper   []byte // the end of a deleted range, excluded; nil for other writes
	Deleted bool   // the row, or the range
}

// Each visits the writes of a batch in order. visit must not keep their memory.
func (b *Batch) Each(visit func(w Write)) error {
	for r := b.batch.Reader(); ; {
		kind, key, value, ok, err := r.Next()
		switch {
		case err != nil:
			return fmt.Errorf("decode a batch: %w", err)
		case !ok:
			return nil
		case kind == pebble.InternalKeyKindRangeDelete:
			visit(Write{Key: key, Upper: value, Deleted: true})
		default:
			visit(Write{Key: key, Deleted: kind != pebble.InternalKeyKindSet})
		}
	}
}

// Empty reports whether nothing has been written.
func (b *Batch) Empty() bool { return b.batch.Empty() }

// Bytes returns the size of the writes.
func (b *Batch) Bytes() int { return b.batch.Len() }

// Close releases the batch.
func (b *Batch) Close() { must(b.batch.Close()) }

// must panics on an error that Pebble excludes: a batch without WAL and index only fails if it is
// misused.
func must(err error) {
	if err != nil {
		panic(err)
	}
}
