package recall

import (
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// State says how far an agent's memories have come. Equal states of one agent
// hold the same memories.
type State struct {
	Generation uint64 // grows when the agent remembers again after having forgotten everything
	Writes     uint64 // in this life
	Deletes    uint64 // in this life; what expired counts too
}

// after tells whether s is of a later moment than t.
func (s State) after(t State) bool {
	return s.Generation > t.Generation || s.Generation == t.Generation && (s.Writes > t.Writes || s.Deletes > t.Deletes)
}

// Source is one agent's memories as of one moment.
type Source interface {
	State() State

	// Written visits what is there and was written after the first so many
	// writes.
	Written(since uint64, visit func(d Doc, text string, vector []float32)) error

	// Deleted visits what has gone since the first so many deletes: an id, and
	// the order that what went was below. It is false where that is no longer
	// known.
	Deleted(since uint64, visit func(id string, before uint64)) (known bool, err error)
}

// ErrTooOld says that the index has gone past the moment of the source: a newer
// one must be asked, or an index of its own built.
var ErrTooOld = errors.New("the index is of a later moment")

// Cache keeps the indexes of the agents that were asked last. It may be used
// concurrently.
//
// Its bound is on what it keeps. An index that is in use while it is evicted,
// or is larger than the bound by itself, takes its memory until its last
// search has ended.
type Cache struct {
	bytesMax int

	mu      sync.Mutex
	indexes *simplelru.LRU[string, *cachedIndex] // guarded by mu
	bytes   int                                  // guarded by mu
}

// cachedIndex is an index with the state that it is of.
type cachedIndex struct {
	size int // as the cache counts it; guarded by the cache's mu

	mu    sync.RWMutex
	index *Index
	state State
}

// NewCache makes a cache that keeps indexes of about bytesMax together.
func NewCache(bytesMax int) *Cache {
	c := &Cache{bytesMax: bytesMax}
	indexes, err := simplelru.NewLRU(math.MaxInt, func(_ string, k *cachedIndex) { c.bytes -= k.size })
	if err != nil {
		panic(err) // it refuses sizes below one only
	}
	c.indexes = indexes
	return c
}

// Bytes is about how much memory the indexes take that are kept.
func (c *Cache) Bytes() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.bytes
}

// Search calls search with the index of the source's memories; key is whose
// they are. It fails with ErrTooOld where another reader has brought the index
// further. search must not keep the index.
func (c *Cache) Search(key string, source Source, search func(*Index)) error {
	k := c.index(key)
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

// Build makes an index of the source's memories that nobody else uses.
func Build(source Source) (*Index, error) {
	k := &cachedIndex{index: NewIndex()}
	err := k.catchUp(source, source.State())
	return k.index, err
}

// index is the index of a key, of nothing at first.
func (c *Cache) index(key string) *cachedIndex {
	c.mu.Lock()
	defer c.mu.Unlock()
	if k, ok := c.indexes.Get(key); ok {
		return k
	}
	k := &cachedIndex{index: NewIndex()}
	c.indexes.Add(key, k)
	return k
}

// updateSize counts what an index takes now, and lets go of the ones that were not
// asked for the longest.
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

// catchUp brings the index to the source's state. What went comes first: what
// was deleted and written again since is then put anew.
func (k *cachedIndex) catchUp(source Source, want State) error {
	if k.state == want {
		return nil
	}
	known := k.state.Generation == want.Generation
	if known {
		var err error
		if known, err = source.Deleted(k.state.Deletes, k.index.Remove); err != nil {
			return fmt.Errorf("read what was deleted: %w", err)
		}
	}
	if !known {
		k.index, k.state = NewIndex(), State{}
	}
	if err := source.Written(k.state.Writes, k.index.Put); err != nil {
		return fmt.Errorf("read what was written: %w", err)
	}
	k.state = want
	return nil
}
