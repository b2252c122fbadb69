package txn

import (
	"dormouse/fsm/kv"
	"dormouse/internal/invariant"
	"dormouse/internal/seededbug"
)

// Entry is the rows of one log entry while it is applied, and what its commits
// share beside them.
type Entry struct {
	Progress Progress // with this entry in it
	Rows     *kv.Overlay
	Minted   uint64 // incarnations handed out in this entry
	MintBase uint64
	Scopes   map[string]ScopeState
	Level    uint32 // the feature level that the entry is applied at
	Due      DueTimes
	Opening  TermStart
	Changes  []ScopeChange // in order
	Eraser   Eraser
	Touched  []string // the rows of threads and claims that watchers may wait for, and scopes
}

// MintedMax is how many incarnations one entry can hand out: they are
// index<<16 + ordinal.
const MintedMax = 1<<16 - 1

// MintsMax is how many of them an op takes: the fork of an agent has a
// checkpoint, a thread, a session and memories. What makes many of a kind, as
// the timers of a manifest, gives them one.
const MintsMax = 4

// NewIncarnation is an incarnation that was never used before, in this cluster or in one
// that a scope was imported from.
func (b *Entry) NewIncarnation() uint64 {
	b.Minted++
	invariant.Check(b.Minted <= MintedMax, "entry %d mints more than %d", b.Progress.Index, MintedMax)
	if seededbug.Is(seededbug.MapOrder) {
		b.Minted += inMapOrder()
	}
	return (b.Progress.Index+b.MintBase)<<16 + b.Minted
}

// Tx is one commit while it is applied: the entry's rows, and the scope that
// it works in.
type Tx struct {
	*Entry
	Scope  string
	Record ScopeState // as changed so far
}

// NotifyWatchers tells the watchers of a thread or claim of this entry, once it can be
// read: those too who begin to watch while it is applied.
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

// inMapOrder is 0 or 1, by the order of a map: what seededbug.MapOrder lets into
// the state.
func inMapOrder() uint64 {
	for n := range map[uint64]bool{0: true, 1: true} {
		return n
	}
	return 0
}

// keysPage is how many keys EachKey reads in one scan.
const keysPage = 256
