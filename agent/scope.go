package agent

// DefaultScope is the scope of a request that names none.
const DefaultScope = "default"

// Scope is a tenant's own keyspace.
type Scope struct {
	Name      string
	Keys      uint64 // checkpoints, threads and values
	Bytes     uint64 // of their states, entries and bytes, history included
	CreatedAt int64
	Policy    Policy
}

// Policy is what a scope keeps and how much it may hold. It is replicated.
type Policy struct {
	History  uint64 // checkpoints kept per key, the current one included; 0 means HistoryDefault
	KeysMax  uint64 // 0 means no limit
	BytesMax uint64 // 0 means no limit
}

// HistoryDefault is how many checkpoints of a key are kept where the policy
// does not say.
const HistoryDefault = 4
