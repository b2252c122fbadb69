package fsm

import (
	"dormouse/fsm/kv"
	"dormouse/internal/invariant"
	"dormouse/internal/seededbug"
)

// entry is the rows of one log entry while it is applied, and what its commits
// share beside them.
type entry struct {
	progress progress // with this entry in it
	rows     *kv.Overlay
	minted   uint64 // incarnations handed out in this entry
	mintBase uint64
	scopes   map[string]scopeState
	level    uint32 // the feature level that the entry is applied at
	due      due
	opening  opening
	changes  []recorded // in order
	eraser   eraser
	touched  []string // the rows of threads and claims that watchers may wait for, and scopes
}

// mintedMax is how many incarnations one entry can hand out: they are
// index<<16 + ordinal.
const mintedMax = 1<<16 - 1

// mintsMax is how many of them an op takes: the fork of an agent has a
// checkpoint, a thread, a session and memories. What makes many of a kind, as
// the timers of a manifest, gives them one.
const mintsMax = 4

// mint is an incarnation that was never used before, in this cluster or in one
// that a scope was imported from.
func (b *entry) mint() uint64 {
	b.minted++
	invariant.Check(b.minted <= mintedMax, "entry %d mints more than %d", b.progress.index, mintedMax)
	if seededbug.Is(seededbug.MapOrder) {
		b.minted += inMapOrder()
	}
	return (b.progress.index+b.mintBase)<<16 + b.minted
}

// commit is one commit while it is applied: the entry's rows, and the scope that
// it works in.
type commit struct {
	*entry
	scope  string
	record scopeState // as changed so far
}

// touch tells the watchers of a thread or claim of this entry, once it can be
// read: those too who begin to watch while it is applied.
func (b *entry) touch(row string) { b.touched = append(b.touched, row) }

// eachKey visits all keys with a prefix, in order, until visit fails.
func (c *commit) eachKey(prefix string, visit func(key string) error) error {
	for lower := prefix; ; {
		keys, more, err := c.rows.Keys(lower, kv.After(prefix), keysPage)
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

// keysPage is how many keys eachKey reads in one scan.
const keysPage = 256
