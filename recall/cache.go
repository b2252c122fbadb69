package recall

import (
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"dormouse/internal/seededbug"
)

// State is the version of an agent's memories. Equal states of one agent have
// the same memories.
type State struct {
	Generation uint64 // incremented when the agent remembers again after all was forgotten
	Writes     uint64 // in this generation
	Deletes    uint64 // in this generation; expiries count too
}

// after reports whether s is later than t.
func (s State) after(t State) bool {
	return s.Generation > t.Generation || s.Generation == t.Generation && (s.Writes > t.Writes || s.Deletes > t.Deletes)
}

// Source is one agent's memories at one index of the log.
type Source interface {
	State() State

	// Written visits the existing memories that were written after the first
	// since writes.
	Written(since uint64, visit func(d Doc, text string, vector []float32)) error

	// Deleted visits the memories that were deleted after the first since
	// deletes: the id, and an order above that of the deleted memory. It
	// returns false if these deletes are no longer recorded.
	Deleted(since uint64, visit func(id string, before uint64)) (known bool, err error)
}

// ErrTooOld reports that the index is newer than the source. The caller must
// use a newer source, or Build an index of its own.
var ErrTooOld = errors.New("the index is newer than the source")

// Cache keeps the indexes of the most recently used agents. It may be used
// concurrently.
//
// The limit covers the indexes that it keeps. An index that is evicted while it
// is in use, or exceeds the limit alone, uses memory until its last search
// ends.
type Cache struct {
	bytesMax int

	mu      sync.Mutex
	indexes *simplelru.LRU[string, *cachedIndex] // guarded by mu
	bytes   int                                  // guarded by mu
	drops   uint64                               // number of drops; guarded by mu
}

// cachedIndex is an index and its state.
type cachedIndex struct {
	size int // as counted in Cache.bytes; guarded by the cache's mu

	mu    sync.RWMutex
	index *Index
	state State
}

// NewCache makes a cache of indexes of about bytesMax in total.
func NewCache(bytesMax int) *Cache {
	c := &Cache{bytesMax: bytesMax}
	indexes, err := simplelru.NewLRU(math.MaxInt, func(_ string, k *cachedIndex) { c.bytes -= k.size })
	if err != nil {
		panic(err) // it only refuses sizes below one
	}
	c.indexes = indexes
	return c
}

// Bytes returns the approximate size of the kept indexes.
func (c *Cache) Bytes() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.bytes
}

// Reader searches the indexes of a Cache for a view of the log.
type Reader struct {
	cache *Cache
	drops uint64 // of the cache, before the view was made
}

// Reader returns a Reader. Call it before the view is made.
func (c *Cache) Reader() Reader {
	c.mu.Lock()
	defer c.mu.Unlock()
	return Reader{c, c.drops}
}

// Drop drops the index of an agent that has no memories any more. Call it once new views are
// without those memories: a Reader of an older view then keeps no index of them.
func (c *Cache) Drop(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drops++
	c.indexes.Remove(key)
}

// DropRange is Drop for all agents with lower <= key < upper.
func (c *Cache) DropRange(lower, upper string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drops++
	for _, key := range c.indexes.Keys() {
		if lower <= key && key < upper {
			c.indexes.Remove(key)
		}
	}
}

// Search calls search with the index of the source's memories. key identifies
// the agent. It returns ErrTooOld if another reader has brought the index past
// the source. search must not keep the index.
func (r Reader) Search(key string, source Source, search func(*Index)) error {
	c := r.cache
	k := c.index(key, r.drops)
	want := source.State()
	k.mu.RLock()
	if k.state == want {
		search(k.index)
		k.mu.RUnlock()
		return nil
	}
	k.mu.RUnlock()

	k.mu.Lock()
	defer k.mu.Unlock()
	if k.state.after(want) {
		return ErrTooOld
	}
	if err := k.catchUp(source, want); err != nil {
		k.index, k.state = NewIndex(), State{}
		return err
	}
	c.updateSize(key, k)
	search(k.index)
	return nil
}

// Build makes a private index of the source's memories.
func Build(source Source) (*Index, error) {
	k := &cachedIndex{index: NewIndex()}
	err := k.catchUp(source, source.State())
	return k.index, err
}

// index returns the index of a key, which is empty at first. The cache does not keep a new one if
// indexes were dropped since the cache had that number of drops: it may have to be dropped too.
func (c *Cache) index(key string, drops uint64) *cachedIndex {
	c.mu.Lock()
	defer c.mu.Unlock()
	if k, ok := c.indexes.Get(key); ok {
		return k
	}
	k := &cachedIndex{index: NewIndex()}
	if c.drops == drops {
		c.indexes.Add(key, k)
	}
	return k
}

// updateSize records the current size of an index, and evicts the least
// recently used ones above the limit.
func (c *Cache) updateSize(key string, k *cachedIndex) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now, ok := c.indexes.Peek(key); !ok || now != k {
		return // it was evicted meanwhile
	}
	size := k.index.Bytes() + len(key)
	c.bytes += size - k.size
	k.size = size
	for c.bytes > c.bytesMax && c.indexes.Len() > 0 {
		c.indexes.RemoveOldest()
	}
}

// catchUp brings the index to the source's state. It applies deletes first: a
// memory that was deleted and written again is then added.
func (k *cachedIndex) catchUp(source Source, want State) error {
	if k.state == want {
		return nil
	}
	known := k.state.Generation == want.Generation
	if known {
		var err error
		since := k.state.Deletes
		if seededbug.Is(seededbug.RecallMissesDeletes) {
			since = min(since+1, want.Deletes)
		}
		if known, err = source.Deleted(since, k.index.Remove); err != nil {
			return fmt.Errorf("read deleted memories: %w", err)
		}
	}
	if !known {
		k.index, k.state = NewIndex(), State{}
	}
	if err := source.Written(k.state.Writes, k.index.Put); err != nil {
		return fmt.Errorf("read written memories: %w", err)
	}
	k.state = want
	return nil
}
