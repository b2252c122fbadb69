package agent

import "fmt"

// Reads is a request for several reads at one index.
type Reads struct {
	Scope    string // "" means DefaultScope
	Stale    bool   // answer from this node's own state, however old, without a read index
	MinIndex uint64 // wait until the serving node has applied this index
	Reads    []Read

	checked bool // Validate has run: it need not run again
}

// Read is one read: one of the types below.
type Read interface{ isRead() }

// GetValue reads a value.
type GetValue struct{ Key string }

// ListValues lists values in key order.
type ListValues struct {
	Page
	Body  bool // with the bytes of each
	Where Where
}

// GetCheckpoint reads a checkpoint, or an older revision that is still kept.
type GetCheckpoint struct {
	Key      string
	Revision uint64 // 0 means the current one
}

// ListCheckpoints lists checkpoints in key order.
type ListCheckpoints struct {
	Page
	Body  bool // with the state and the metadata of each
	Where Where
}

// CheckpointHistory lists the kept revisions of a checkpoint, newest first.
type CheckpointHistory struct{ Key string }

// GetThread reads a thread without its entries.
type GetThread struct{ Thread string }

// ListThreads lists threads in id order.
type ListThreads struct{ Page }

// LoadEntries reads a thread's entries in seq order, from From to To. In descending order it begins
// at To.
type LoadEntries struct {
	Thread string
	From   uint64   // first seq; 0 means from the floor
	To     *uint64  // last seq, inclusive; nil means to the end
	Tail   uint64   // return the last Tail entries (of Kinds), instead of From and To; 0 means From and To apply
	AtRev  *uint64  // the thread at that rev; nil means its current rev
	Kinds  []string // only these; empty means all
	Limit  uint64   // 0 means EntriesLimitDefault
	Order  Order    // not with Tail
	Times           // of the entries' At
}

// Continue makes r the read of the page after found, at the same rev. It reports whether there is
// one.
func (r *LoadEntries) Continue(found *Entries) bool {
	if found.Next == nil {
		return false
	}
	if r.AtRev == nil {
		r.AtRev = &found.Thread.Rev
	}
	r.Tail = 0
	if r.Order == Descending {
		r.To = found.Next
	} else {
		r.From = *found.Next
	}
	return true
}

// GetEntry reads one entry by its id.
type GetEntry struct{ Thread, Entry string }

// VerifyThread recomputes the hash chain from the floor to the head.
type VerifyThread struct{ Thread string }

// Thaw reads a checkpoint and the thread that it points to, at one index.
type Thaw struct {
	Key      string
	Tail     *uint64 // only the last Tail entries; nil means all
	Revision uint64  // 0 means the current one

	// Encoded lets the service answer with Thawed.Encoded in place of Thawed.Entries. Servers of the
	// protobuf API set it.
	Encoded bool
}

// ListScopes lists all scopes; it ignores the request's own scope.
type ListScopes struct{ Page }

// GetScope reads the request's scope.
type GetScope struct {
	// Default reads the default policy: of the result only Policy is set.
	Default bool
}

// GetClaim reads a claim; a claim without a holder is not_found.
type GetClaim struct{ Claim string }

// ListClaims lists the claims that have a holder, in name order.
type ListClaims struct{ Page }

// GetMemory reads one memory of an agent, with its embedding.
type GetMemory struct{ Agent, ID string }

// ListMemories lists an agent's memories in id order. Without an agent it lists those
// of all agents of the scope, oldest write first; such a list has no prefix, and
// MemoryList.Next continues it.
type ListMemories struct {
	Agent string // "" means all agents
	Page
}

func (*GetValue) isRead()          {}
func (*ListValues) isRead()        {}
func (*GetCheckpoint) isRead()     {}
func (*ListCheckpoints) isRead()   {}
func (*CheckpointHistory) isRead() {}
func (*GetThread) isRead()         {}
func (*ListThreads) isRead()       {}
func (*LoadEntries) isRead()       {}
func (*GetEntry) isRead()          {}
func (*VerifyThread) isRead()      {}
func (*Thaw) isRead()              {}
func (*ListScopes) isRead()        {}
func (*GetScope) isRead()          {}
func (*GetClaim) isRead()          {}
func (*ListClaims) isRead()        {}
func (*GetMemory) isRead()         {}
func (*ListMemories) isRead()      {}
func (*Recall) isRead()            {}

// Answers is the result of Reads: all at Index, read on Node.
type Answers struct {
	Index   uint64
	AgeMS   int64  // of a stale read: the age of this node's last proof that it was up to date; -1 if unknown
	Node    string // the node that answered
	Answers []Answer
}

// Answer is one read's result: either Err or Found.
type Answer struct {
	Err   *Error // not_found, compacted, missing_thread, …
	Found Found
}

// Found is the value that a read found: one of the types below.
type Found interface{ isFound() }

// ValueList is the result of ListValues.
type ValueList struct {
	Items []ValueRow
	Next  string // pass as After; "" at the end
}

// CheckpointList is the result of ListCheckpoints and CheckpointHistory.
type CheckpointList struct {
	Items []CheckpointRow
	Next  string
}

// ThreadList is the result of ListThreads.
type ThreadList struct {
	Items []Thread
	Next  string
}

