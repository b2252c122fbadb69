package fsm

import (
	"encoding/binary"
	"hash/crc32"
	"sync"

	"dormouse/fsm/command"
)

// The chain is a running checksum over the log as it was applied:
//
//	chain' = CRC-32C(chain ‖ index ‖ term ‖ CRC-32C of the entry)
//
// each big-endian, from 0. Two replicas that stand at one index with different
// chains have applied different logs (docs/hazards.md R1). Only entries that reach the
// state machine count: Raft's own (no-ops, barriers, configurations) do not.
func nextChain(chain uint32, index, term uint64, entry uint32) uint32 {
	var b [24]byte
	binary.BigEndian.PutUint32(b[0:], chain)
	binary.BigEndian.PutUint64(b[4:], index)
	binary.BigEndian.PutUint64(b[12:], term)
	binary.BigEndian.PutUint32(b[20:], entry)
	return crc32.Checksum(b[:], command.Castagnoli)
}

// chainsKept is how many of the last applied entries' chains are remembered.
// The stamp of a batch speaks of an entry that its leader had applied when it
// was packed, so it looks back over what was in flight then: a handful.
const chainsKept = 4096

// chainRing remembers the chain at each of the last chainsKept entries.
type chainRing struct {
	mu    sync.Mutex
	links [chainsKept]chainLink // guarded by mu
	next  int                   // guarded by mu; where the next link goes
}

type chainLink struct {
	index uint64 // 0: none
	chain uint32
}

// add remembers the chain after the entry at index; indexes grow.
func (r *chainRing) add(index uint64, chain uint32) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.links[r.next] = chainLink{index: index, chain: chain}
	r.next = (r.next + 1) % chainsKept
}

// at is the chain after the entry at index, where it is remembered.
func (r *chainRing) at(index uint64) (chain uint32, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	// The newest come first: what is asked for is nearly always among them.
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

// reset forgets all: the state has been replaced.
func (r *chainRing) reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.links, r.next = [chainsKept]chainLink{}, 0
}
