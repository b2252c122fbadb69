package agent

import (
	"fmt"
	"strings"
)

// Reads asks for several things at one index.
type Reads struct {
	Scope    string // "" means DefaultScope
	Stale    bool   // skip the barrier: answer from this node's own state, however old
	MinIndex uint64 // wait until the serving node has applied this index
	Reads    []Read
}

// Read is one question: one of the types below.
type Read interface{ isRead() }

// GetValue reads a value.
type GetValue struct{ Key string }

// ListValues lists values in key order.
type ListValues struct{ Page }

// GetCheckpoint reads a checkpoint, at an older revision where one is named
// and still kept.
type GetCheckpoint struct {
	Key      string
	Revision uint64 // 0 means the current one
}

// ListCheckpoints lists checkpoints in key order.
type ListCheckpoints struct{ Page }

// CheckpointHistory lists the kept revisions of a key, newest first.
type CheckpointHistory struct{ Key string }

// GetThread reads a thread's meta.
type GetThread struct{ Thread string }

// ListThreads lists threads in id order.
type ListThreads struct{ Page }

// LoadEntries reads a thread's entries in seq order.
type LoadEntries struct {
	Thread string
	From   uint64   // first seq; 0 means from the floor on
	To     *uint64  // last seq, inclusive; nil means to the end
	Tail   uint64   // the last so many (of Kinds) instead of From and To; 0 means not
	AtRev  *uint64  // as the thread stood at that rev; nil means now
	Kinds  []string // only these; empty means all
	Limit  uint64   // 0 means EntriesLimitDefault
}

// GetEntry reads one entry by its id.
type GetEntry struct{ Thread, Entry string }

// VerifyThread recomputes the head chain from the floor to the head.
type VerifyThread struct{ Thread string }

// Thaw reads a checkpoint and the thread that it points to.
type Thaw struct {
	Key      string
	Tail     *uint64 // only the last so many entries; nil means all of them
	Revision uint64  // 0 means the current one
}

// ListScopes lists all scopes; the request's own scope does not matter.
type ListScopes struct{ Page }

// GetScope reads the request's scope.
type GetScope struct{}

// GetClaim reads a claim; one that nobody holds is not_found.
type GetClaim struct{ Claim string }

// ListClaims lists the claims that somebody holds, in name order.
type ListClaims struct{ Page }

// GetMemory reads one memory of an agent, with its embedding.
type GetMemory struct{ Agent, ID string }

// ListMemories lists the memories of an agent in the order of their ids, or,
// without an agent, those of all agents of the scope, oldest write first. A list
// of all agents has no prefix, and its pages go on from MemoryList.Next.
type ListMemories struct {
	Agent string // "" means all agents
	Page
}

