package agent

import (
	"encoding/binary"
	"fmt"
)

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

// ScopeRowFormat is the version of the rows that ExportScope writes and
// ImportScope reads.
const ScopeRowFormat = 1

// ScopeChunkBytes is about how many bytes of rows an export puts in one chunk.
// A chunk has at least one row, so it may be larger: at most ScopeRowsBytesMax.
const ScopeChunkBytes = 1 << 20

// ScopeRowsBytesMax is the largest chunk of rows that one ImportScope holds.
const ScopeRowsBytesMax = CommitBytesMax - 64<<10

// ScopeMintedMax bounds ScopeHeader.Minted: incarnations keep 48 bits for it.
const ScopeMintedMax = 1 << 47

// ScopeHeader begins an export.
type ScopeHeader struct {
	ClusterID    string // of the source
	Scope        Scope  // its policy, and its usage without claims, which do not move
	Index        uint64 // the log index that the rows are of
	Minted       uint64 // the source has handed out no incarnation or epoch of this index or a later one
	FeatureLevel uint32
	RowFormat    uint32
	Time         int64  // wall time of the entry at Index, Unix ms
	Import       string // the import that is under way in the scope; "" for none
}

// ScopePart is one message of an export: the first has the header, the others
// have rows.
type ScopePart struct {
	Header *ScopeHeader
	Rows   []byte // see AppendScopeRow
}

// ScopeRow is one stored row of a scope. Its key is the kind of the row, one
// byte, and what follows the scope's name in the stored key.
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
		return nil, nil, fmt.Errorf("its length is cut short or damaged")
	}
	if rest = b[n:]; length > uint64(len(rest)) {
		return nil, nil, fmt.Errorf("it has %d bytes, and only %d follow", length, len(rest))
	}
	return rest[:length:length], rest[length:], nil
}

// ImportScope is one step of an import of an exported scope. With Scope it
// begins the import, in a scope that holds nothing; with Finish it ends the
// import; otherwise it adds the rows of the chunk at position Chunk. It must be
// alone in its commit. Each step may be sent again: its result says how many
// chunks have been applied. All other writes to the scope are refused with
// conflict until the import has ended, and so are reads of what it holds;
// DeleteScope gives the import up.
type ImportScope struct {
	ID     string // of the import: the same for all steps
	Scope  *Scope // policy and usage; the name does not matter
	Minted uint64 // with Scope: ScopeHeader.Minted of the export
	Chunk  uint64
	Rows   []byte
	Finish bool
}

func (*ImportScope) isOp() {}

// ImportResult answers ImportScope.
type ImportResult struct {
	Chunks uint64 // applied so far
	Done   bool   // the import has ended; Finish is to be sent again until then
}

func (*ImportResult) isOpResult() {}

func (t *tally) importScope(o *ImportScope) error {
	t.bytes += len(o.ID) + len(o.Rows)
	if err := ValidID("import", o.ID); err != nil {
		return err
	}
	switch {
	case o.Scope != nil && (o.Finish || len(o.Rows) > 0), o.Finish && len(o.Rows) > 0:
		return Invalid("op", "import_scope begins an import, adds rows or ends it: send each as an op of its own")
	case o.Scope == nil && !o.Finish && len(o.Rows) == 0:
		return Invalid("rows", "import_scope has no rows")
	case len(o.Rows) > ScopeRowsBytesMax:
		return TooLarge("rows", "scope_rows_bytes_max", len(o.Rows), ScopeRowsBytesMax)
	case o.Minted > ScopeMintedMax:
		return Invalid("minted", "minted = %d must be at most %d", o.Minted, uint64(ScopeMintedMax))
	case o.Scope != nil:
		return o.Scope.Policy.Validate()
	}
	return nil
}
