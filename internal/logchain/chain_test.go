package logchain_test

import (
	"testing"

	"dormouse/internal/logchain"
)

func TestTheChainTellsLogsApart(t *testing.T) {
	base := logchain.Next(1, 2, 3, 4)
	for name, other := range map[string]uint32{
		"chain": logchain.Next(9, 2, 3, 4), "index": logchain.Next(1, 9, 3, 4),
		"term": logchain.Next(1, 2, 9, 4), "entry": logchain.Next(1, 2, 3, 9),
	} {
		if other == base {
			t.Errorf("another %s gives the same chain", name)
		}
	}
}

func TestTheChainRingKnowsTheLastEntriesAndNoOthers(t *testing.T) {
	var r logchain.Ring
	if _, ok := r.At(1); ok {
		t.Error("an empty ring knows entry 1")
	}
	const last = 3 * logchain.Kept
	for i := uint64(2); i <= last; i += 2 { // Raft's own entries leave gaps
		r.Add(i, uint32(i))
	}
	oldest := uint64(last - 2*(logchain.Kept-1))
	for _, i := range []uint64{oldest, oldest + 2, last - 2, last} {
		if chain, ok := r.At(i); !ok || chain != uint32(i) {
			t.Errorf("entry %d: %d %v", i, chain, ok)
		}
	}
	for _, i := range []uint64{0, 1, oldest - 2, oldest + 1, last - 1, last + 1, last + 2} {
		if chain, ok := r.At(i); ok {
			t.Errorf("entry %d: %d, which the ring cannot know", i, chain)
		}
	}
}
