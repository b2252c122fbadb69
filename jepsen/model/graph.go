package model

import (
	"cmp"
	"slices"
	"time"
)

// Relation is the reason why one call comes before another.
type Relation uint8

const (
	// Overwrite (ww): both wrote the object, and the versions show the order.
	Overwrite Relation = iota
	// Read (wr): the second saw what the first wrote.
	Read
	// Missed (rw): the first did not see what the second wrote.
	Missed
	// RealTime (rt): the first had returned before the second was invoked.
	RealTime
)

// Edge is one reason why From comes before To.
type Edge struct {
	From, To int
	Why      Relation
	Object   string // the shared object; "" of RealTime
	Version  uint64 // of the object, for people: the version that From wrote or To wrote
}

// Span is the interval from the invocation to the return of a call. The return of an
// unknown call is history.Never.
type Span struct{ Invoke, Return time.Duration }

// Graph is a dependency graph of calls. An order that explains all calls exists if and
// only if the graph has no cycle (Adya; Elle).
type Graph struct {
	out [][]Edge // :: call → edges from it
}

// NewGraph returns a graph without edges; its calls are numbered from 0.
func NewGraph(calls int) *Graph { return &Graph{out: make([][]Edge, calls)} }

// Add adds an edge. It ignores an edge from a call to itself.
func (g *Graph) Add(e Edge) {
	if e.From != e.To {
		g.out[e.From] = append(g.out[e.From], e)
	}
}

// RealTime adds edges from calls to the calls invoked after their return. It omits
// edges that follow from others. A call gets edges only from returned calls that no
// other returned call came after; their number is at most the number of concurrent
// calls.
func (g *Graph) RealTime(spans []Span) {
	invoked, returned := make([]int, len(spans)), make([]int, len(spans))
	for i := range spans {
		invoked[i], returned[i] = i, i
	}
	slices.SortFunc(invoked, func(a, b int) int { return cmp.Compare(spans[a].Invoke, spans[b].Invoke) })
	slices.SortFunc(returned, func(a, b int) int { return cmp.Compare(spans[a].Return, spans[b].Return) })
	var newest []int // returned calls that no other returned call came after
	for _, call := range invoked {
		for len(returned) > 0 && spans[returned[0]].Return < spans[call].Invoke {
			done := returned[0]
			returned = returned[1:]
			newest = slices.DeleteFunc(newest, func(older int) bool { return spans[older].Return < spans[done].Invoke })
			newest = append(newest, done)
		}
		for _, before := range newest {
			g.Add(Edge{From: before, To: call, Why: RealTime})
		}
	}
}

// Cycle returns the shortest cycle as consecutive edges; nil if there is none. If
// realTime is false it ignores RealTime edges.
func (g *Graph) Cycle(realTime bool) []Edge {
	component, sizes := g.components(realTime)
	walk := walker{graph: g, realTime: realTime, component: component, came: make([]Edge, len(g.out)), seen: make([]int, len(g.out))}
	var best []Edge
	for start := range g.out {
		if sizes[component[start]] < 2 {
			continue
		}
		if cycle := walk.back(start, len(best)); cycle != nil {
			best = cycle
		}
		if len(best) == 2 || walk.steps > stepsMax {
			break
		}
	}
	return join(best)
}

// stepsMax bounds the search for the shortest cycle. A slightly longer cycle is as
// good a proof.
const stepsMax = 20_000_000

// components numbers the strongly connected components and returns their sizes. It is
// Tarjan's algorithm without recursion, because histories may be long.
func (g *Graph) components(realTime bool) (of, sizes []int) {
	const unseen = 0
	n := len(g.out)
	of = make([]int, n)
	index, low, next := make([]int, n), make([]int, n), make([]int, n)
	onStack := make([]bool, n)
	var stack, path []int
	count := 0
	for root := range n {
		if index[root] != unseen {
			continue
		}
		for path = append(path, root); len(path) > 0; {
			v := path[len(path)-1]
			if index[v] == unseen {
				count++
				index[v], low[v] = count, count
				stack, onStack[v] = append(stack, v), true
			}
			if next[v] < len(g.out[v]) {
				e := g.out[v][next[v]]
				next[v]++
				switch {
				case e.Why == RealTime && !realTime:
				case index[e.To] == unseen:
					path = append(path, e.To)
				case onStack[e.To]:
					low[v] = min(low[v], index[e.To])
				}
				continue
			}
			path = path[:len(path)-1]
			if len(path) > 0 {
				parent := path[len(path)-1]
				low[parent] = min(low[parent], low[v])
			}
			if low[v] != index[v] {
				continue
			}
			size := 0
			for member := -1; member != v; size++ {
				member = stack[len(stack)-1]
				stack, onStack[member] = stack[:len(stack)-1], false
				of[member] = len(sizes)
			}
			sizes = append(sizes, size)
		}
	}
	return of, sizes
}

// walker searches breadth first for cycles through a start.
type walker struct {
	graph     *Graph
	realTime  bool
	component []int
	came      []Edge // :: call → the edge by which this round reached it
	seen      []int  // :: call → the last round that reached it
	round     int
	steps     int
}

// back returns the shortest cycle through start if it is shorter than best. A best of
// 0 means that there is no cycle yet.
func (w *walker) back(start, best int) []Edge {
	w.round++
	type place struct{ call, far int }
	for queue := []place{{start, 0}}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		if best > 0 && at.far+1 >= best {
			return nil
		}
		for _, e := range w.graph.out[at.call] {
			w.steps++
			switch {
			case e.Why == RealTime && !w.realTime, w.component[e.To] != w.component[start]:
			case e.To == start:
				return w.trail(start, e)
			case w.seen[e.To] != w.round:
				w.seen[e.To], w.came[e.To] = w.round, e
				queue = append(queue, place{e.To, at.far + 1})
			}
		}
	}
	return nil
}

// trail returns the cycle that ends with the edge last back to start.
func (w *walker) trail(start int, last Edge) []Edge {
	cycle := []Edge{last}
	for at := last.From; at != start; at = w.came[at].From {
		cycle = append(cycle, w.came[at])
	}
	slices.Reverse(cycle)
	return cycle
}

// join merges consecutive real-time edges into one, because real time is transitive.
func join(cycle []Edge) []Edge {
	// A cycle never has real-time edges only, so it can start with another edge.
	first := slices.IndexFunc(cycle, func(e Edge) bool { return e.Why != RealTime })
	if first < 0 {
		return nil
	}
	joined := make([]Edge, 0, len(cycle))
	for _, e := range slices.Concat(cycle[first:], cycle[:first]) {
		if last := len(joined) - 1; last >= 0 && e.Why == RealTime && joined[last].Why == RealTime {
			joined[last].To = e.To
			continue
		}
		joined = append(joined, e)
	}
	return joined
}
