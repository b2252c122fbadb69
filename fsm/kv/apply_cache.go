package kv

import (
	"math"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// ApplyCacheBytes is how many bytes of rows apply keeps in memory by default. At about 300 bytes a row
// it holds the metas of 100,000 busy threads, checkpoints and clients.
const ApplyCacheBytes = 32 << 20

// rowOverhead is the cost of a row besides its key and value.
const rowOverhead = 160

// ApplyCache holds small rows that were recently written or read by apply. Its rows equal those of
// the engine. It belongs to the applying goroutine.
type ApplyCache struct {
	rows     *simplelru.LRU[string, []byte]
	bytes    int
	bytesMax int
}

// NewApplyCache returns an empty cache that holds at most bytesMax bytes.
func NewApplyCache(bytesMax int) *ApplyCache {
	h := &ApplyCache{bytesMax: bytesMax}
	rows, err := simplelru.NewLRU(math.MaxInt, func(key string, value []byte) { h.bytes -= rowBytes(key, value) })
	if err != nil {
		panic(err) // only for a size below one
	}
	h.rows = rows
	return h
}

func rowBytes(key string, value []byte) int { return len(key) + len(value) + rowOverhead }

// inApplyCache reports whether rows of the key's kind are cached: metas, not bodies.
func inApplyCache(key string) bool {
	switch key[:1] {
	case KindSystem, KindAgent, KindClient, KindScope, KindValue, KindCheckpoint, KindThread, KindClaim, KindFeed, KindMemory, KindMemoryAgent, KindSession, KindConversation, KindManager, KindToken:
		return true
	default:
		return false
	}
}

func (h *ApplyCache) get(key string) ([]byte, bool) { return h.rows.Get(key) }

func (h *ApplyCache) set(key string, value []byte) {
	if old, ok := h.rows.Peek(key); ok {
		h.bytes -= rowBytes(key, old)
	}
	h.rows.Add(key, value)
	h.bytes += rowBytes(key, value)
	for h.bytes > h.bytesMax {
		h.rows.RemoveOldest()
	}
}

func (h *ApplyCache) remove(key string) { h.rows.Remove(key) }

// Bytes returns the size of the rows in the cache.
func (h *ApplyCache) Bytes() int { return h.bytes }

// Len returns the number of rows in the cache.
func (h *ApplyCache) Len() int { return h.rows.Len() }

// clear removes all rows: a range of rows was deleted.
func (h *ApplyCache) clear() {
	h.rows.Purge()
	h.bytes = 0
}
