package placement_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"dormouse/placement"
)

func nodes(n int) []placement.Node {
	out := make([]placement.Node, n)
	for i := range out {
		out[i] = placement.Node{Name: fmt.Sprint("n", i+1)}
	}
	return out
}

func nobody() []string { return make([]string, placement.Partitions) }

func loads(owners []string) map[string]int {
	out := map[string]int{}
	for _, o := range owners {
		out[o]++
	}
	return out
}

// move is a change of a partition's owner.
type move struct {
	partition int
	from, to  string
}

func moved(before, after []string) (moves []move) {
	for p, from := range before {
		if to := after[p]; to != from {
			moves = append(moves, move{p, from, to})
		}
	}
	return moves
}

// balanced checks that all partitions have owners, and each node is within a tenth of its share.
func balanced(t rapid.TB, owners []string, nodes []placement.Node) {
	t.Helper()
	whole := 0.0
	for _, n := range nodes {
		whole += weight(n)
	}
	got := loads(owners)
	if got[""] != 0 {
		t.Fatalf("%d partitions are nobody's", got[""])
	}
	for _, n := range nodes {
		fair := float64(len(owners)) * weight(n) / whole
		if load := float64(got[n.Name]); load > math.Ceil(1.10*fair) || load < math.Floor(0.9*fair) {
			t.Fatalf("%s owns %v, its share is %.1f (of %d nodes)", n.Name, load, fair, len(nodes))
		}
		delete(got, n.Name)
	}
	if len(got) != 0 {
		t.Fatalf("owners that are no nodes: %v", got)
	}
}

func weight(n placement.Node) float64 {
	if n.Weight == 0 {
		return placement.WeightDefault
	}
	return float64(n.Weight)
}

// Stored state depends on the partitions of keys: these never change.
func TestPartitionsOfKeysAreForEver(t *testing.T) {
	for _, c := range []struct {
		scope, manager, key string
		want                int
	}{
		{"default", "chat", "user-1", 682},
		{"default", "chat", "user-2", 3190},
		{"", "", "", 257},
		{"a", "b", "c", 418},
		{"ab", "", "c", 726},
	} {
		if got := placement.Partition(c.scope, c.manager, c.key); got != c.want {
			t.Errorf("%q %q %q is in partition %d, want %d", c.scope, c.manager, c.key, got, c.want)
		}
	}
}

func FuzzPartition(f *testing.F) {
	f.Add("default", "chat", "k")
	f.Fuzz(func(t *testing.T, scope, manager, key string) {
		p := placement.Partition(scope, manager, key)
		if p < 0 || p >= placement.Partitions || p != placement.Partition(scope, manager, key) {
			t.Fatalf("partition %d", p)
		}
	})
}

// CL-2.
func TestAJoinMovesPartitionsOnlyToTheJoiner(t *testing.T) {
	for n := 1; n <= 24; n++ {
		before := placement.Assign(nobody(), nodes(n))
		balanced(t, before, nodes(n))
		joined := nodes(n + 1)
		after := placement.Assign(before, joined)
		balanced(t, after, joined)
		moves := moved(before, after)
		for _, m := range moves {
			if m.to != joined[n].Name {
				t.Fatalf("with %d nodes and one more, %+v", n, m)
			}
		}
		ideal := float64(placement.Partitions) / float64(n+1)
		if d := math.Abs(float64(len(moves)) - ideal); d > 0.05*ideal {
			t.Errorf("with %d nodes and one more, %d moves; ideal is %.1f", n, len(moves), ideal)
		}
	}
}

// CL-2.
func TestALossMovesOnlyWhatWasLost(t *testing.T) {
	for n := 2; n <= 24; n++ {
		before := placement.Assign(nobody(), nodes(n))
		left := nodes(n - 1)
		after := placement.Assign(before, left)
		balanced(t, after, left)
		for _, m := range moved(before, after) {
			if m.from != nodes(n)[n-1].Name {
				t.Fatalf("without one of %d nodes, %+v", n, m)
			}
		}
	}
}

// For any sequence of nodes and weights: the assignment is balanced, deterministic and stable, and
// a node that stays loses no partition twice.
func TestAnyHistoryIsBalancedAndSettled(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		owners, now := nobody(), []placement.Node(nil)
		for range rapid.IntRange(1, 4).Draw(t, "steps") {
			now = nil
			for _, i := range rapid.SliceOfNDistinct(rapid.IntRange(1, 12), 1, 12, rapid.ID[int]).Draw(t, "nodes") {
				now = append(now, placement.Node{Name: fmt.Sprint("n", i), Weight: rapid.SampledFrom([]int{0, 50, 100, 200, 300}).Draw(t, "weight")})
			}
			target := placement.Assign(owners, now)
			balanced(t, target, now)
			slices.Reverse(now)
			if again := placement.Assign(owners, now); !slices.Equal(again, target) {
				t.Fatal("the order of the nodes matters")
			}
			if again := placement.Assign(target, now); !slices.Equal(again, target) {
				t.Fatalf("not settled: %v", moved(target, again))
			}
			owners = target
		}
	})
}

func TestAClosedNodeKeepsWhatItHasAndGetsNoMore(t *testing.T) {
	before := placement.Assign(nobody(), nodes(3))
	closed := nodes(4)
	for i := range closed {
		closed[i].Closed = i != 0
	}
	after := placement.Assign(before, closed)
	if !slices.Equal(after, before) { // a node that considers all others dead takes nothing from them
		t.Errorf("moved: %v", moved(before, after))
	}
	for p, owner := range before {
		if owner == "n2" {
			before[p] = "n9" // a node that has left
		}
	}
	for _, m := range moved(before, placement.Assign(before, closed)) {
		if m.from != "n9" || m.to != "n1" {
			t.Fatalf("%+v", m)
		}
	}
	for i := range closed {
		closed[i].Closed = true
	}
	if owners := placement.Assign(nobody(), closed); loads(owners)[""] != placement.Partitions {
		t.Error("closed nodes were given partitions")
	}
	if owners := placement.Assign(nobody(), nil); loads(owners)[""] != placement.Partitions {
		t.Error("nobody was given partitions")
	}
}

func TestTheFirstCandidateIsTheChoiceOfAnEvenTable(t *testing.T) {
	owners := placement.Assign(nobody(), nodes(4))
	first := 0
	for p, owner := range owners {
		candidates := placement.Candidates(p, nodes(4))
		if len(candidates) != 4 || candidates[0].Score < candidates[3].Score {
			t.Fatalf("%+v", candidates)
		}
		if candidates[0].Node.Name == owner {
			first++
		}
	}
	if first < placement.Partitions*95/100 {
		t.Errorf("%d of %d partitions are with their first choice", first, placement.Partitions)
	}
}

func TestOneMoreNode(t *testing.T) {
	if got := placement.With(nodes(3), placement.Node{Name: "n4"}); !slices.Equal(got, nodes(4)) {
		t.Errorf("a new one: %+v", got)
	}
	heavy := placement.Node{Name: "n3", Weight: 300}
	if got := placement.With(nodes(3), heavy); !slices.Equal(got, append(nodes(2), heavy)) {
		t.Errorf("one of another weight: %+v", got)
	}
}

func BenchmarkPartition(b *testing.B) {
	for b.Loop() {
		placement.Partition("default", "conversations", "user-1234567")
	}
}

func BenchmarkAJoinOfFiveNodes(b *testing.B) {
	before := placement.Assign(nobody(), nodes(4))
	for b.Loop() {
		placement.Assign(before, nodes(5))
	}
}
