package placement

import (
	"cmp"
	"slices"
)

// Candidate is a possible owner of a partition.
type Candidate struct {
	Node  Node
	Score float64 // the partition's score on the node; only the order matters
}

// Candidates returns the nodes in a partition's order of preference.
func Candidates(partition int, nodes []Node) []Candidate {
	out := make([]Candidate, 0, len(nodes))
	for _, n := range inOrder(nodes) {
		out = append(out, Candidate{Node: n, Score: n.score(partition)})
	}
	slices.SortStableFunc(out, func(a, b Candidate) int { return cmp.Compare(b.Score, a.Score) })
	return out
}

// With returns nodes and one more, which replaces the one of that name.
func With(nodes []Node, more Node) []Node {
	others := slices.DeleteFunc(slices.Clone(nodes), func(n Node) bool { return n.Name == more.Name })
	return append(others, more)
}
