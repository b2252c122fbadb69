package logchain

import "sync"

// Kept is the number of last applied entries whose chains are kept. The stamp of a batch
// names an entry that its leader had applied when it packed the batch. So lookups go back only over
// the entries that were in flight then: a handful.
const Kept = 4096

// Ring keeps the chain at each of the last Kept entries. Two replicas with different chains at one
// index have applied different logs (docs/hazards.md R1). Only entries that reach the state machine
// count: Raft's own entries (no-ops, barriers, configurations) do not. It may be used concurrently;
// the zero value is empty.
type Ring struct {
	mu    sync.Mutex
	links [Kept]link // guarded by mu
	next  int        // guarded by mu; index of the next write
}

type link struct {
	index uint64 // 0 means empty
	chain uint32
}

// Add records the chain after the entry at index; indexes increase.
func (r *Ring) Add(index uint64, chain uint32) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.links[r.next] = link{index: index, chain: chain}
	r.next = (r.next + 1) % Kept
}

// At returns the chain after the entry at index; ok is false if it is not kept.
func (r *Ring) At(index uint64) (chain uint32, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	// Search from the newest: lookups are nearly always for recent entries.
	for i := 1; i <= Kept; i++ {
		last := r.links[(r.next-i+Kept)%Kept]
		switch {
		case last.index == 0 || last.index < index:
			return 0, false
		case last.index == index:
			return last.chain, true
		}
	}
	return 0, false
}

// Reset removes all links: the state has been replaced.
func (r *Ring) Reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.links, r.next = [Kept]link{}, 0
}
