package kv

import "github.com/cespare/xxhash/v2"

// ApplyCacheBytes is how many bytes of rows apply keeps in memory by default. At about 300 bytes a row
// it holds the metas of 100,000 busy threads, checkpoints and clients.
const ApplyCacheBytes = 32 << 20

// rowOverhead is the cost of a row besides its key and value.
const rowOverhead = 160

// ApplyCache holds small rows that were recently written or read by apply. Its rows equal those of
// the engine. It belongs to the applying goroutine.
type ApplyCache struct {
	rowClock
	bytesMax int
}

// NewApplyCache returns an empty cache that holds at most bytesMax bytes.
func NewApplyCache(bytesMax int) *ApplyCache {
	h := &ApplyCache{bytesMax: bytesMax}
	h.clear()
	return h
}

// inApplyCache reports whether rows of the key's kind are cached: metas, not bodies.
func inApplyCache(key string) bool {
	switch key[:1] {
	case KindSystem, KindAgent, KindClient, KindScope, KindValue, KindCheckpoint, KindThread, KindClaim, KindFeed, KindMemory, KindMemoryAgent, KindSession, KindConversation, KindManager, KindToken:
		return true
	default:
		return false
	}
}

func (h *ApplyCache) get(key string) ([]byte, bool) {
	row := h.find(xxhash.Sum64String(key), key)
	if row == nil {
		return nil, false
	}
	row.used = true
	return row.value(), true
}

// set adds a row, or replaces its value.
func (h *ApplyCache) set(key string, value []byte) {
	hash := xxhash.Sum64String(key)
	if row := h.find(hash, key); row != nil {
		h.replace(row, value, h.bytesMax)
		return
	}
	h.add(newCachedRow(hash, key, value, 0), h.bytesMax)
}

func (h *ApplyCache) drop(key string) {
	if row := h.find(xxhash.Sum64String(key), key); row != nil {
		h.remove(row)
	}
}

// Bytes returns the size of the rows in the cache.
func (h *ApplyCache) Bytes() int { return h.bytes }

// Len returns the number of rows in the cache.
func (h *ApplyCache) Len() int { return len(h.rows) }
