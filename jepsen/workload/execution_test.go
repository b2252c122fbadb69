package workload

import (
	"math/rand/v2"
	"slices"

	"pgregory.net/rapid"

	"dormouse/jepsen/history"
)

// moment is one call of a made-up execution: it takes effect at its point, in
// the order of moments.
type moment struct {
	process             int
	invoke, point, back int  // in milliseconds
	unknown             bool // nobody hears the answer
	lost                bool // and there is no effect
}

// draw is a number from low to high, both included.
type draw func(low, high int) int

func drawn(t *rapid.T) draw {
	return func(low, high int) int { return rapid.IntRange(low, high).Draw(t, "drawn") }
}

func thrown(r *rand.Rand) draw {
	return func(low, high int) int { return low + r.IntN(high-low+1) }
}

// unknownMax bounds the unknown calls of an execution, as Keys.Doubt does.
const unknownMax = 8

// execution makes up n calls in the order of their effects, with random
// stretching: calls of different processes overlap, those of one do not. One
// in so many is unknown, and may take effect long after its process went on.
func execution(d draw, n, oneUnknownIn int) []moment {
	const processes = 9
	free := make([]int, processes) // when a process may call again
	all := make([]moment, n)
	unknowns := 0
	for i := range all {
		m := moment{point: 10 * (i + 1), process: d(0, processes-1)}
		m.invoke = max(m.point-d(0, 50), free[m.process])
		if m.invoke > m.point { // still busy: a process of its own
			m.process, m.invoke = processes+i, m.point-1
			free = append(free, make([]int, max(0, m.process+1-len(free)))...)
		}
		m.back = m.point + d(0, 50)
		if unknowns < unknownMax && d(1, oneUnknownIn) == oneUnknownIn {
			unknowns++
			m.unknown, m.lost = true, d(0, 1) == 1
			m.back = d(m.invoke, m.point) // it gives up
		}
		free[m.process] = m.back + 1
		all[i] = m
	}
	return all
}

// op is the call of a moment, with its answer.
func (m moment) op(call, key string, in, out any) history.Op {
	op := ok(m.process, m.invoke, m.back, call, key, in, out)
	if m.unknown {
		return unknown(op)
	}
	return op
}

// answered are the places of the calls that were answered, by f of them.
func answered(s script, f func(history.Op) bool) (places []int) {
	for i, op := range s {
		if op.Outcome == history.OK && f(op) {
			places = append(places, i)
		}
	}
	return places
}

// end is the time after all of an execution.
func (s script) end() int {
	end := 10 * (len(s) + 1)
	for _, op := range s {
		end = max(end, int(op.Invoke.Milliseconds())) // moments may have been passed over
		if op.Return != history.Never {
			end = max(end, int(op.Return.Milliseconds()))
		}
	}
	return end + 1
}

// copied is a script that can be changed.
func (s script) copied() script { return slices.Clone(s) }
