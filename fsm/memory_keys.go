package fsm

import (
	"math"
	"strings"

	logpb "dormouse/proto/log"
)

// The kinds of what agents remember. Beside its row and its body a memory has
// one in each order that it is read in: of writing, of writing within its
// session, and of observation.
const (
	kindMemory          = "\x50" // agent, id → logpb.MemoryRow
	kindMemoryBody      = "\x51" // agent, id → logpb.MemoryBody
	kindMemoryOrder     = "\x52" // agent, order → id
	kindMemorySession   = "\x53" // agent, session, order → id
	kindMemoryTime      = "\x54" // agent, observed_at, id → logpb.MemoryRow
	kindMemoryAgent     = "\x55" // agent → logpb.MemoryAgentRow
	kindMemoryGone      = "\x56" // agent, delete → logpb.MemoryGone, of the last deletes
	kindMemoryTombstone = "\x57" // agent, id → logpb.Tombstone
	kindMemoryList      = "\x68" // last write, agent, order → id: of all agents; see memory_list.go
	kindMemoryPlace     = "\x69" // agent, last write, order: the agent's places there
)

// memoryKey names a memory's row of a kind. An agent's memories are its parts,
// as a thread's entries are.
func memoryKey(kind, scope, agent, id string) string {
	return idKey(kind, scope, agent) + id + separator
}

// splitMemory takes memoryKey's apart.
func splitMemory(key string) (scope, agent, id string, ok bool) {
	scope, rest, _ := strings.Cut(key[1:], separator)
	agent, rest, _ = strings.Cut(rest, separator)
	id, rest, ok = strings.Cut(rest, separator)
	return scope, agent, id, ok && rest == ""
}

func memoryOrderKey(scope, agent string, order uint64) string {
	return idKey(kindMemoryOrder, scope, agent) + encodeNumber(order)
}

// memorySessionKey orders a session's memories; "" is those of none.
func memorySessionKey(scope, agent, session string, order uint64) string {
	return memorySessionPrefix(scope, agent, session) + encodeNumber(order)
}

func memorySessionPrefix(scope, agent, session string) string {
	return idKey(kindMemorySession, scope, agent) + session + separator
}

func memoryTimeKey(scope, agent string, observed int64, id string) string {
	return idKey(kindMemoryTime, scope, agent) + encodeTime(observed) + id
}

func memoryGoneKey(scope, agent string, deletes uint64) string {
	return idKey(kindMemoryGone, scope, agent) + encodeNumber(deletes)
}

// encodeTime keeps the order of times, those before 1970 too.
func encodeTime(ms int64) string { return encodeNumber(uint64(ms) ^ 1<<63) }

// afterTime is the end of what was observed up to ms.
func afterTime(prefix string, ms int64) string {
	if ms == math.MaxInt64 {
		return after(prefix)
	}
	return prefix + encodeTime(ms+1)
}

// lastWrite returns the number that the memory's last write minted. Numbers
// grow with the log. Memories that one op copied share one, and so do the writes
// from below listedLevel with the first.
func lastWrite(row *logpb.MemoryRow) uint64 { return max(row.Written, row.Incarnation) }

// memoryListKey names a memory's place in the list of all memories.
func memoryListKey(scope, agent string, row *logpb.MemoryRow) string {
	return scopeKey(kindMemoryList, scope) + encodeTime(row.UpdatedAt) + encodeNumber(lastWrite(row)) + agent + separator + encodeNumber(row.Order)
}

// memoryPlaceKey names the row of an agent that tells where memoryListKey is.
func memoryPlaceKey(scope, agent string, row *logpb.MemoryRow) string {
	return idKey(kindMemoryPlace, scope, agent) + encodeNumber(lastWrite(row)) + encodeTime(row.UpdatedAt) + encodeNumber(row.Order)
}

// listKeyOf returns the memoryListKey that a memoryPlaceKey with the given
// prefix tells of.
func listKeyOf(scope, agent, prefix, place string) string {
	rest := place[len(prefix):]
	return scopeKey(kindMemoryList, scope) + rest[8:16] + rest[:8] + agent + separator + rest[16:]
}
