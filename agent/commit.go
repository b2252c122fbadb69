package agent

import "time"

// Commit is one caller's list of ops, of which all or none apply. Every write is a
// commit.
type Commit struct {
	Scope     string // "" means DefaultScope
	Request   Request
	Fence     *Fence
	Principal string // who made it, for the record; set by the server, never by the caller
	Token     string // the id of the token that the principal used; "" means none. Also set by the server
	Ops       []Op

	checked bool  // Validate has run: it need not run again
	total   tally // of the ops while Validate runs; a field, so that it needs no allocation
}

// Request identifies a commit, so that it applies at most once however often it is
// sent. The zero Request makes no such promise.
type Request struct {
	Client string        // unique to one running client; "" means no request id
	Seq    uint64        // numbers the client's commits from 1
	Low    uint64        // the lowest Seq still awaited: answers to lower ones may be dropped
	TTL    time.Duration // how long the answer is kept, and how long the commit may take to apply; 0 means RequestTTLDefault
}

// The names of the clients of the cluster itself and of its importer begin with these. Their requests
// follow from what is stored, so a scope that is imported again makes the same ones. An import forgets the
// answers to them in its scope.
const (
	TimerClient    = "timer-"        // attempts at a timer's occurrence
	MutationClient = "pod-mutation/" // steps of a pod's mutation
	ImportClient   = "import/"       // messages that are imported as signals
)

// Fence makes a commit apply only if Epoch is the claim's newest epoch and has not
// expired.
type Fence struct {
	Claim string
	Epoch uint64

	// Agent and Since fail the commit with deleted if that agent was erased after log
	// index Since. Agent "" means no agent.
	Agent string
	Since uint64
}

// Op is one change in a commit: one of the types with validateOp.
type Op interface {
	// validateOp validates the op as Commit.Validate says, and adds its size to the
	// tally.
	validateOp(t *tally) error
}

// PutValue writes a value. IfRevision 0 means "must not exist".
type PutValue struct {
	Key           string // see FileKey for the key of a file
	ContentType   string
	Bytes         []byte
	Metadata      JSON          // an object; nil keeps what the value has
	TTL           time.Duration // 0 means that it never expires
	IfRevision    *uint64
	IfBytes       *[]byte // the stored bytes must equal these; a nil slice inside means "must not exist"
	IfIncarnation uint64  // 0 means any
	SkipExisting  bool    // keep a value that exists; excludes the other conditions
}

// DeleteValue deletes a value; deleting a missing value succeeds.
type DeleteValue struct {
	Key           string
	IfRevision    *uint64
	IfBytes       *[]byte
	IfIncarnation uint64
	Seal          time.Duration // for how long writes to the key are refused
}

// PutCheckpoint writes a whole checkpoint.
type PutCheckpoint struct {
	Key           string
	Version       uint64 // 0 means 1
	State         JSON
	Thread        *Pointer // must match the thread at this commit
	Lifecycle     string
	Metadata      JSON
	TTL           time.Duration
	IfRevision    *uint64 // 0 means "must not exist"
	IfIncarnation uint64
	SkipExisting  bool // keep a checkpoint that exists; excludes the other conditions
}

// PatchCheckpoint merges a patch into the state (RFC 7396) and keeps the rest of the
// checkpoint. A missing checkpoint is not_found, unless Upsert is set.
type PatchCheckpoint struct {
	Key           string
	Patch         JSON
	IfRevision    *uint64
	IfIncarnation uint64
	Upsert        bool // patch a missing checkpoint as an empty one
	Shallow       bool // members of the patch replace those of the state whole; null still removes one
}

// Apply returns the state after the patch.
func (o *PatchCheckpoint) Apply(state JSON) (JSON, error) {
	if o.Shallow {
		return AssignMembers(state, o.Patch)
	}
	return MergePatch(state, o.Patch)
}

// DeleteCheckpoint deletes a checkpoint and its history; deleting a missing checkpoint
// succeeds.
type DeleteCheckpoint struct {
	Key           string
	IfRevision    *uint64
	IfIncarnation uint64
	Seal          time.Duration
}

// AppendThread appends entries. It creates the thread if it does not exist.
type AppendThread struct {
	Thread        string
	Entries       []Draft
	ExpectedRev   *uint64 // applies only at that rev; a missing thread is at 0
	ExpectedHead  string  // hex; "" means any
	Metadata      JSON    // applied while the rev is 0; nil means none
	IfIncarnation uint64
	SkipExisting  bool // keep an entry whose id the thread has, also one with other content
	CreateOnly    bool // the thread must not exist, not even at rev 0
}

// HibernateThread appends a caller's entries from FromSeq on, as the first half of a
// hibernation. Entries that the thread already has must be equal; the others are
// appended. If the thread is longer than the caller's, the op fails with
// thread_rev_regression. A PutCheckpoint follows it in the same commit.
type HibernateThread struct {
	Thread        string
	Rev           uint64 // the caller's rev: FromSeq + len(Entries)
	FromSeq       uint64
	Entries       []Draft
	Metadata      JSON
	IfIncarnation uint64
}

// DeleteThread deletes a thread; deleting a missing thread succeeds.
type DeleteThread struct {
	Thread        string
	IfIncarnation uint64
	Seal          time.Duration
}

// CompactThread removes the entries below BeforeSeq, which is at least 1; rev and head
// stay. A BeforeSeq past a live checkpoint's pointer or a fork's start is a conflict.
type CompactThread struct {
	Thread        string
	BeforeSeq     uint64
	Summary       JSON // kept at the floor; nil keeps the current one
	IfIncarnation uint64
}

