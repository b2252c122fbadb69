package kv

import (
	"sync"
	"sync/atomic"

	"github.com/cespare/xxhash/v2"
)

// readCacheShards is the number of shards, each with its own lock.
const readCacheShards = 16

// readShards holds rows within a bound of memory. It may be used concurrently.
type readShards struct {
	bytesMax int64 // of all rows; each shard has an equal part
	shards   [readCacheShards]readShard
}

// readShard holds some of the rows.
type readShard struct {
	mu       sync.Mutex
	rowClock // guarded by mu
}

// shard returns the shard of a key, and the key's hash.
func (r *readShards) shard(key string) (s *readShard, hash uint64) {
	hash = xxhash.Sum64String(key)
	return &r.shards[hash%readCacheShards], hash
}

// get returns a row that is valid at an entry, nil if it is absent; ok is false if it is not here.
func (r *readShards) get(key string, index uint64) (value []byte, ok bool) {
	s, hash := r.shard(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	row := s.find(hash, key)
	if row == nil || row.at > index {
		return nil, false
	}
	row.used = true
	return row.value(), true
}

// add adds the row that newRow returns for the key's hash, unless current is not epoch, or epoch is odd.
func (r *readShards) add(key string, epoch uint64, current *atomic.Uint64, newRow func(hash uint64) *cachedRow) {
	if epoch%2 == 1 {
		return
	}
	s, hash := r.shard(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	if current.Load() == epoch {
		s.add(newRow(hash), int(r.bytesMax/readCacheShards))
	}
}

// remove removes a row.
func (r *readShards) remove(key string) {
	s, hash := r.shard(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	if row := s.find(hash, key); row != nil {
		s.remove(row)
	}
}

// len returns the number of rows.
func (r *readShards) len() (n int) {
	for i := range r.shards {
		s := &r.shards[i]
		s.mu.Lock()
		n += len(s.rows)
		s.mu.Unlock()
	}
	return n
}

// bytes returns the size of the rows.
func (r *readShards) bytes() (n int64) {
	for i := range r.shards {
		s := &r.shards[i]
		s.mu.Lock()
		n += int64(s.bytes)
		s.mu.Unlock()
	}
	return n
}

// clear removes all rows.
func (r *readShards) clear() {
	for i := range r.shards {
		s := &r.shards[i]
		s.mu.Lock()
		s.clear()
		s.mu.Unlock()
	}
}
