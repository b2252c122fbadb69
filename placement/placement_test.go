package placement_test

import (
	"fmt"
	"maps"
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

func unowned() []string { return make([]string, placement.Partitions) }

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
		t.Fatalf("%d partitions have no owner", got[""])
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
func TestThePartitionOfAKeyNeverChanges(t *testing.T) {
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
		before := placement.Assign(unowned(), nodes(n))
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
		before := placement.Assign(unowned(), nodes(n))
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
		owners, now := unowned(), []placement.Node(nil)
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
	before := placement.Assign(unowned(), nodes(3))
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
	if owners := placement.Assign(unowned(), closed); loads(owners)[""] != placement.Partitions {
		t.Error("closed nodes were given partitions")
	}
	if owners := placement.Assign(unowned(), nil); loads(owners)[""] != placement.Partitions {
		t.Error("partitions were given although there is no node")
	}
}

func TestTheFirstCandidateIsTheChoiceOfAnEvenTable(t *testing.T) {
	owners := placement.Assign(unowned(), nodes(4))
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
	before := placement.Assign(unowned(), nodes(4))
	for b.Loop() {
		placement.Assign(before, nodes(5))
	}
}

// Pinned partitions are at their nodes, and the others are spread as well as that allows: a node
// with many pins gets no others, and the rest is balanced among the other nodes.
func TestPinnedPartitionsAreAtTheirNodes(t *testing.T) {
	pins := map[int]string{}
	for p := range 2000 {
		pins[p] = "n1"
	}
	pins[3000], pins[3001] = "n2", "gone"
	before := placement.Assign(unowned(), nodes(3))
	after := placement.AssignPinned(before, nodes(3), pins)
	for p, node := range pins {
		if node != "gone" && after[p] != node {
			t.Fatalf("partition %d is pinned to %s, and at %s", p, node, after[p])
		}
	}
	got := loads(after)
	if got["n1"] != 2000 || got["n2"] < 943 || got["n2"] > 1153 || got["n2"]+got["n3"] != 2096 {
		t.Errorf("loads %v", got)
	}
	few := map[int]string{1: "n1", 2: "n2", 3: "n3"}
	balanced(t, placement.AssignPinned(unowned(), nodes(3), few), nodes(3))
	for _, m := range moved(before, placement.AssignPinned(before, nodes(3), few)) {
		if few[m.partition] != m.to {
			t.Errorf("a pin of another partition moves %+v", m)
		}
	}
}

// A pin to a node that is closed keeps what is there, and brings nothing.
func TestAPinToAClosedNodeOnlyKeeps(t *testing.T) {
	closed := nodes(2)
	closed[1].Closed = true
	owners := []string{"n1", "n2", ""}
	got := placement.AssignPinned(owners, closed, map[int]string{0: "n2", 1: "n2", 2: "n2"})
	if want := []string{"n1", "n2", "n1"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// For any pins, nodes and owners: each pin to an open node holds, nothing is left without an owner,
// and assigning the result again changes nothing.
func TestAnyPinsHoldAndSettle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var now []placement.Node
		open := map[string]bool{}
		for _, i := range rapid.SliceOfNDistinct(rapid.IntRange(1, 6), 1, 6, rapid.ID[int]).Draw(t, "nodes") {
			n := placement.Node{Name: fmt.Sprint("n", i), Weight: rapid.SampledFrom([]int{0, 50, 300}).Draw(t, "weight"), Closed: rapid.IntRange(0, 5).Draw(t, "closed") == 0}
			now, open[n.Name] = append(now, n), !n.Closed
		}
		name := rapid.SampledFrom([]string{"n1", "n2", "n3", "n4", "n5", "n6", "n7"})
		owners, pins := make([]string, 256), map[int]string{}
		for p := range owners {
			if rapid.Bool().Draw(t, "owned") {
				owners[p] = name.Draw(t, "owner")
			}
			if rapid.IntRange(0, 2).Draw(t, "pinned") == 0 {
				pins[p] = name.Draw(t, "pin")
			}
		}
		target := placement.AssignPinned(owners, now, pins)
		for p, node := range pins {
			if open[node] && target[p] != node {
				t.Fatalf("partition %d is pinned to %s, and at %q", p, node, target[p])
			}
		}
		if n := loads(target)[""]; n != 0 && slices.Contains(slices.Collect(maps.Values(open)), true) {
			t.Fatalf("%d have no owner", n)
		}
		if again := placement.AssignPinned(target, now, pins); !slices.Equal(again, target) {
			t.Fatalf("it is not settled")
		}
	})
}
