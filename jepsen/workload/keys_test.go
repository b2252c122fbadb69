package workload_test

import (
	"math/rand/v2"
	"testing"

	"dormouse/jepsen/workload"
)

// TestKeysAreRetired checks the limits of calls and of processes per key, and that All
// returns all keys.
func TestKeysAreRetired(t *testing.T) {
	const processes, rounds, calls = 25, 400, 50
	keys := workload.NewKeys("k", 3, calls)
	uses, users := map[string]int{}, map[string]map[int]bool{}
	all := make([]*workload.Process, processes)
	for id := range all {
		all[id] = &workload.Process{ID: 100 + id, Rand: rand.New(rand.NewPCG(uint64(id), 1))}
	}
	for range rounds {
		for id, p := range all {
			key := keys.Pick(p)
			uses[key]++
			if users[key] == nil {
				users[key] = map[int]bool{}
			}
			users[key][id] = true
		}
	}
	for key, n := range uses {
		if n > calls || len(users[key]) > 9 {
			t.Errorf("%s got %d calls of %d processes", key, n, len(users[key]))
		}
	}
	if all := keys.All(); len(all) != len(uses) || len(all) < processes*rounds/calls {
		t.Errorf("%d keys handed out, %d known", len(uses), len(all))
	}
}

// TestADoubtfulKeyIsRetiredEarly checks that a key with a few unknown calls gets only
// doubtCalls more.
func TestADoubtfulKeyIsRetiredEarly(t *testing.T) {
	keys := workload.NewKeys("k", 1, 1000)
	p := &workload.Process{ID: 1, Rand: rand.New(rand.NewPCG(1, 1))}
	first := keys.Pick(p)
	for range 100 {
		keys.Doubt(first)
	}
	keys.Doubt("another")
	more := 0
	for keys.Pick(p) == first {
		more++
	}
	if more < 5 || more > 50 {
		t.Errorf("it got %d calls more", more)
	}
}

// TestSharedKeysAreOfAll checks that any number of processes share the keys.
func TestSharedKeysAreOfAll(t *testing.T) {
	keys := workload.NewSharedKeys("k", 2, 1000)
	for id := range 40 {
		keys.Pick(&workload.Process{ID: id, Rand: rand.New(rand.NewPCG(uint64(id), 1))})
	}
	if all := keys.All(); len(all) != 2 {
		t.Errorf("40 processes use the keys %v", all)
	}
}
