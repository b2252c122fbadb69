package fsm

import (
	"math"
	"sync"
	"sync/atomic"

	"github.com/cespare/xxhash/v2"
	"github.com/hashicorp/golang-lru/v2/simplelru"
)

const (
	// warmBytesMax bounds the rows that reads keep in memory.
	warmBytesMax = 32 << 20
	// warmRowMax is the longest row worth keeping there.
	warmRowMax = 16 << 10
	// warmShards is how many parts the cache has, each under a lock of its own.
	warmShards = 16
)

// warmRows are rows that were read of late, for views to read again. It may be
// used concurrently.
//
// Each row is as it stands now, and its at is no earlier than its last change:
// so it is also what any view reads that is of that entry or a later one. To
// keep that true, apply lets go of what an entry changes before the engine has
// the entry, and a view keeps what it read only where no entry has been under
// way since before the view was made. epoch tells: it is odd while one is.
type warmRows struct {
	epoch  atomic.Uint64
	shards [warmShards]warmShard
}

type warmShard struct {
	mu    sync.Mutex
	rows  *simplelru.LRU[string, warmRow] // guarded by mu
	bytes int                             // guarded by mu
}

// warmRow is a row's value, and an entry since which it has not changed.
type warmRow struct {
	value []byte
	at    uint64
}

func newWarmRows() *warmRows {
	w := &warmRows{}
	for i := range w.shards {
		s := &w.shards[i]
		rows, err := simplelru.NewLRU(math.MaxInt, func(key string, row warmRow) { s.bytes -= rowBytes(key, row.value) })
		if err != nil {
			panic(err) // it refuses sizes below one only
		}
		s.rows = rows
	}
	return w
}

// warm tells whether rows of the key's kind are worth keeping for reads.
func warm(key string) bool {
	switch key[:1] {
	case kindCheckpoint, kindCheckpointBody, kindValue, kindValueBytes, kindThread:
		return true
	default:
		return false
	}
}

func (w *warmRows) shard(key string) *warmShard {
	return &w.shards[xxhash.Sum64String(key)%warmShards]
}

// get is a row as of an entry; false where it is not known.
func (w *warmRows) get(key string, index uint64) ([]byte, bool) {
	s := w.shard(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	row, ok := s.rows.Get(key)
	if !ok || row.at > index {
		return nil, false
	}
	return row.value, true
}

// keep takes what a view of an entry has read; epoch is that of before the view
// was made.
func (w *warmRows) keep(key string, value []byte, index, epoch uint64) {
	if len(value) > warmRowMax || epoch%2 == 1 {
		return
	}
	s := w.shard(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	if w.epoch.Load() != epoch || s.rows.Contains(key) {
		return
	}
	s.rows.Add(key, warmRow{value: value, at: index})
	for s.bytes += rowBytes(key, value); s.bytes > warmBytesMax/warmShards; {
		s.rows.RemoveOldest()
	}
}

// begin lets go of all that an entry changes, before the engine has it.
func (w *warmRows) begin(o *overlay) {
	w.epoch.Add(1)
	if o.removed(warm) {
		w.clear()
		return
	}
	for key := range o.rows {
		if !warm(key) {
			continue
		}
		s := w.shard(key)
		s.mu.Lock()
		s.rows.Remove(key)
		s.mu.Unlock()
	}
}

// end says that views see the entry.
func (w *warmRows) end() { w.epoch.Add(1) }

// now returns the epoch.
func (w *warmRows) now() uint64 { return w.epoch.Load() }

// length returns the number of rows in the cache.
func (w *warmRows) length() (n int) {
	for i := range w.shards {
		s := &w.shards[i]
		s.mu.Lock()
		n += s.rows.Len()
		s.mu.Unlock()
	}
	return n
}

func (w *warmRows) clear() {
	for i := range w.shards {
		s := &w.shards[i]
		s.mu.Lock()
		s.rows.Purge()
		s.mu.Unlock()
	}
}
