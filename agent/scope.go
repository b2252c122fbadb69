package agent

// DefaultScope is the scope of a request that names none.
const DefaultScope = "default"

// Scope is a tenant's own keyspace.
type Scope struct {
	Name      string
	Keys      uint64 // checkpoints, threads, values, claims and memories
	Bytes     uint64 // of their states, entries, bytes and contents, history included
	CreatedAt int64
	Policy    Policy
}

// Policy is what a scope keeps and how much it may hold. It is replicated.
type Policy struct {
	History  uint64 // checkpoints kept per key, the current one included; 0 means HistoryDefault
	KeysMax  uint64 // 0 means no limit
	BytesMax uint64 // 0 means no limit

	// How long a checkpoint is kept after another one took its place, in ms and
	// within History; 0 means any time. It holds for those whose place is taken from then on.
	HistoryAgeMS uint64

	// What one agent may remember.
	MemoriesMax    uint64 // 0 means MemoriesMaxDefault
	MemoryBytesMax uint64 // of them all together; 0 means AgentMemoryBytesMaxDefault

	// How many changes the scope's feed goes back, at least; 0 means ChangesMaxDefault.
	ChangesMax uint64
}

// What one agent may remember where the policy does not say, and the most that
// a policy may say: a node holds the index of an agent's memories in memory.
const (
	MemoriesMaxDefault         = 100_000
	MemoriesMaxMost            = 1_000_000
	AgentMemoryBytesMaxDefault = 256 << 20
	AgentMemoryBytesMaxMost    = 4 << 30
)

// HistoryDefault is how many checkpoints of a key are kept where the policy
// does not say.
const HistoryDefault = 4

// Validate judges a policy.
func (p Policy) Validate() error {
	switch {
	case p.HistoryAgeMS > uint64(TTLMax.Milliseconds()):
		return Invalid("history_age_ms", "history_age_ms = %d must be at most %d", p.HistoryAgeMS, TTLMax.Milliseconds())
	case p.History > HistoryMax:
		return Invalid("history", "history = %d must be at most %d", p.History, HistoryMax)
	case p.MemoriesMax > MemoriesMaxMost:
		return Invalid("memories_max", "memories_max = %d must be at most %d: spread them over more agents", p.MemoriesMax, MemoriesMaxMost)
	case p.MemoryBytesMax > AgentMemoryBytesMaxMost:
		return Invalid("memory_bytes_max", "memory_bytes_max = %d must be at most %d: spread them over more agents",
			p.MemoryBytesMax, AgentMemoryBytesMaxMost)
	case p.ChangesMax > ChangesMaxMost:
		return Invalid("changes_max", "changes_max = %d must be at most %d: read the feed as it comes", p.ChangesMax, ChangesMaxMost)
	}
	return nil
}
