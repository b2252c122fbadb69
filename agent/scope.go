package agent

import (
	"encoding/binary"
	"fmt"
	"strings"
	"unicode/utf8"
)

// DefaultScope is the scope of a request that names none.
const DefaultScope = "default"

// Scope is the keyspace of one tenant.
type Scope struct {
	Name      string
	Keys      uint64 // checkpoints, threads, values, claims and memories
	Bytes     uint64 // of their states, entries, bytes and contents, including history
	Agents    uint64 // names with a checkpoint, memories, sessions or conversations
	Threads   uint64
	Entries   uint64 // of its threads; a fork counts those that were appended to it
	Timers    uint64
	CreatedAt int64
	Policy    Policy // that applies: its own, or the default
	OwnPolicy bool   // the scope has a policy of its own

	MetadataKeys     []string // see IndexMetadata
	MetadataBuilding bool     // rows from before a key was declared are being added to its index: lists by metadata are unavailable
}

// Policy is the retention and the quotas of a scope. It is replicated.
type Policy struct {
	History  uint64 // checkpoints kept per key, including the current one; 0 means HistoryDefault
	KeysMax  uint64 // 0 means no limit
	BytesMax uint64 // 0 means no limit

	// HistoryAgeMS is how long a checkpoint is kept after it was replaced, within
	// History; 0 means no limit. A change applies to checkpoints replaced afterwards.
	HistoryAgeMS uint64

	// Limits of one agent's memories.
	MemoriesMax    uint64 // 0 means MemoriesMaxDefault
	MemoryBytesMax uint64 // of all its memories together; 0 means AgentMemoryBytesMaxDefault

	// ChangesMax is the minimum number of changes that the scope's feed keeps; 0 means
	// ChangesMaxDefault.
	ChangesMax uint64

	// Quotas besides KeysMax and BytesMax; 0 means no limit.
	AgentsMax  uint64
	ThreadsMax uint64
	EntriesMax uint64
	TimersMax  uint64

	// Limits of each node; 0 means no limit. A node learns a change within a few seconds.
	RequestsPerSecond uint64
	BytesPerSecond    uint64 // of requests and answers
	WatchesMax        uint64 // at once
	AwakeMax          uint64 // instances awake at once, in one process
}

// Defaults of the limits of one agent's memories, and the most that a policy may set:
// each node holds the index of the memories in RAM.
const (
	MemoriesMaxDefault         = 100_000
	MemoriesMaxMost            = 1_000_000
	AgentMemoryBytesMaxDefault = 256 << 20
	AgentMemoryBytesMaxMost    = 4 << 30
)

// HistoryDefault is the number of checkpoints kept per key, if the policy sets none.
const HistoryDefault = 4

// Legacy returns the policy without the limits that came with quotas of agents, threads, entries and
// timers, which nodes of earlier versions do not know.
func (p Policy) Legacy() Policy {
	p.AgentsMax, p.ThreadsMax, p.EntriesMax, p.TimersMax = 0, 0, 0, 0
	p.RequestsPerSecond, p.BytesPerSecond, p.WatchesMax, p.AwakeMax = 0, 0, 0, 0
	return p
}

// RateMax bounds the limits per second of a policy.
const RateMax = 1 << 40

// Validate validates a policy.
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
	case p.RequestsPerSecond > RateMax:
		return Invalid("requests_per_second", "requests_per_second = %d must be at most %d: 0 means no limit", p.RequestsPerSecond, uint64(RateMax))
	case p.BytesPerSecond > RateMax:
		return Invalid("bytes_per_second", "bytes_per_second = %d must be at most %d: 0 means no limit", p.BytesPerSecond, uint64(RateMax))
	}
	return nil
}

// ScopeRowFormat is the version of the rows that ExportScope writes and
// ImportScope reads.
const ScopeRowFormat = 1

// ScopeChunkBytes is about how many bytes of rows an export puts in one chunk.
// A chunk has at least one row, so it may be larger: at most ScopeRowsBytesMax.
const ScopeChunkBytes = 1 << 20

// ScopeRowsBytesMax is the largest chunk of rows that one ImportScope holds.
const ScopeRowsBytesMax = CommitBytesMax - 64<<10

// ScopeMintedMax bounds ScopeHeader.Minted from feature level 9 on. It is three quarters of the numbers whose
// incarnations, which have 16 bits more, are exact as numbers of JSON: the rest is left to the importing cluster.
const ScopeMintedMax = 3 << 35

