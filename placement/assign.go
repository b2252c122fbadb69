package placement

import (
	"cmp"
	"math"
	"slices"
)

// Assign returns the owner of each partition, without pins; see AssignPinned.
func Assign(owners []string, nodes []Node) []string { return AssignPinned(owners, nodes, nil) }

// AssignPinned returns the owner of each partition. owners are the current owners: "" or a name that is
// not among the nodes means none. If no node is open, free partitions stay free. Assigning the
// result again changes nothing.
//
// pins names the node that is to own a partition. It has no effect while that node is not among
// the nodes, or is closed and does not own the partition. A pinned partition counts for the share
// of its node, so that the node gets fewer others.
func AssignPinned(owners []string, nodes []Node, pins map[int]string) []string {
	a := newAssignment(owners, inOrder(nodes), pins)
	a.assignFree()
	for i := range a.nodes {
		a.raiseToShare(i)
	}
	for i := range a.nodes {
		a.lowerToMax(i)
	}
	out := make([]string, len(owners))
	for p, owner := range a.owner {
		if owner >= 0 {
			out[p] = a.nodes[owner].Name
		}
	}
	return out
}

// assignment is the state of one Assign.
type assignment struct {
	nodes []Node
	owner []int       // :: partition → node; -1 for none
	score [][]float64 // :: node, partition → score; 0 until scoreOn computes it
	load  []int       // :: node → partitions
	fair  []float64   // :: node → its share; see fairShares
	free  []bool      // :: partition → it had no owner, so moving it costs nothing
	fixed []bool      // :: partition → it is pinned to its owner
}

func newAssignment(owners []string, nodes []Node, pins map[int]string) *assignment {
	a := &assignment{
		nodes: nodes, owner: make([]int, len(owners)),
		score: make([][]float64, len(nodes)), load: make([]int, len(nodes)),
		free: make([]bool, len(owners)), fixed: make([]bool, len(owners)),
	}
	at := make(map[string]int, len(nodes))
	for i, n := range nodes {
		at[n.Name] = i
		a.score[i] = make([]float64, len(owners))
	}
	pinned := make([]int, len(nodes))
	for p, name := range owners {
		i, known := at[name]
		if to, exists := at[pins[p]]; exists && (!nodes[to].Closed || known && i == to) {
			i, known, a.fixed[p] = to, true, true
			pinned[to]++
		}
		if !known {
			a.owner[p], a.free[p] = -1, true
			continue
		}
		a.owner[p] = i
		a.load[i]++
	}
	a.fair = fairShares(nodes, len(owners), pinned)
	return a
}

// fairShares returns each node's share of the partitions: by weight, except that a node to which
// more are pinned has those, and the others share the rest.
func fairShares(nodes []Node, partitions int, pinned []int) []float64 {
	fair, over := make([]float64, len(nodes)), make([]bool, len(nodes))
	for more := true; more; {
		more = false
		rest, total := float64(partitions), 0.0
		for i, n := range nodes {
			if over[i] {
				rest -= fair[i]
			} else {
				total += n.weight()
			}
		}
		for i, n := range nodes {
			if !over[i] {
				fair[i] = rest * n.weight() / total
			}
		}
		for i := range nodes {
			if !over[i] && float64(pinned[i]) > fair[i] {
				fair[i], over[i], more = float64(pinned[i]), true, true
			}
		}
	}
	return fair
}

// scoreOn returns the score of a partition on a node. It is computed on demand, because it needs a
// hash and a logarithm, and a balanced assignment does not use it.
func (a *assignment) scoreOn(i, p int) float64 {
	if a.score[i][p] == 0 {
		a.score[i][p] = a.nodes[i].score(p)
	}
	return a.score[i][p]
}

// maxLoad returns the largest number of partitions of a node.
func (a *assignment) maxLoad(i int) int { return int(math.Ceil((1 + slack) * a.fair[i])) }

func (a *assignment) move(p, to int) {
	if from := a.owner[p]; from >= 0 {
		a.load[from]--
	}
	a.owner[p] = to
	a.load[to]++
}

// assignFree assigns an owner to each free partition.
func (a *assignment) assignFree() {
	for p, owner := range a.owner {
		if owner >= 0 {
			continue
		}
		if best := a.best(p, -1); best >= 0 {
			a.move(p, best)
		}
	}
}

// best returns the open node with room that has the highest score for a partition, except one node.
// If none has room, it returns the least full one; -1 if none is open.
func (a *assignment) best(p, except int) int {
	best, least := -1, -1
	for i, n := range a.nodes {
		if n.Closed || i == except {
			continue
		}
		if a.load[i] < a.maxLoad(i) && (best < 0 || a.scoreOn(i, p) > a.scoreOn(best, p)) {
			best = i
		}
		if least < 0 || float64(a.load[i])/a.fair[i] < float64(a.load[least])/a.fair[least] {
			least = i
		}
	}
	if best < 0 {
		return least
	}
	return best
}

// raiseToShare gives a node with too few partitions its fair share: first free ones, then those
// of nodes that have too many, then those with the highest score.
func (a *assignment) raiseToShare(to int) {
	enough := int(a.fair[to])
	if a.nodes[to].Closed || a.load[to] >= enough || float64(a.load[to]) >= (1-slack)*a.fair[to] {
		return
	}
	may := func(p, from int) bool { return from != to && !a.nodes[from].Closed && !a.fixed[p] }
	ranked := a.ranked(may, func(p, from int) float64 { return a.scoreOn(to, p) / a.scoreOn(from, p) })
	for _, should := range []func(p, from int) bool{
		func(p, from int) bool { return a.free[p] && float64(a.load[from]) > a.fair[from] },
		func(_, from int) bool { return a.load[from] > a.maxLoad(from) },
		func(_, from int) bool { return float64(a.load[from]) > a.fair[from] },
	} {
		for _, p := range ranked {
			from := a.owner[p]
			if a.load[to] < enough && may(p, from) && should(p, from) {
				a.move(p, to)
			}
		}
	}
}

// lowerToMax moves partitions away from a node that has too many.
func (a *assignment) lowerToMax(from int) {
	if a.nodes[from].Closed || a.load[from] <= a.maxLoad(from) {
		return
	}
	may := func(p, owner int) bool { return owner == from && !a.fixed[p] }
	ranked := a.ranked(may, func(p, _ int) float64 {
		if best := a.best(p, from); best >= 0 {
			return a.scoreOn(best, p) / a.scoreOn(from, p)
		}
		return 0
	})
	for _, p := range ranked {
		if a.load[from] <= a.maxLoad(from) {
			break
		}
		if best := a.best(p, from); best >= 0 && a.load[best] < a.maxLoad(best) {
			a.move(p, best)
		}
	}
}

// ranked returns the partitions for which may returns true, in descending order of by.
func (a *assignment) ranked(may func(p, owner int) bool, by func(p, owner int) float64) []int {
	type ranked struct {
		partition int
		by        float64
	}
	var all []ranked
	for p, owner := range a.owner {
		if owner >= 0 && may(p, owner) {
			all = append(all, ranked{p, by(p, owner)})
		}
	}
	slices.SortFunc(all, func(x, y ranked) int {
		return cmp.Or(cmp.Compare(y.by, x.by), cmp.Compare(x.partition, y.partition))
	})
	out := make([]int, len(all))
	for i, d := range all {
		out[i] = d.partition
	}
	return out
}
