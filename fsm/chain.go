package fsm

import "sync"

// Two replicas with different chains at one index have applied different logs (docs/hazards.md R1).
// Only entries that reach the state machine count: Raft's own entries (no-ops, barriers,
// configurations) do not.

// chainsKept is the number of last applied entries whose chains are kept. The stamp of a batch
// names an entry that its leader had applied when it packed the batch. So lookups go back only over
// the entries that were in flight then: a handful.
const chainsKept = 4096

// chainRing keeps the chain (see internal/logchain) at each of the last chainsKept entries.
type chainRing struct {
	mu    sync.Mutex
	links [chainsKept]chainLink // guarded by mu
	next  int                   // guarded by mu; index of the next write
}

type chainLink struct {
	index uint64 // 0 means empty
	chain uint32
}

// add records the chain after the entry at index; indexes increase.
func (r *chainRing) add(index uint64, chain uint32) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.links[r.next] = chainLink{index: index, chain: chain}
	r.next = (r.next + 1) % chainsKept
}

// at returns the chain after the entry at index; ok is false if it is not kept.
func (r *chainRing) at(index uint64) (chain uint32, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	// Search from the newest: lookups are nearly always for recent entries.
	for i := 1; i <= chainsKept; i++ {
		link := r.links[(r.next-i+chainsKept)%chainsKept]
		switch {
		case link.index == 0 || link.index < index:
			return 0, false
		case link.index == index:
			return link.chain, true
		}
	}
	return 0, false
}

// reset removes all links: the state has been replaced.
func (r *chainRing) reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.links, r.next = [chainsKept]chainLink{}, 0
}
