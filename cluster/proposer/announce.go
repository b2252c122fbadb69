package proposer

import "time"

// A follower learns that an entry is committed from the next entry, or when Raft
// has sent nothing for a while (its CommitTimeout: 50 ms, and up to twice that).
// So if a remote node waits for an entry and no other entry follows soon, the
// proposer sends an empty one.

// announceAfter is how long an entry that a remote node waits for may be the last
// before an empty one follows. A caller that writes one commit after another needs
// no empty entries in between.
const announceAfter = time.Millisecond

// Announce makes other nodes learn soon that the entry at index is committed.
func (p *Proposer) Announce(index uint64) {
	for {
		at := p.announceAt.Load()
		if at >= index {
			return
		}
		if p.announceAt.CompareAndSwap(at, index) {
			p.Wake()
			return
		}
	}
}
