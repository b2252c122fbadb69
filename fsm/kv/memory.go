package kv

import (
	"math"
	"strings"

	logpb "dormouse/proto/log"
)

// The kinds of memories. Besides its row and its body a memory has one row in each order of
// reading: by write, by write within its session, and by observation.
const (
	KindMemory          = "\x50" // agent, id → logpb.MemoryRow
	KindMemoryBody      = "\x51" // agent, id → logpb.MemoryBody
	KindMemoryOrder     = "\x52" // agent, order → id
	KindMemorySession   = "\x53" // agent, session, order → id
	KindMemoryTime      = "\x54" // agent, observed_at, id → logpb.MemoryRow
	KindMemoryAgent     = "\x55" // agent → logpb.MemoryAgentRow
	KindMemoryGone      = "\x56" // agent, delete → logpb.MemoryGone, of the last deletes
	KindMemoryTombstone = "\x57" // agent, id → logpb.Tombstone
	KindMemoryList      = "\x68" // last write, agent, order → id: of all agents; see fsm/memory/list.go
	KindMemoryPlace     = "\x69" // agent, last write, order: the agent's places there
)

// MemoryKey returns the key of a memory's row of a kind. An agent's memories are parts of its id,
// as a thread's entries are.
func MemoryKey(kind, scope, agent, id string) string {
	return IDKey(kind, scope, agent) + id + Separator
}

// SplitMemory splits a key of MemoryKey.
func SplitMemory(key string) (scope, agent, id string, ok bool) {
	scope, rest, _ := strings.Cut(key[1:], Separator)
	agent, rest, _ = strings.Cut(rest, Separator)
	id, rest, ok = strings.Cut(rest, Separator)
	return scope, agent, id, ok && rest == ""
}

// MemoryOrderKey returns the key of a memory in the order of writing.
func MemoryOrderKey(scope, agent string, order uint64) string {
	return IDKey(KindMemoryOrder, scope, agent) + EncodeNumber(order)
}

// MemorySessionKey returns the key of a memory in the order of a session; session "" is for
// memories without one.
func MemorySessionKey(scope, agent, session string, order uint64) string {
	return MemorySessionPrefix(scope, agent, session) + EncodeNumber(order)
}

// MemorySessionPrefix begins the keys of a session's memories in the order of writing.
func MemorySessionPrefix(scope, agent, session string) string {
	return IDKey(KindMemorySession, scope, agent) + session + Separator
}

// MemoryTimeKey returns the key of a memory in the order of observation, in Unix ms.
func MemoryTimeKey(scope, agent string, observed int64, id string) string {
	return IDKey(KindMemoryTime, scope, agent) + EncodeTime(observed) + id
}

// MemoryGoneKey names the row of one of an agent's last deletes.
func MemoryGoneKey(scope, agent string, deletes uint64) string {
	return IDKey(KindMemoryGone, scope, agent) + EncodeNumber(deletes)
}

// EncodeTime encodes a time such that encodings sort as times do, also before 1970.
func EncodeTime(ms int64) string { return EncodeNumber(uint64(ms) ^ 1<<63) }

// AfterTime returns the upper bound of what was observed up to ms.
func AfterTime(prefix string, ms int64) string {
	if ms == math.MaxInt64 {
		return After(prefix)
	}
	return prefix + EncodeTime(ms+1)
}

// lastWrite returns the number assigned by the memory's last write. Numbers increase along the log.
// Memories that one op copied share one. Writes from below txn.ListedLevel have the number of the
// first write.
func lastWrite(row *logpb.MemoryRow) uint64 { return max(row.Written, row.Incarnation) }

// MemoryListKey returns the key of a memory in the list of all memories.
func MemoryListKey(scope, agent string, row *logpb.MemoryRow) string {
	return ScopeKey(KindMemoryList, scope) + EncodeTime(row.UpdatedAt) + EncodeNumber(lastWrite(row)) + agent + Separator + EncodeNumber(row.Order)
}

// MemoryPlaceKey returns the key of the agent's row that leads to MemoryListKey.
func MemoryPlaceKey(scope, agent string, row *logpb.MemoryRow) string {
	return IDKey(KindMemoryPlace, scope, agent) + EncodeNumber(lastWrite(row)) + EncodeTime(row.UpdatedAt) + EncodeNumber(row.Order)
}

// ListKeyOf returns the MemoryListKey for a MemoryPlaceKey with the given prefix.
func ListKeyOf(scope, agent, prefix, place string) string {
	rest := place[len(prefix):]
	return ScopeKey(KindMemoryList, scope) + rest[8:16] + rest[:8] + agent + Separator + rest[16:]
}
