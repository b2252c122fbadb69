package agent

import "time"

// Commit is one caller's all-or-nothing list of ops: the unit of everything
// that is written.
type Commit struct {
	Scope     string // "" means DefaultScope
	Request   Request
	Fence     *Fence
	Principal string // who made it, for the record; set by the front, never by the caller
	Ops       []Op

	checked bool // by Validate: what it found need not be found again
}

// Request identifies a commit, so that it applies once however often it is
// sent. The zero Request asks for no such promise.
type Request struct {
	Client string        // unique to one running client; "" means no request id
	Seq    uint64        // numbers the client's commits from 1
	Low    uint64        // the lowest Seq still awaited: answers below it may go
	TTL    time.Duration // how long the answer is kept, and how long the commit may take to apply; 0 means RequestTTLDefault
}

// Fence makes a commit apply only while the claim's epoch is its newest and
// has not expired.
type Fence struct {
	Claim string
	Epoch uint64

	// Agent and Since make the commit deleted where that agent was erased after
	// log index Since. "" is no agent.
	Agent string
	Since uint64
}

// Op is one change in a commit: one of the types below.
type Op interface{ isOp() }

// PutValue writes a value. IfRevision 0 means "must not exist".
type PutValue struct {
	Key           string // of a file: see FileKey
	ContentType   string
	Bytes         []byte
	Metadata      JSON          // an object; nil keeps what the value has
	TTL           time.Duration // 0 means it stays
	IfRevision    *uint64
	IfBytes       *[]byte // the stored bytes must equal these; a nil slice inside means "must not exist"
	IfIncarnation uint64  // 0 means any
}

// DeleteValue deletes a value; a missing one is fine.
type DeleteValue struct {
	Key           string
	IfRevision    *uint64
	IfBytes       *[]byte
	IfIncarnation uint64
	Seal          time.Duration // every write to the key is refused for so long
}

// PutCheckpoint writes a checkpoint whole.
type PutCheckpoint struct {
	Key           string
	Version       uint64 // 0 means 1
	State         JSON
	Thread        *Pointer // must match the journal as of this commit
	Lifecycle     string
	Metadata      JSON
	TTL           time.Duration
	IfRevision    *uint64 // 0 means "must not exist"
	IfIncarnation uint64
}

// PatchCheckpoint merges a patch into the state (RFC 7396) and keeps the rest
// as stored. A missing checkpoint is not_found.
type PatchCheckpoint struct {
	Key           string
	Patch         JSON
	IfRevision    *uint64
	IfIncarnation uint64
}

// DeleteCheckpoint deletes a checkpoint and its history; a missing one is fine.
type DeleteCheckpoint struct {
	Key           string
	IfRevision    *uint64
	IfIncarnation uint64
	Seal          time.Duration
}

// AppendThread appends entries, creating the thread where there is none.
type AppendThread struct {
	Thread        string
	Entries       []Draft
	ExpectedRev   *uint64 // applies only at that rev; a missing thread is at 0
	ExpectedHead  string  // hex; "" means any
	Metadata      JSON    // honoured while the rev is 0; nil means none
	IfIncarnation uint64
}

// HibernateThread is the append half of a hibernation: the entries from
// FromSeq on as the caller knows them. What overlaps the journal must equal
// it, the rest is appended; a journal longer than the caller's is refused with
// thread_rev_regression. It is followed by a PutCheckpoint in the same commit.
type HibernateThread struct {
	Thread        string
	Rev           uint64 // the caller's rev: FromSeq + len(Entries)
	FromSeq       uint64
	Entries       []Draft
	Metadata      JSON
	IfIncarnation uint64
}

// DeleteThread deletes a thread; a missing one is fine.
type DeleteThread struct {
	Thread        string
	IfIncarnation uint64
	Seal          time.Duration
}

// CompactThread forgets the entries below BeforeSeq, which is at least 1; rev
// and head stay. A
// BeforeSeq past a live pointer or a fork's is refused with conflict.
type CompactThread struct {
	Thread        string
	BeforeSeq     uint64
	Summary       JSON // kept at the floor; nil keeps the one that is there
	IfIncarnation uint64
}

// ForkThread makes NewThread share Thread's entries below AtRev.
type ForkThread struct {
	Thread        string
	NewThread     string
	AtRev         *uint64 // nil means all of them
	IfIncarnation uint64
}

// PutScope sets a scope's policy, creating the scope where there is none.
type PutScope struct{ Policy Policy }

// DeleteScope deletes a scope with all that is in it. It must be alone in its
// commit.
type DeleteScope struct{}

