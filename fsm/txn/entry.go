package txn

import (
	"dormouse/agent"
	"dormouse/fsm/kv"
	"dormouse/internal/invariant"
	"dormouse/internal/seededbug"
)

// Entry holds the rows of one log entry while it is applied, and the other state that its commits
// share.
type Entry struct {
	Progress Progress // including this entry
	Rows     *kv.Overlay
	Minted   uint64 // incarnations assigned in this entry
	MintBase uint64
	Scopes   map[string]ScopeState
	Defaults agent.Policy // of scopes without a policy of their own
	Level    uint32       // the feature level that the entry is applied at
	Due      DueTimes
	Opening  TermStart
	Changes  []ScopeChange // in order

	Deletions *Deletions // under way, as changed so far
	Eraser    Eraser
	Touched   []string // the rows of threads and claims with possible watchers, and scopes

	TokensChanged bool // a token was added or removed
	pinsRead      int  // by compactions, also those of refused commits
}

// MintedMax is how many incarnations one entry can assign: they are index<<16 + ordinal.
const MintedMax = 1<<16 - 1

// MintsMax is how many of them an op uses: the fork of an agent has a checkpoint, a thread, a
// session and memories. An op that creates many of a kind, such as the timers of a manifest, gives
// them all the same one.
const MintsMax = 4

// NewIncarnation returns an incarnation that was never used before, in this cluster or in one from
// which a scope was imported.
func (b *Entry) NewIncarnation() uint64 {
	b.Minted++
	invariant.Check(b.Minted <= MintedMax, "entry %d mints more than %d", b.Progress.Index, MintedMax)
	if seededbug.Is(seededbug.MapOrder) {
		b.Minted += inMapOrder()
	}
	return (b.Progress.Index+b.MintBase)<<16 + b.Minted
}

// Tx is one commit while it is applied: the entry's rows, and the scope of the commit.
type Tx struct {
	*Entry
	Scope     string
	Principal string      // who made the commit; "" if it has none
	Record    ScopeState  // as changed so far
	Bytes     CommitBytes // that it writes and reads
	pinsRead  int         // by its compactions
}

// NotifyWatchers signals the watchers of a thread or claim once the entry can be read, including
// those that subscribe while it is applied.
func (b *Entry) NotifyWatchers(row string) { b.Touched = append(b.Touched, row) }

// EachKey visits all keys with a prefix, in order, until visit fails.
func (c *Tx) EachKey(prefix string, visit func(key string) error) error {
	for lower := prefix; ; {
		keys, more, err := c.Rows.Keys(lower, kv.After(prefix), keysPage)
		if err != nil {
			return err
		}
		for _, key := range keys {
			if err := visit(key); err != nil {
				return err
			}
		}
		if !more {
			return nil
		}
		lower = keys[len(keys)-1] + kv.Separator
	}
}

// inMapOrder returns 0 or 1, depending on map order: seededbug.MapOrder adds it to the state.
func inMapOrder() uint64 {
	for n := range map[uint64]bool{0: true, 1: true} {
		return n
	}
	return 0
}

// keysPage is how many keys EachKey reads in one scan.
const keysPage = 256