// Entries is the result of LoadEntries: the thread at AtRev, and a page of its
// entries.
type Entries struct {
	Thread Thread
	Items  []Entry
	Next   *uint64 // the From of the next page, its To in descending order; nil at the end
}

// Verified is the result of VerifyThread.
type Verified struct {
	OK   bool
	Rev  uint64
	Head Head   // recomputed
	Why  string // if it is not OK
}

// ScopeList is the result of ListScopes.
type ScopeList struct {
	Items []Scope
	Next  string
}

// ClaimList is the result of ListClaims.
type ClaimList struct {
	Items []Claim
	Next  string
}

// MemoryList is the result of ListMemories.
type MemoryList struct {
	Items []Memory
	Next  string
}

func (*Value) isFound()          {}
func (*ValueList) isFound()      {}
func (*Checkpoint) isFound()     {}
func (*CheckpointList) isFound() {}
func (*Thread) isFound()         {}
func (*ThreadList) isFound()     {}
func (*Entries) isFound()        {}
func (*Entry) isFound()          {}
func (*Verified) isFound()       {}
func (*Thawed) isFound()         {}
func (*ScopeList) isFound()      {}
func (*Scope) isFound()          {}
func (*Claim) isFound()          {}
func (*ClaimList) isFound()      {}
func (*Memory) isFound()         {}
func (*MemoryList) isFound()     {}
func (*Recalled) isFound()       {}

// Validate validates a request for reads as far as possible without the store, and
// fills in the default scope. The *Error names the read and the field. On a request
// that was valid a second call does nothing, so do not change it in between, except to
// remove some of its reads.
func (r *Reads) Validate() error {
	if r.checked {
		return nil
	}
	if r.Scope == "" {
		r.Scope = DefaultScope
	}
	if err := ValidID("scope", r.Scope); err != nil {
		return err
	}
	if len(r.Reads) == 0 {
		return Invalid("reads", "a request needs at least one read")
	}
	if len(r.Reads) > ReadsMax {
		return TooLarge("reads", "reads_max", len(r.Reads), ReadsMax)
	}
	for i, read := range r.Reads {
		if err := validRead(read); err != nil {
			return atOp(err, i)
		}
	}
	r.checked = true
	return nil
}

func validRead(read Read) error {
	switch r := read.(type) {
	case *GetValue:
		return ValidKey("key", r.Key)
	case *GetCheckpoint:
		return ValidKey("key", r.Key)
	case *CheckpointHistory:
		return ValidKey("key", r.Key)
	case *Thaw:
		return ValidKey("key", r.Key)
	case *GetThread:
		return ValidID("thread", r.Thread)
	case *VerifyThread:
		return ValidID("thread", r.Thread)
	case *GetEntry:
		return firstOf(ValidID("thread", r.Thread), ValidID("entry", r.Entry))
	case *LoadEntries:
		return validLoad(r)
	case *ListValues:
		return firstOf(validRows(r.Page), r.Where.validate())
	case *ListCheckpoints:
		return firstOf(validRows(r.Page), r.Where.validate())
	case *ListThreads:
		return validRows(r.Page)
	case *ListScopes:
		return validOrdered(r.Page)
	case *ListClaims:
		return validOrdered(r.Page)
	case *GetClaim:
		return ValidID("claim", r.Claim)
	case *GetScope:
		return nil
	case *GetMemory:
		return firstOf(ValidID("agent", r.Agent), ValidID("id", r.ID))
	case *ListMemories:
		// A limit above the maximum is capped, as a recall's is (ME-13).
		if r.Agent == "" {
			return r.validOfAll()
		}
		return firstOf(ValidID("agent", r.Agent), validPart("prefix", r.Prefix), validPart("after", r.After), validOrder(r.Order), r.refused())
	case *Recall:
		return r.validate()
	case *GetManager:
		return validManagerName("name", r.Name)
	case *ListManagers:
		return validOrdered(r.Page)
	case *GetAnswer:
		return Request{Client: r.Client, Seq: r.Seq}.named()
	case *GetToken:
		return ValidID("id", r.ID)
	case *ListTokens:
		return validOrdered(r.Page)
	case *GetDeletion:
		return ValidID("id", r.ID)
	case *ListDeletions:
		return validOrdered(r.Page)
	default:
		return validSessionRead(read)
	}
}

func validLoad(r *LoadEntries) error {
	if err := ValidID("thread", r.Thread); err != nil {
		return err
	}
	if r.Tail > 0 && (r.From > 0 || r.To != nil) {
		return Invalid("tail", "tail excludes from and to: give one or the other")
	}
	if r.Tail > 0 && r.Order == Descending {
		return Invalid("tail", "tail excludes order = desc, which begins at the end: give limit instead of tail")
	}
	if err := firstOf(validOrder(r.Order), r.validate()); err != nil {
		return err
	}
	if r.Limit > EntriesLimitMax {
		return Invalid("limit", "limit = %d must be at most %d: page with from", r.Limit, EntriesLimitMax)
	}
	if len(r.Kinds) > ReadKindsMax {
		return TooLarge("kinds", "read_kinds_max", len(r.Kinds), ReadKindsMax)
	}
	for i, kind := range r.Kinds {
		if err := validName(fmt.Sprintf("kinds[%d]", i), "kind_bytes_max", kind, KindBytesMax); err != nil {
			return err
		}
	}
	return nil
}