// Page asks for one page of a list.
type Page struct {
	Prefix string
	After  string // the last key of the page before
	Limit  uint64 // 0 means ListLimitDefault
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

// Answers is what Reads came to: all as of Index, on node Node.
type Answers struct {
	Index   uint64
	AgeMS   int64  // of a stale read: how long ago this node last knew itself up to date; -1 where it cannot tell
	Node    string // who served it
	Answers []Answer
}

// Answer is one read's outcome: exactly one of Err and Found.
type Answer struct {
	Err   *Error // not_found, compacted, missing_thread, …
	Found Found
}

// Found is what a read found: one of the types below.
type Found interface{ isFound() }

// ValueList answers ListValues.
type ValueList struct {
	Items []ValueRow
	Next  string // pass as After; "" at the end
}

// CheckpointList answers ListCheckpoints and CheckpointHistory.
type CheckpointList struct {
	Items []CheckpointRow
	Next  string
}

// ThreadList answers ListThreads.
type ThreadList struct {
	Items []Thread
	Next  string
}

// Entries answers LoadEntries: the thread as of AtRev, and a page of it.
type Entries struct {
	Thread Thread
	Items  []Entry
	Next   *uint64 // the From of the next page; nil at the end
}

// Verified answers VerifyThread.
type Verified struct {
	OK   bool
	Rev  uint64
	Head Head   // recomputed
	Why  string // where it is not OK
}

// ScopeList answers ListScopes.
type ScopeList struct {
	Items []Scope
	Next  string
}

// ClaimList answers ListClaims.
type ClaimList struct {
	Items []Claim
	Next  string
}

// MemoryList answers ListMemories.
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

// Validate judges all of a request for reads that can be judged without the
// store, and fills in the default scope. The *Error names the read and the
// field.
func (r *Reads) Validate() error {
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
	return nil
}

// Validate judges a watch as Reads.Validate does a request.
func (w *Watch) Validate() error {
	if w.Scope == "" {
		w.Scope = DefaultScope
	}
	if err := ValidID("scope", w.Scope); err != nil {
		return err
	}
	if w.Changes {
		return validFeed(w)
	}
	if w.Skip != 0 || w.Prefix != "" {
		return Invalid("prefix", "a watch of one thing has no skip or prefix: they are for changes")
	}
	if w.Claim == "" {
		return ValidID("thread", w.Thread)
	}
	if w.Thread != "" || w.From != 0 || w.Incarnation != 0 {
		return Invalid("claim", "a watch of a claim names no thread, seq or incarnation: watch one or the other")
	}
	return ValidID("claim", w.Claim)
}

func validFeed(w *Watch) error {
	switch {
	case w.Thread != "" || w.Claim != "" || w.Incarnation != 0:
		return Invalid("changes", "a watch of changes names no thread, claim or incarnation: watch one or the other")
	case w.Skip != 0 && w.From == 0:
		return Invalid("skip", "skip = %d counts changes of an index: name it", w.Skip)
	}
	return validPath("prefix", w.Prefix)
}

func validRead(read Read) error {
	switch r := read.(type) {
	case *GetValue:
		return ValidID("key", r.Key)
	case *GetCheckpoint:
		return ValidID("key", r.Key)
	case *CheckpointHistory:
		return ValidID("key", r.Key)
	case *Thaw:
		return ValidID("key", r.Key)
	case *GetThread:
		return ValidID("thread", r.Thread)
	case *VerifyThread:
		return ValidID("thread", r.Thread)
	case *GetEntry:
		return firstOf(ValidID("thread", r.Thread), ValidID("entry", r.Entry))
	case *LoadEntries:
		return validLoad(r)
	case *ListValues:
		return validPage(r.Page)
	case *ListCheckpoints:
		return validPage(r.Page)
	case *ListThreads:
		return validPage(r.Page)
	case *ListScopes:
		return validPage(r.Page)
	case *ListClaims:
		return validPage(r.Page)
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
		return firstOf(ValidID("agent", r.Agent), validPart("prefix", r.Prefix), validPart("after", r.After))
	case *Recall:
		return r.validate()
	case *GetManager:
		return validManagerName("name", r.Name)
	case *ListManagers:
		return validPage(r.Page)
	case *GetAnswer:
		return Request{Client: r.Client, Seq: r.Seq}.named()
	default:
		return validSessionRead(read)
	}
}

func validLoad(r *LoadEntries) error {
	if err := ValidID("thread", r.Thread); err != nil {
		return err
	}
	if r.Tail > 0 && (r.From > 0 || r.To != nil) {
		return Invalid("tail", "tail does not go with from or to: give one or the other")
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

func validPage(p Page) error {
	if p.Limit > ListLimitMax {
		return Invalid("limit", "limit = %d must be at most %d: page with after", p.Limit, ListLimitMax)
	}
	return firstOf(validPart("prefix", p.Prefix), validPart("after", p.After))
}

// validPart judges what is compared with keys, and may be empty.
func validPart(field, text string) error {
	if strings.IndexByte(text, 0) >= 0 {
		return Invalid(field, "%s must not hold a NUL byte: no key does", field)
	}
	return validText(field, "id_bytes_max", text, IDBytesMax)
}

// validPath judges what paths of changes are compared with.
func validPath(field, text string) error {
	if strings.IndexByte(text, 0) >= 0 {
		return Invalid(field, "%s must not hold a NUL byte: no path does", field)
	}
	return validText(field, "change_path_bytes_max", text, ChangePathBytesMax)
}

// memoriesAfterBytesMax is the length of the longest page token of a list of
// the memories of all agents: three numbers, an agent and a NUL byte, in hex.
const memoriesAfterBytesMax = 2 * (3*8 + IDBytesMax + 1)

// validOfAll validates a list of the memories of all agents.
func (r *ListMemories) validOfAll() error {
	if r.Prefix != "" {
		return Invalid("prefix", "prefix applies to the memories of one agent: give agent too, or leave prefix out")
	}
	return validText("after", "memories_after_bytes_max", r.After, memoriesAfterBytesMax)
}
