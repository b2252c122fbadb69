package doctor

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"dormouse/api/document"
	"dormouse/cmd/dormctl/kit"
	"dormouse/internal/pause"
)

// Bounds of the comparison of the nodes' states.
const (
	stateTries   = 20 // until all nodes are at one index
	stateEvery   = 300 * time.Millisecond
	stateTimeout = 10 * time.Minute // of one node, which reads all of its data
)

// gatherStates asks all nodes for the hash of their rows, until all answer for one index.
func gatherStates(ctx context.Context, client *kit.Web, each func(func(n *nodeFacts)), f *facts) {
	f.StatesAsked = true
	for range stateTries {
		each(func(n *nodeFacts) { n.State, n.StateErr = stateOf(ctx, client, n) })
		if oneIndex(f) || !pause.For(ctx, stateEvery) {
			return
		}
	}
}

func stateOf(ctx context.Context, w *kit.Web, n *nodeFacts) (*document.StateSum, error) {
	raw, err := w.GetFor(ctx, n.Member.HTTPAddr, "/v1/cluster/state-sum", stateTimeout)
	if err != nil {
		return nil, err
	}
	sum := new(document.StateSum)
	if err := json.Unmarshal(raw, sum); err != nil {
		return nil, fmt.Errorf("read the hash of the state: %w", err)
	}
	return sum, nil
}

// oneIndex reports whether all nodes that answered told the state of one index.
func oneIndex(f *facts) bool {
	var first *document.StateSum
	for _, n := range f.Nodes {
		switch {
		case n.State == nil:
		case first == nil:
			first = n.State
		case n.State.Index != first.Index:
			return false
		}
	}
	return true
}

// checkState compares the rows of all nodes with those that most of them have. It blames a node only if a
// majority of all nodes with data agrees on other rows: nothing else shows which rows are right.
func checkState(f *facts, found *findings) {
	if !f.StatesAsked {
		return
	}
	if !oneIndex(f) {
		found.add(warning, "state", "", "run doctor again when there are fewer writes", "the states could not be compared: the nodes never had one index, in %d tries", stateTries)
		return
	}
	votes, nodes := map[string]int{}, 0
	var most *document.StateSum
	for _, n := range f.Nodes {
		if !n.Member.Host {
			nodes++
		}
		if n.StateErr != nil {
			found.add(warning, "state", n.Member.ID, "repair what keeps the node from answering, and run doctor again", "its state could not be compared: %v", n.StateErr)
		}
		if n.State == nil {
			continue
		}
		if votes[n.State.Hash]++; most == nil || votes[n.State.Hash] > votes[most.Hash] {
			most = n.State
		}
	}
	if most != nil && len(votes) > 1 && 2*votes[most.Hash] <= nodes {
		found.add(problem, "state", "", "replace no node: compare each with a backup, and ask for help",
			"the rows of the nodes differ at index %d, and no majority of the %d nodes agrees", most.Index, nodes)
		return
	}
	for _, n := range f.Nodes {
		if n.State != nil && n.State.Hash != most.Hash {
			found.add(problem, "state", n.Member.ID, "take a backup of node "+most.Node+", then replace the node: remove it, and let it join with an empty data directory",
				"its rows differ from those of node %s at index %d: %s", most.Node, most.Index, strings.Join(differing(most.Kinds, n.State.Kinds), ", "))
		}
	}
}

// differing returns the kinds of rows whose sums are not equal, sorted.
func differing(a, b []document.KindSum) []string {
	var kinds []string
	for _, one := range [][2][]document.KindSum{{a, b}, {b, a}} {
		for _, k := range one[0] {
			if !slices.Contains(one[1], k) && !slices.Contains(kinds, k.Kind) {
				kinds = append(kinds, k.Kind)
			}
		}
	}
	slices.Sort(kinds)
	return kinds
}
