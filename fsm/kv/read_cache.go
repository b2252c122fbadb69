package kv

import (
	"math"
	"sync/atomic"

	"dormouse/storage"
)

const (
	// ReadCacheBytes is how many bytes of rows reads keep in memory by default.
	ReadCacheBytes = 32 << 20
	// readCacheRowMax is the longest row that is cached.
	readCacheRowMax = 16 << 10
	// tailsPart of a read cache's bytes is for tails.
	tailsPart = 4
)

// ReadCache holds recently read rows, and tails of threads, for views. It may be used concurrently.
//
// Invariant: a cached row equals the engine's current row, and its at is not earlier than its last
// change. So it is valid for every view with index >= at. To preserve this, apply removes the rows
// that an entry changes before the engine has the entry. And a view adds a row only if no entry was
// being applied since before the view was made. The epoch detects that: it is odd while an entry is
// being applied.
//
// A tail is stored by the key of its thread's row, and removed when that row is deleted.
type ReadCache struct {
	epoch atomic.Uint64
	rows  readShards
	tails readShards
}

// NewReadCache returns an empty cache that holds at most bytesMax bytes.
func NewReadCache(bytesMax int64) *ReadCache {
	tails := bytesMax / tailsPart
	w := &ReadCache{rows: readShards{bytesMax: bytesMax - tails}, tails: readShards{bytesMax: tails}}
	w.clear()
	return w
}

// InReadCache reports whether rows of the key's kind are cached for reads.
func InReadCache(key string) bool {
	switch key[:1] {
	case KindCheckpoint, KindCheckpointBody, KindValue, KindValueBytes, KindThread, KindSummary:
		return true
	default:
		return false
	}
}

// AbsentInReadCache reports whether the absence of a row of the key's kind is cached too. Few
// threads have a summary, and each read of a thread looks for it.
func AbsentInReadCache(key string) bool { return key[:1] == KindSummary }

// Get returns a row at an entry, nil if it is absent; ok is false if that is not cached.
func (w *ReadCache) Get(key string, index uint64) ([]byte, bool) { return w.rows.get(key, index) }

// Keep adds what a view of an entry has read, nil for an absent row; epoch is the epoch before the view was made.
func (w *ReadCache) Keep(key string, value []byte, index, epoch uint64) {
	if len(value) > readCacheRowMax {
		return
	}
	w.rows.add(key, epoch, &w.epoch, func(hash uint64) *cachedRow { return newCachedRow(hash, key, value, index) })
}

// Tail returns the tail of the thread with the row key, if it is cached. The thread's incarnation may be another.
func (w *ReadCache) Tail(key string) (t Tail, ok bool) {
	if piece, ok := w.tails.get(key, math.MaxUint64); ok {
		return DecodeTail(piece), true
	}
	return Tail{}, false
}

// KeepTail adds the tail that a view has read, in place of an older one, as TailWriter.End(key) has returned it.
// epoch is the epoch before the view was made.
func (w *ReadCache) KeepTail(key string, piece []byte, epoch uint64) {
	if len(piece) > TailMax {
		return
	}
	w.tails.add(key, epoch, &w.epoch, func(hash uint64) *cachedRow {
		return &cachedRow{row: piece, keyBytes: len(key), hash: hash}
	})
}

// Begin removes all rows that an entry changes, before the engine has the entry. imports says that the entry imports
// rows: threads that it deletes and imports again can have the same incarnations.
func (w *ReadCache) Begin(o *Overlay, imports bool) {
	w.epoch.Add(1)
	if o.removed(InReadCache) {
		w.clear()
		return
	}
	for i := range o.rows {
		w.forget(o.rows[i].key, imports || o.rows[i].deleted())
	}
}

// BeginWrites is Begin for an entry whose writes another replica has decided, which imports nothing.
func (w *ReadCache) BeginWrites(b *storage.Batch) error {
	w.epoch.Add(1)
	return b.Each(func(change storage.Write) {
		if change.Upper == nil {
			w.forget(string(change.Key), change.Deleted)
			return
		}
		if r := (deletedRange{lower: string(change.Key), upper: string(change.Upper)}); r.mayHold(InReadCache) {
			w.clear()
		}
	})
}

// forget removes a row that changes, and the tail of a thread that may be another one now.
func (w *ReadCache) forget(key string, replaced bool) {
	if !InReadCache(key) {
		return
	}
	w.rows.remove(key)
	if replaced && key[:1] == KindThread {
		w.tails.remove(key)
	}
}

// End marks the entry as visible to views.
func (w *ReadCache) End() { w.epoch.Add(1) }

// Epoch returns the epoch.
func (w *ReadCache) Epoch() uint64 { return w.epoch.Load() }

// Len returns the number of rows and tails in the cache.
func (w *ReadCache) Len() int { return w.rows.len() + w.tails.len() }

// Bytes returns the size of the rows and tails in the cache.
func (w *ReadCache) Bytes() int64 { return w.rows.bytes() + w.tails.bytes() }

func (w *ReadCache) clear() {
	w.rows.clear()
	w.tails.clear()
}
