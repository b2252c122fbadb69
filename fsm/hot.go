package fsm

import (
	"math"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// hotBytesMax bounds the rows that apply keeps in memory. At about 300 bytes a
// row it holds the metas of 100,000 busy threads, checkpoints and clients.
const hotBytesMax = 32 << 20

// hotRowBytes is what a row costs besides its key and value.
const hotRowBytes = 160

// hotRows are the small rows that apply reads over and over: those written or
// read last. What it holds equals what is in the engine. It belongs to the
// goroutine that applies.
type hotRows struct {
	rows     *simplelru.LRU[string, []byte]
	bytes    int
	bytesMax int
}

func newHotRows(bytesMax int) *hotRows {
	h := &hotRows{bytesMax: bytesMax}
	rows, err := simplelru.NewLRU(math.MaxInt, func(key string, value []byte) { h.bytes -= rowBytes(key, value) })
	if err != nil {
		panic(err) // it refuses sizes below one only
	}
	h.rows = rows
	return h
}

func rowBytes(key string, value []byte) int { return len(key) + len(value) + hotRowBytes }

// hot tells whether rows of the key's kind are worth keeping: metas, not bodies.
func hot(key string) bool {
	switch key[:1] {
	case kindClient, kindScope, kindValue, kindCheckpoint, kindThread, kindClaim, kindFeed, kindMemory, kindMemoryAgent, kindSession, kindConversation, kindManager:
		return true
	default:
		return false
	}
}

func (h *hotRows) get(key string) ([]byte, bool) { return h.rows.Get(key) }

func (h *hotRows) set(key string, value []byte) {
	if old, ok := h.rows.Peek(key); ok {
		h.bytes -= rowBytes(key, old)
	}
	h.rows.Add(key, value)
	h.bytes += rowBytes(key, value)
	for h.bytes > h.bytesMax {
		h.rows.RemoveOldest()
	}
}

func (h *hotRows) remove(key string) { h.rows.Remove(key) }

// length returns the number of rows in the cache.
func (h *hotRows) length() int { return h.rows.Len() }

// clear forgets everything: a range of rows has gone.
func (h *hotRows) clear() {
	h.rows.Purge()
	h.bytes = 0
}