// scopeMintedMost is the bound below feature level 9: incarnations have 48 bits for it.
const scopeMintedMost = 1 << 47

// ScopeHeader begins an export.
type ScopeHeader struct {
	ClusterID    string // of the source
	Scope        Scope  // its policy, and its usage without claims, which are not exported
	Index        uint64 // the log index of the rows
	Minted       uint64 // all incarnations and epochs of the source are of a lower index
	FeatureLevel uint32
	RowFormat    uint32
	Time         int64  // wall time of the entry at Index, Unix ms
	Import       string // the running import into the scope; "" for none
}

// ScopePart is one message of an export: the first has the header, the others
// have rows.
type ScopePart struct {
	Header *ScopeHeader
	Rows   []byte // see AppendScopeRow
}

// ScopeRow is one stored row of a scope. Its key is the kind of the row, one byte, and
// the part of the stored key after the scope's name.
type ScopeRow struct{ Key, Value []byte }

// AppendScopeRow appends a row to a chunk: key and value, each after its length
// as a uvarint.
func AppendScopeRow(chunk []byte, row ScopeRow) []byte {
	chunk = append(binary.AppendUvarint(chunk, uint64(len(row.Key))), row.Key...)
	return append(binary.AppendUvarint(chunk, uint64(len(row.Value))), row.Value...)
}

// NextScopeRow splits the first row off a chunk. The row shares the chunk's
// memory.
func NextScopeRow(chunk []byte) (row ScopeRow, rest []byte, err error) {
	if row.Key, rest, err = nextField(chunk); err != nil {
		return row, nil, fmt.Errorf("key of a row: %w", err)
	}
	if row.Value, rest, err = nextField(rest); err != nil {
		return row, nil, fmt.Errorf("value of a row: %w", err)
	}
	return row, rest, nil
}

func nextField(b []byte) (field, rest []byte, err error) {
	length, n := binary.Uvarint(b)
	if n <= 0 {
		return nil, nil, fmt.Errorf("the length is truncated or damaged")
	}
	if rest = b[n:]; length > uint64(len(rest)) {
		return nil, nil, fmt.Errorf("the length is %d bytes, but only %d follow", length, len(rest))
	}
	return rest[:length:length], rest[length:], nil
}

// ImportScope is one step of an import of an exported scope. With Scope it begins the
// import, into an empty scope; with Finish it ends it; otherwise it adds the rows of
// the chunk at position Chunk. It must be alone in its commit. A step may be sent
// again: the result says how many chunks have been applied. Until the import ends,
// other writes to the scope and reads of its contents are refused with conflict.
// DeleteScope cancels the import.
type ImportScope struct {
	ID     string // of the import: the same for all steps
	Scope  *Scope // policy and usage; the name does not matter
	Minted uint64 // with Scope: ScopeHeader.Minted of the export
	Chunk  uint64
	Rows   []byte
	Finish bool
}

// ImportResult is the result of ImportScope.
type ImportResult struct {
	Chunks uint64 // applied so far
	Done   bool   // the import has ended; send Finish again until it has
}

func (*ImportResult) isOpResult() {}

func (o *ImportScope) validateOp(t *tally) error {
	t.bytes += len(o.ID) + len(o.Rows)
	if err := ValidKey("import", o.ID); err != nil {
		return err
	}
	switch {
	case o.Scope != nil && (o.Finish || len(o.Rows) > 0), o.Finish && len(o.Rows) > 0:
		return Invalid("op", "import_scope begins an import, adds rows or ends it: send each as a separate op")
	case o.Scope == nil && !o.Finish && len(o.Rows) == 0:
		return Invalid("rows", "import_scope has no rows")
	case len(o.Rows) > ScopeRowsBytesMax:
		return TooLarge("rows", "scope_rows_bytes_max", len(o.Rows), ScopeRowsBytesMax)
	case o.Minted > scopeMintedMost:
		return Invalid("minted", "minted = %d must be at most %d", o.Minted, uint64(scopeMintedMost))
	case o.Scope != nil:
		if !utf8.ValidString(o.Scope.Name + strings.Join(o.Scope.MetadataKeys, "")) {
			return Invalid("scope", "the name or a metadata key of the scope is not UTF-8")
		}
		return o.Scope.Policy.Validate()
	}
	return nil
}
