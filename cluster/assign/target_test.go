package assign

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"dormouse/agent/layout"
	"dormouse/placement"
)

// Of other nodes, the leader aims at what placement gives now, whatever was aimed
// at before; and where only what was aimed at has come about, it is aimed at still.
func TestTheLeadersTargetIsThatOfPlacement(t *testing.T) {
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var aim target
		var nodes []placement.Node
		owners := make([]string, layout.Partitions)
		for step := range 8 {
			before := nodes
			nodes = someNodes(rng)
			target := aim.of(owners, nodes, nil)
			if want := placement.Assign(owners, nodes); !slices.Equal(nodes, before) && !slices.Equal(target, want) {
				t.Fatalf("seed %d, step %d: it aims at what placement does not give", seed, step)
			}
			for range 3 { // carried out a piece at a time
				owners = slices.Clone(owners)
				for p := range owners {
					if rng.IntN(3) == 0 {
						owners[p] = target[p]
					}
				}
				if still := aim.of(owners, slices.Clone(nodes), nil); !slices.Equal(still, target) {
					t.Fatalf("seed %d, step %d: it aims at something else while that is carried out", seed, step)
				}
			}
			for range rng.IntN(3) { // what was not planned
				owners[rng.IntN(len(owners))] = []string{"", "n0", "n7"}[rng.IntN(3)]
			}
		}
	}
}

// Each of these alone has the leader look again.
func TestTheLeaderPlansAgainAfterAnUnplannedChange(t *testing.T) {
	a, b := placement.Node{Name: "a"}, placement.Node{Name: "b"}
	before := slices.Repeat([]string{"a"}, 8)
	for name, c := range map[string]struct {
		owners []string
		nodes  []placement.Node
	}{
		"a node is gone":       {before, []placement.Node{a}},
		"a node is closed":     {before, []placement.Node{a, {Name: "b", Closed: true}}},
		"a node weighs more":   {before, []placement.Node{a, {Name: "b", Weight: 300}}},
		"a partition is freed": {[]string{"a", "a", "", "a", "a", "a", "a", "a"}, []placement.Node{{Name: "b"}, {Name: "c"}}},
	} {
		var aim target
		aim.of(before, []placement.Node{a, b}, nil)
		if got, want := aim.of(c.owners, c.nodes, nil), placement.Assign(c.owners, c.nodes); !slices.Equal(got, want) {
			t.Errorf("%s: it aims at %v, want %v", name, got, want)
		}
	}
	// With the same nodes: a partition whose target was b has no owner now.
	var aim target
	aim.of(before, []placement.Node{a, b}, nil)
	freed := slices.Repeat([]string{""}, 8)
	if got, want := aim.of(freed, []placement.Node{a, b}, nil), placement.Assign(freed, []placement.Node{a, b}); !slices.Equal(got, want) {
		t.Errorf("all are freed: it aims at %v, want %v", got, want)
	}
}

func someNodes(rng *rand.Rand) (nodes []placement.Node) {
	for i := range 1 + rng.IntN(5) {
		nodes = append(nodes, placement.Node{Name: fmt.Sprint("n", i), Weight: 100 * (1 + rng.IntN(2)), Closed: rng.IntN(5) == 0})
	}
	return nodes
}