// TakeClaim begins a holding, under a new epoch, of a claim that nobody holds:
// one never claimed, released or expired. One that another holds is refused
// with already_claimed. Its own holder may take it anew, which fences all that
// it sent under its earlier epoch, as after a restart.
type TakeClaim struct {
	Claim  string
	Holder string
	TTL    time.Duration // from the commit on, in log time; 0 means ClaimTTLDefault
}

// RenewClaim gives the holding its full ttl again. One that has ended, even if
// nobody has taken the claim since, is refused with fenced.
type RenewClaim struct {
	Claim  string
	Holder string
	Epoch  uint64
	TTL    time.Duration // 0 means as it was
}

// ReleaseClaim ends the holding, or hands the claim over: To then holds it
// under a new epoch, and nobody could take it in between. A holding that has
// ended is refused with fenced.
type ReleaseClaim struct {
	Claim  string
	Holder string
	Epoch  uint64
	To     string        // the next holder; "" means nobody
	TTL    time.Duration // of To's holding; 0 means as it was
}

// WriteMemory writes a memory, or writes it anew: its id then stands for what
// this op says and nothing of what was there before, and it counts as the most
// recently written one. What an agent may remember is bounded by its scope's
// Policy; past that a write is refused as overloaded.
type WriteMemory struct {
	Agent         string
	ID            string // "" means one made from the content: Validate fills it in
	Session       string
	Class         string // "" means MemoryEpisodic
	Kind          string // "" means MemoryKindDefault
	Content       string // this or Data must be there
	Data          JSON
	Tags          []string
	Source        string
	Metadata      JSON
	Embedding     []float32     // as long as those that the agent's memories have already
	ObservedAt    *int64        // Unix ms; nil means the log's time
	ExpiresAt     int64         // Unix ms; 0 means never
	TTL           time.Duration // instead of ExpiresAt; 0 means it stays
	IfRevision    *uint64       // 0 means "must not exist"
	IfIncarnation uint64
}

// DeleteMemory deletes a memory; a missing one is fine.
type DeleteMemory struct {
	Agent         string
	ID            string
	IfRevision    *uint64
	IfIncarnation uint64
	Seal          time.Duration
}

func (*PutValue) isOp()         {}
func (*DeleteValue) isOp()      {}
func (*PutCheckpoint) isOp()    {}
func (*PatchCheckpoint) isOp()  {}
func (*DeleteCheckpoint) isOp() {}
func (*AppendThread) isOp()     {}
func (*HibernateThread) isOp()  {}
func (*DeleteThread) isOp()     {}
func (*CompactThread) isOp()    {}
func (*ForkThread) isOp()       {}
func (*PutScope) isOp()         {}
func (*DeleteScope) isOp()      {}
func (*TakeClaim) isOp()        {}
func (*RenewClaim) isOp()       {}
func (*ReleaseClaim) isOp()     {}
func (*WriteMemory) isOp()      {}
func (*DeleteMemory) isOp()     {}

// Result is what a commit that applied returns.
type Result struct {
	Index   uint64     // the log index it applied at
	Time    int64      // Unix ms, from the log
	Results []OpResult // one an op, in order
}

// OpResult is what came out of one op: one of the types below.
type OpResult interface{ isOpResult() }

// ValueResult answers PutValue.
type ValueResult struct {
	Key                  string
	Incarnation          uint64
	Revision             uint64
	CreatedAt, UpdatedAt int64
}

// CheckpointResult answers PutCheckpoint and PatchCheckpoint.
type CheckpointResult struct {
	Key                  string
	Incarnation          uint64
	Revision             uint64
	CreatedAt, UpdatedAt int64
	Thread               *Pointer // as stored, with head and incarnation filled in
}

// ThreadResult answers AppendThread, HibernateThread, CompactThread and ForkThread.
type ThreadResult struct {
	Thread  Thread
	Entries []EntryStamp // of an append: one a draft, in order; of those already there too
}

// EntryStamp says where an entry went.
type EntryStamp struct {
	ID  string
	Seq uint64
	At  int64
}

// DeleteResult answers the deletes. Existed is false where there was nothing.
type DeleteResult struct {
	Existed     bool
	Incarnation uint64
}

// ScopeResult answers PutScope.
type ScopeResult struct{ Scope Scope }

// ClaimResult answers TakeClaim, RenewClaim and ReleaseClaim: the claim as it
// stands after the op.
type ClaimResult struct{ Claim Claim }

// MemoryResult answers WriteMemory.
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

// Decided is how the state machine decided one commit: exactly one of a result
// and an error, which is Final.
type Decided struct {
	Result Result
	Err    *Error
}