// ForkThread creates NewThread, which shares Thread's entries below AtRev.
type ForkThread struct {
	Thread        string
	NewThread     string
	AtRev         *uint64 // nil means all of them
	IfIncarnation uint64
}

// PutScope sets a scope's policy. It creates the scope if it does not exist.
type PutScope struct {
	Policy Policy

	// Default sets the policy of all scopes that have none of their own, and not that of the
	// commit's scope.
	Default bool

	// UseDefault removes the scope's own policy, so that the default applies. Policy must be empty.
	UseDefault bool

	// IfPolicy refuses the op as conflict, unless this policy applies to the scope, or is the default
	// one with Default; nil means no condition.
	IfPolicy *Policy
}

// DeleteScope deletes a scope and its contents. For a caller with a token, other than the root token, a
// scope with a policy of its own stays, empty, with that policy: see KeepsPolicy. DeleteScope must be the
// only op of its commit.
type DeleteScope struct{}

// TakeClaim takes a claim that has no holder, under a new epoch: the claim is new,
// released or expired. If another caller holds it, the op fails with already_claimed.
// The holder itself may take it again, for example after a restart, which fences its
// writes under the earlier epoch.
type TakeClaim struct {
	Claim  string
	Holder string
	TTL    time.Duration // from the commit, in log time; 0 means ClaimTTLDefault
}

// RenewClaim restarts the ttl of a holding. A holding that has ended is fenced, even
// if the claim was not taken since.
type RenewClaim struct {
	Claim  string
	Holder string
	Epoch  uint64
	TTL    time.Duration // 0 means the current ttl
}

// ReleaseClaim ends a holding. With To it hands the claim over: To holds it under a
// new epoch, and no other caller can take it in between. A holding that has ended is
// fenced.
type ReleaseClaim struct {
	Claim  string
	Holder string
	Epoch  uint64
	To     string        // the next holder; "" means none
	TTL    time.Duration // of To's holding; 0 means the current ttl
}

// WriteMemory writes or replaces a memory. Nothing of a replaced memory stays, and the
// memory becomes the most recently written one. The scope's Policy limits an agent's
// memories; a write past the limit is overloaded.
type WriteMemory struct {
	Agent         string
	ID            string // "" means one derived from the content: Validate fills it in
	Session       string
	Class         string // "" means MemoryEpisodic
	Kind          string // "" means MemoryKindDefault
	Content       string // Content or Data is required
	Data          JSON
	Tags          []string
	Source        string
	Metadata      JSON
	Embedding     []float32     // must have as many dimensions as the agent's other memories
	ObservedAt    *int64        // Unix ms; nil means the log's time
	ExpiresAt     int64         // Unix ms; 0 means never
	TTL           time.Duration // instead of ExpiresAt; 0 means that it never expires
	IfRevision    *uint64       // 0 means "must not exist"
	IfIncarnation uint64
}

// DeleteMemory deletes a memory; deleting a missing memory succeeds.
type DeleteMemory struct {
	Agent         string
	ID            string
	IfRevision    *uint64
	IfIncarnation uint64
	Seal          time.Duration
}

// Result is the result of a commit that was applied.
type Result struct {
	Index   uint64     // the log index it applied at
	Time    int64      // Unix ms, from the log
	Results []OpResult // one for each op, in order
}

// OpResult is the result of one op: one of the types below.
type OpResult interface{ isOpResult() }

// ValueResult is the result of PutValue.
type ValueResult struct {
	Key                  string
	Incarnation          uint64
	Revision             uint64
	CreatedAt, UpdatedAt int64
	Skipped              bool // the value was there, and was kept: SkipExisting
}

// CheckpointResult is the result of PutCheckpoint and PatchCheckpoint.
type CheckpointResult struct {
	Key                  string
	Incarnation          uint64
	Revision             uint64
	CreatedAt, UpdatedAt int64
	Thread               *Pointer // as stored, with head and incarnation filled in
	Skipped              bool     // the checkpoint was there, and was kept: SkipExisting
}

// ThreadResult is the result of AppendThread, HibernateThread, CompactThread and
// ForkThread.
type ThreadResult struct {
	Thread  Thread       // without its summary, which only reads return; with its metadata only of a fork
	Entries []EntryStamp // of an append: one for each draft, in order, also for drafts that were already stored
}

// EntryStamp is where an entry was stored.
type EntryStamp struct {
	ID      string
	Seq     uint64
	At      int64
	Skipped bool // an entry of that id was there, and was kept: SkipExisting
}

// DeleteResult is the result of the deletes. Existed is false if there was nothing to
// delete.
type DeleteResult struct {
	Existed     bool
	Incarnation uint64
}

// ScopeResult is the result of PutScope. With Default, only the scope's Policy is set.
type ScopeResult struct{ Scope Scope }

// ClaimResult is the result of TakeClaim, RenewClaim and ReleaseClaim: the claim after
// the op.
type ClaimResult struct{ Claim Claim }

// MemoryResult is the result of WriteMemory.
type MemoryResult struct {
	Agent, ID            string
	Incarnation          uint64
	Revision             uint64
	CreatedAt, UpdatedAt int64
}

func (*ValueResult) isOpResult()      {}
func (*CheckpointResult) isOpResult() {}
func (*ThreadResult) isOpResult()     {}
func (*DeleteResult) isOpResult()     {}
func (*ScopeResult) isOpResult()      {}
func (*ClaimResult) isOpResult()      {}
func (*MemoryResult) isOpResult()     {}

// Decided is the state machine's decision about one commit: either a result or an
// error, which is Final.
type Decided struct {
	Result Result
	Err    *Error
}
