package kv

import (
	"sync"
	"sync/atomic"

	"github.com/cespare/xxhash/v2"

	"dormouse/storage"
)

const (
	// ReadCacheBytes is how many bytes of rows reads keep in memory by default.
	ReadCacheBytes = 32 << 20
	// readCacheRowMax is the longest row that is cached.
	readCacheRowMax = 16 << 10
	// readCacheShards is the number of shards, each with its own lock.
	readCacheShards = 16
)

// ReadCache holds recently read rows for views. It may be used concurrently.
//
// Invariant: a cached row equals the engine's current row, and its at is not earlier than its last
// change. So it is valid for every view with index >= at. To preserve this, apply removes the rows
// that an entry changes before the engine has the entry. And a view adds a row only if no entry was
// being applied since before the view was made. The epoch detects that: it is odd while an entry is
// being applied.
type ReadCache struct {
	epoch    atomic.Uint64
	shardMax int // bytes of each shard
	shards   [readCacheShards]readCacheShard
}

// readCacheShard holds some of the rows of a ReadCache.
type readCacheShard struct {
	mu       sync.Mutex
	rowClock // guarded by mu
}

// NewReadCache returns an empty cache that holds at most bytesMax bytes.
func NewReadCache(bytesMax int64) *ReadCache {
	w := &ReadCache{shardMax: int(bytesMax / readCacheShards)}
	for i := range w.shards {
		w.shards[i].clear()
	}
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

// shard returns the shard of a key, and the key's hash.
func (w *ReadCache) shard(key string) (s *readCacheShard, hash uint64) {
	hash = xxhash.Sum64String(key)
	return &w.shards[hash%readCacheShards], hash
}

// Get returns a row at an entry, nil if it is absent; ok is false if that is not cached.
func (w *ReadCache) Get(key string, index uint64) ([]byte, bool) {
	s, hash := w.shard(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	row := s.find(hash, key)
	if row == nil || row.at > index {
		return nil, false
	}
	row.used = true
	return row.value(), true
}

// Keep adds what a view of an entry has read, nil for an absent row; epoch is the epoch before the view was made.
func (w *ReadCache) Keep(key string, value []byte, index, epoch uint64) {
	if len(value) > readCacheRowMax || epoch%2 == 1 {
		return
	}
	s, hash := w.shard(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	if w.epoch.Load() != epoch || s.find(hash, key) != nil {
		return
	}
	s.add(newCachedRow(hash, key, value, index), w.shardMax)
}

// Begin removes all rows that an entry changes, before the engine has the entry.
func (w *ReadCache) Begin(o *Overlay) {
	w.epoch.Add(1)
	if o.removed(InReadCache) {
		w.clear()
		return
	}
	for i := range o.rows {
		w.forget(o.rows[i].key)
	}
}

// BeginWrites is Begin for an entry whose writes another replica has decided.
func (w *ReadCache) BeginWrites(b *storage.Batch) error {
	w.epoch.Add(1)
	return b.Each(func(key, upper []byte) {
		if upper == nil {
			w.forget(string(key))
			return
		}
		if r := (deletedRange{lower: string(key), upper: string(upper)}); r.mayHold(InReadCache) {
			w.clear()
		}
	})
}

// forget removes a row.
func (w *ReadCache) forget(key string) {
	if !InReadCache(key) {
		return
	}
	s, hash := w.shard(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	if row := s.find(hash, key); row != nil {
		s.remove(row)
	}
}

// End marks the entry as visible to views.
func (w *ReadCache) End() { w.epoch.Add(1) }

// Epoch returns the epoch.
func (w *ReadCache) Epoch() uint64 { return w.epoch.Load() }

// Len returns the number of rows in the cache.
func (w *ReadCache) Len() (n int) {
	for i := range w.shards {
		s := &w.shards[i]
		s.mu.Lock()
		n += len(s.rows)
		s.mu.Unlock()
	}
	return n
}

// Bytes returns the size of the rows in the cache.
func (w *ReadCache) Bytes() (bytes int64) {
	for i := range w.shards {
		s := &w.shards[i]
		s.mu.Lock()
		bytes += int64(s.bytes)
		s.mu.Unlock()
	}
	return bytes
}

func (w *ReadCache) clear() {
	for i := range w.shards {
		s := &w.shards[i]
		s.mu.Lock()
		s.clear()
		s.mu.Unlock()
	}
}
