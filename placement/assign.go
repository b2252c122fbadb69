package placement

import (
	"cmp"
	"math"
	"slices"
)

// Assign returns the owner of each partition. owners are the current owners: "" or a name that is
// not among the nodes means none. If no node is open, free partitions stay free. Assigning the
// result again changes nothing.
func Assign(owners []string, nodes []Node) []string {
	s := newSpread(owners, inOrder(nodes))
	s.house()
	for i := range s.nodes {
		s.lift(i)
	}
	for i := range s.nodes {
		s.shed(i)
	}
	out := make([]string, len(owners))
	for p, owner := range s.owner {
		if owner >= 0 {
			out[p] = s.nodes[owner].Name
		}
	}
	return out
}

// spread is an assignment in progress.
type spread struct {
	nodes []Node
	owner []int       // :: partition → node; -1 for none
	score [][]float64 // :: node, partition → score; 0 until drawnTo computes it
	load  []int       // :: node → partitions
	fair  []float64   // :: node → its share by weight
	free  []bool      // :: partition → it had no owner, so moving it costs nothing
}

func newSpread(owners []string, nodes []Node) *spread {
	s := &spread{
		nodes: nodes, owner: make([]int, len(owners)),
		score: make([][]float64, len(nodes)), load: make([]int, len(nodes)), fair: make([]float64, len(nodes)), free: make([]bool, len(owners)),
	}
	at := make(map[string]int, len(nodes))
	whole := 0.0
	for i, n := range nodes {
		at[n.Name] = i
		whole += n.weight()
	}
	for i, n := range nodes {
		s.fair[i] = float64(len(owners)) * n.weight() / whole
		s.score[i] = make([]float64, len(owners))
	}
	for p, name := range owners {
		i, known := at[name]
		if !known {
			s.owner[p], s.free[p] = -1, true
			continue
		}
		s.owner[p] = i
		s.load[i]++
	}
	return s
}

// drawnTo returns the score of a partition on a node. It is computed on demand, because it needs a
// hash and a logarithm, and a balanced assignment does not use it.
func (s *spread) drawnTo(i, p int) float64 {
	if s.score[i][p] == 0 {
		s.score[i][p] = s.nodes[i].score(p)
	}
	return s.score[i][p]
}

// most returns the largest number of partitions of a node.
func (s *spread) most(i int) int { return int(math.Ceil((1 + slack) * s.fair[i])) }

func (s *spread) move(p, to int) {
	if from := s.owner[p]; from >= 0 {
		s.load[from]--
	}
	s.owner[p] = to
	s.load[to]++
}

// house assigns an owner to each free partition.
func (s *spread) house() {
	for p, owner := range s.owner {
		if owner >= 0 {
			continue
		}
		if best := s.best(p, -1); best >= 0 {
			s.move(p, best)
		}
	}
}

// best returns the open node with room that has the highest score for a partition, except one node.
// If none has room, it returns the least full one; -1 if none is open.
func (s *spread) best(p, except int) int {
	best, least := -1, -1
	for i, n := range s.nodes {
		if n.Closed || i == except {
			continue
		}
		if s.load[i] < s.most(i) && (best < 0 || s.drawnTo(i, p) > s.drawnTo(best, p)) {
			best = i
		}
		if least < 0 || float64(s.load[i])/s.fair[i] < float64(s.load[least])/s.fair[least] {
			least = i
		}
	}
	if best < 0 {
		return least
	}
	return best
}

// lift gives a node with too few partitions its fair share: first free ones, then those of nodes
// that have too many, then those with the highest score.
func (s *spread) lift(to int) {
	enough := int(s.fair[to])
	if s.nodes[to].Closed || s.load[to] >= enough || float64(s.load[to]) >= (1-slack)*s.fair[to] {
		return
	}
	may := func(_, from int) bool { return from != to && !s.nodes[from].Closed }
	drawn := s.drawn(may, func(p, from int) float64 { return s.drawnTo(to, p) / s.drawnTo(from, p) })
	for _, should := range []func(p, from int) bool{
		func(p, from int) bool { return s.free[p] && float64(s.load[from]) > s.fair[from] },
		func(_, from int) bool { return s.load[from] > s.most(from) },
		func(_, from int) bool { return float64(s.load[from]) > s.fair[from] },
	} {
		for _, p := range drawn {
			from := s.owner[p]
			if s.load[to] < enough && may(p, from) && should(p, from) {
				s.move(p, to)
			}
		}
	}
}

// shed moves partitions away from a node that has too many.
func (s *spread) shed(from int) {
	if s.nodes[from].Closed || s.load[from] <= s.most(from) {
		return
	}
	may := func(_, owner int) bool { return owner == from }
	drawn := s.drawn(may, func(p, _ int) float64 {
		if best := s.best(p, from); best >= 0 {
			return s.drawnTo(best, p) / s.drawnTo(from, p)
		}
		return 0
	})
	for _, p := range drawn {
		if s.load[from] <= s.most(from) {
			break
		}
		if best := s.best(p, from); best >= 0 && s.load[best] < s.most(best) {
			s.move(p, best)
		}
	}
}

// drawn returns the partitions for which may returns true, in descending order of by.
func (s *spread) drawn(may func(p, owner int) bool, by func(p, owner int) float64) []int {
	type drawn struct {
		partition int
		by        float64
	}
	var all []drawn
	for p, owner := range s.owner {
		if owner >= 0 && may(p, owner) {
			all = append(all, drawn{p, by(p, owner)})
		}
	}
	slices.SortFunc(all, func(a, b drawn) int {
		return cmp.Or(cmp.Compare(b.by, a.by), cmp.Compare(a.partition, b.partition))
	})
	out := make([]int, len(all))
	for i, d := range all {
		out[i] = d.partition
	}
	return out
}
