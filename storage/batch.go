package storage

import "github.com/cockroachdb/pebble/v2"

// Batch collects writes for Engine.Commit. It copies what it is given. A batch
// is used by one goroutine at a time; later writes win over earlier ones.
type Batch struct{ batch *pebble.Batch }

// NewBatch makes an empty batch; Close it, committed or not.
func (e *Engine) NewBatch() *Batch { return &Batch{batch: e.db.NewBatch()} }

// Set writes a key. It cannot fail: errors of a batch come from Commit.
func (b *Batch) Set(key, value []byte) { must(b.batch.Set(key, value, nil)) }

// Delete deletes a key, which need not be there.
func (b *Batch) Delete(key []byte) { must(b.batch.Delete(key, nil)) }

// DeleteRange deletes the keys from lower up to upper, upper excluded.
func (b *Batch) DeleteRange(lower, upper []byte) { must(b.batch.DeleteRange(lower, upper, nil)) }

// Empty reports whether nothing has been written.
func (b *Batch) Empty() bool { return b.batch.Empty() }

// Bytes is the size of what has been written.
func (b *Batch) Bytes() int { return b.batch.Len() }

// Close releases the batch.
func (b *Batch) Close() { must(b.batch.Close()) }

// must holds what Pebble promises: a batch that has no WAL and no index fails
// only where it is misused.
func must(err error) {
	if err != nil {
		panic(err)
	}
}
