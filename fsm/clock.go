package fsm

// next is the progress after an entry with the leader's stamps: a leader whose
// clock is behind the last one's does not turn time back.
func (p progress) next(index, term, tick uint64, wall int64, chain uint32) progress {
	return progress{index: index, term: term, tick: max(p.tick, tick), wall: max(p.wall, wall), chain: chain}
}
