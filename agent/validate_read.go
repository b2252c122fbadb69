package agent

import (
	"fmt"
	"strings"
)

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
