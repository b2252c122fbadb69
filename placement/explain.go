package placement

import (
	"cmp"
	"slices"
)

// Candidate is a node that a partition may go to.
type Candidate struct {
	Node  Node
	Score float64 // how much the partition is drawn to it; only the order matters
}

// Candidates are the nodes as a partition ranks them, the first choice first.
func Candidates(partition int, nodes []Node) []Candidate {
	out := make([]Candidate, 0, len(nodes))
	for _, n := range inOrder(nodes) {
		out = append(out, Candidate{Node: n, Score: n.score(partition)})
	}
	slices.SortStableFunc(out, func(a, b Candidate) int { return cmp.Compare(b.Score, a.Score) })
	return out
}

// With is nodes and one more, in place of the one of that name.
func With(nodes []Node, more Node) []Node {
	others := slices.DeleteFunc(slices.Clone(nodes), func(n Node) bool { return n.Name == more.Name })
	return append(others, more)
}
