package workloadtest

import (
	"math/rand/v2"
	"slices"

	"pgregory.net/rapid"

	"dormouse/jepsen/history"
)

// Moment is one call of a made-up execution: it takes effect at its point, in
// the order of moments.
type Moment struct {
	process             int
	invoke, point, back int  // in milliseconds
	unknown             bool // the answer is lost
	Lost                bool // and there is no effect
}

// Draw is a number from low to high, both included.
type Draw func(low, high int) int

// Drawn returns a Draw whose numbers rapid chooses.
func Drawn(t *rapid.T) Draw {
	return func(low, high int) int { return rapid.IntRange(low, high).Draw(t, "drawn") }
}

// Thrown returns a Draw whose numbers r chooses.
func Thrown(r *rand.Rand) Draw {
	return func(low, high int) int { return low + r.IntN(high-low+1) }
}

// unknownMax bounds the unknown calls of an execution, as Keys.Doubt does.
const unknownMax = 8

// Execution makes up n calls in the order of their effects, with random
// stretching: calls of different processes overlap, those of one do not. One
// in so many is unknown, and may take effect long after its process went on.
func Execution(d Draw, n, oneUnknownIn int) []Moment {
	const processes = 9
	free := make([]int, processes) // when a process may call again
	all := make([]Moment, n)
	unknowns := 0
	for i := range all {
		m := Moment{point: 10 * (i + 1), process: d(0, processes-1)}
		m.invoke = max(m.point-d(0, 50), free[m.process])
		if m.invoke > m.point { // still busy: a process of its own
			m.process, m.invoke = processes+i, m.point-1
			free = append(free, make([]int, max(0, m.process+1-len(free)))...)
		}
		m.back = m.point + d(0, 50)
		if unknowns < unknownMax && d(1, oneUnknownIn) == oneUnknownIn {
			unknowns++
			m.unknown, m.Lost = true, d(0, 1) == 1
			m.back = d(m.invoke, m.point) // it gives up
		}
		free[m.process] = m.back + 1
		all[i] = m
	}
	return all
}

// Op is the call of a moment, with its answer.
func (m Moment) Op(call, key string, in, out any) history.Op {
	op := OK(m.process, m.invoke, m.back, call, key, in, out)
	if m.unknown {
		return Unknown(op)
	}
	return op
}

// Answered are the places of the calls that were answered, by f of them.
func Answered(s Script, f func(history.Op) bool) (places []int) {
	for i, op := range s {
		if op.Outcome == history.OK && f(op) {
			places = append(places, i)
		}
	}
	return places
}

// End is the time after all of an execution.
func (s Script) End() int {
	end := 10 * (len(s) + 1)
	for _, op := range s {
		end = max(end, int(op.Invoke.Milliseconds())) // moments may have been passed over
		if op.Return != history.Never {
			end = max(end, int(op.Return.Milliseconds()))
		}
	}
	return end + 1
}

// Copied is a script that can be changed.
func (s Script) Copied() Script { return slices.Clone(s) }
