package kv

import (
	"math"
	"sync"
	"sync/atomic"

	"github.com/cespare/xxhash/v2"
	"github.com/hashicorp/golang-lru/v2/simplelru"
)

const (
	// readCacheBytesMax bounds the rows that reads keep in memory.
	readCacheBytesMax = 32 << 20
	// readCacheRowMax is the longest row worth keeping there.
	readCacheRowMax = 16 << 10
	// readCacheShards is how many parts the cache has, each under a lock of its own.
	readCacheShards = 16
)

// ReadCache are rows that were read of late, for views to read again. It may be
// used concurrently.
//
// Each row is as it stands now, and its at is no earlier than its last change:
// so it is also what any view reads that is of that entry or a later one. To
// keep that true, apply lets go of what an entry changes before the engine has
// the entry, and a view keeps what it read only where no entry has been under
// way since before the view was made. epoch tells: it is odd while one is.
type ReadCache struct {
	epoch  atomic.Uint64
	shards [readCacheShards]readCacheShard
}

type readCacheShard struct {
	mu    sync.Mutex
	rows  *simplelru.LRU[string, cachedRow] // guarded by mu
	bytes int                               // guarded by mu
}

// cachedRow is a row's value, and an entry since which it has not changed.
type cachedRow struct {
	value []byte
	at    uint64
}

// NewReadCache returns an empty cache.
func NewReadCache() *ReadCache {
	w := &ReadCache{}
	for i := range w.shards {
		s := &w.shards[i]
		rows, err := simplelru.NewLRU(math.MaxInt, func(key string, row cachedRow) { s.bytes -= rowBytes(key, row.value) })
		if err != nil {
			panic(err) // it refuses sizes below one only
		}
		s.rows = rows
	}
	return w
}

// InReadCache reports whether rows of the key's kind are worth keeping for reads.
func InReadCache(key string) bool {
	switch key[:1] {
	case KindCheckpoint, KindCheckpointBody, KindValue, KindValueBytes, KindThread:
		return true
	default:
		return false
	}
}

func (w *ReadCache) shard(key string) *readCacheShard {
	return &w.shards[xxhash.Sum64String(key)%readCacheShards]
}

// Get is a row as of an entry; false where it is not known.
func (w *ReadCache) Get(key string, index uint64) ([]byte, bool) {
	s := w.shard(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	row, ok := s.rows.Get(key)
	if !ok || row.at > index {
		return nil, false
	}
	return row.value, true
}

// Keep takes what a view of an entry has read; epoch is that of before the view
// was made.
func (w *ReadCache) Keep(key string, value []byte, index, epoch uint64) {
	if len(value) > readCacheRowMax || epoch%2 == 1 {
		return
	}
	s := w.shard(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	if w.epoch.Load() != epoch || s.rows.Contains(key) {
		return
	}
	s.rows.Add(key, cachedRow{value: value, at: index})
	for s.bytes += rowBytes(key, value); s.bytes > readCacheBytesMax/readCacheShards; {
		s.rows.RemoveOldest()
	}
}

// Begin lets go of all that an entry changes, before the engine has it.
func (w *ReadCache) Begin(o *Overlay) {
	w.epoch.Add(1)
	if o.removed(InReadCache) {
		w.clear()
		return
	}
	for key := range o.rows {
		if !InReadCache(key) {
			continue
		}
		s := w.shard(key)
		s.mu.Lock()
		s.rows.Remove(key)
		s.mu.Unlock()
	}
}

// End says that views see the entry.
func (w *ReadCache) End() { w.epoch.Add(1) }

// Epoch returns the epoch.
func (w *ReadCache) Epoch() uint64 { return w.epoch.Load() }

// Len returns the number of rows in the cache.
func (w *ReadCache) Len() (n int) {
	for i := range w.shards {
		s := &w.shards[i]
		s.mu.Lock()
		n += s.rows.Len()
		s.mu.Unlock()
	}
	return n
}

func (w *ReadCache) clear() {
	for i := range w.shards {
		s := &w.shards[i]
		s.mu.Lock()
		s.rows.Purge()
		s.mu.Unlock()
	}
}
