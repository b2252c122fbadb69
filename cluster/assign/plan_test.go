package assign

import (
	"maps"
	"slices"
	"testing"

	"dormouse/agent/layout"
	"dormouse/placement"
)

// owned is a table in which node a owns so many partitions.
func owned(n int) (table []*layout.Partition) {
	for i := range n {
		table = append(table, &layout.Partition{ID: i, Owner: "a", Epoch: uint64(i + 1), State: layout.PartitionOwned})
	}
	return table
}

// drained has the first so many drain for another node.
func drained(table []*layout.Partition, n int, to string) []*layout.Partition {
	for i := range n {
		table[i].State, table[i].To = layout.PartitionDraining, to
	}
	return table
}

// movesOf returns the moves of steps, in their order.
func movesOf(steps []step) (moves []layout.PartitionMove) {
	for _, s := range steps {
		moves = append(moves, s.moves...)
	}
	return moves
}

func TestWhatTheLeaderPlans(t *testing.T) {
	a, b := placement.Node{Name: "a"}, placement.Node{Name: "b"}
	const many = 4 * drainsMax // of which the half is b's to have
	free := owned(3)
	for i := range free {
		free[i] = &layout.Partition{ID: i, State: layout.PartitionFree}
	}
	for name, c := range map[string]struct {
		table  []*layout.Partition
		nodes  []placement.Node
		kept   bool // all of them were, lately
		action layout.PartitionAction
		to     string
		moves  int
	}{
		"what is free is given away":              {table: free, nodes: []placement.Node{a}, action: layout.PartitionAssign, to: "a", moves: 3},
		"no node may own it":                      {table: free},
		"all is as it should be":                  {table: owned(many), nodes: []placement.Node{a}},
		"no more drain at once than may":          {table: owned(many), nodes: []placement.Node{a, b}, action: layout.PartitionDrain, to: "b", moves: drainsMax},
		"those that drain count":                  {table: drained(owned(many), 28, "b"), nodes: []placement.Node{a, b}, action: layout.PartitionDrain, to: "b", moves: drainsMax - 28},
		"what drains is its next owner's already": {table: drained(owned(10), 5, "b"), nodes: []placement.Node{a, b}},
		"one that is closed gets nothing":         {table: owned(many), nodes: []placement.Node{a, {Name: "b", Closed: true}}},
		"what could not be let go is let alone":   {table: owned(many), nodes: []placement.Node{a, b}, kept: true},
		"what drains for one that is gone stays":  {table: drained(owned(10), 5, "b"), nodes: []placement.Node{a}, action: layout.PartitionKeep, moves: 5},
	} {
		t.Run(name, func(t *testing.T) {
			moves := movesOf(plan(c.table, c.nodes, rules{}, func(int) bool { return c.kept }, &target{}))
			if len(moves) != c.moves {
				t.Errorf("%d moves, want %d", len(moves), c.moves)
			}
			for _, m := range moves {
				if m.Action != c.action || m.To != c.to || m.Epoch != c.table[m.Partition].Epoch {
					t.Fatalf("%+v", m)
				}
			}
		})
	}
}

// What drains for a node that is supposed gone counts as its owner's again.
func TestWhoCountsAsOwnerOfWhatDrains(t *testing.T) {
	table := drained(owned(2), 1, "b")
	for _, c := range []struct {
		nodes []placement.Node
		want  []string
	}{
		{[]placement.Node{{Name: "a"}, {Name: "b"}}, []string{"b", "a"}},
		{[]placement.Node{{Name: "a"}}, []string{"a", "a"}},
	} {
		if target, owners := Target(table, c.nodes, nil); !slices.Equal(owners, c.want) || !slices.Equal(target, c.want) {
			t.Errorf("of %v: %v count, and %v is aimed at", c.nodes, owners, target)
		}
	}
}

// The leader says which rule moves a partition, and moves with one reason are one step.
func TestThePlanNamesTheRule(t *testing.T) {
	a, b := placement.Node{Name: "a"}, placement.Node{Name: "b"}
	free := owned(1)
	free[0] = &layout.Partition{ID: 0, State: layout.PartitionFree}
	for name, c := range map[string]struct {
		table []*layout.Partition
		nodes []placement.Node
		rules rules
		want  map[string]int // :: reason → moves
	}{
		"its owner is drained":            {owned(5), []placement.Node{b}, rules{drained: []layout.DrainedNode{{Node: "a"}}}, map[string]int{"node a is drained": 5}},
		"its next owner is drained":       {drained(owned(4), 2, "b"), []placement.Node{a}, rules{drained: []layout.DrainedNode{{Node: "b"}}}, map[string]int{"node b is drained": 2}},
		"it is pinned":                    {owned(1), []placement.Node{a, b}, rules{pins: []layout.Pin{{Partition: 0, Node: "b"}}}, map[string]int{"the partition is pinned to node b": 1}},
		"it is pinned and free":           {free, []placement.Node{a, b}, rules{pins: []layout.Pin{{Partition: 0, Node: "b"}}}, map[string]int{"the partition is pinned to node b": 1}},
		"it is pinned where it is":        {owned(1), []placement.Node{a, b}, rules{pins: []layout.Pin{{Partition: 0, Node: "a"}}}, map[string]int{}},
		"it is pinned to one that is off": {owned(1), []placement.Node{a}, rules{pins: []layout.Pin{{Partition: 0, Node: "b"}}}, map[string]int{}},
		"some of a drained one's are pinned": {
			owned(4),
			[]placement.Node{b, {Name: "c"}},
			rules{drained: []layout.DrainedNode{{Node: "a"}}, pins: []layout.Pin{{Partition: 1, Node: "c"}}},
			map[string]int{"node a is drained": 3, "the partition is pinned to node c": 1},
		},
	} {
		got := map[string]int{}
		for _, s := range plan(c.table, c.nodes, c.rules, func(int) bool { return false }, &target{}) {
			if got[s.why] != 0 {
				t.Errorf("%s: %q is two steps", name, s.why)
			}
			got[s.why] = len(s.moves)
		}
		if !maps.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// The leader aims elsewhere as soon as a pin changes.
func TestTheLeaderPlansAgainWhenAPinChanges(t *testing.T) {
	nodes := []placement.Node{{Name: "a"}, {Name: "b"}}
	owners := []string{"a", "a", "b", "b"}
	var aim target
	aim.of(owners, nodes, nil)
	if got := aim.of(owners, nodes, []layout.Pin{{Partition: 0, Node: "b"}}); got[0] != "b" {
		t.Errorf("%v", got)
	}
	if got := aim.of(owners, nodes, nil); !slices.Equal(got, owners) {
		t.Errorf("without the pin: %v", got)
	}
}
