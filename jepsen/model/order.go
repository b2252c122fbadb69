package model

import (
	"cmp"
	"slices"
)

// Position is a place in the life of one object: its incarnation, and how
// often it was written in that. Positions only grow.
type Position struct{ Incarnation, Version uint64 }

// Less orders positions.
func (p Position) Less(q Position) bool {
	if p.Incarnation != q.Incarnation {
		return p.Incarnation < q.Incarnation
	}
	return p.Version < q.Version
}

// Placed is a call whose answer tells where the object stood: at Before at the
// latest when the call took effect, and at After at the earliest when it had.
// A read stands where it reads; a write takes its object from Before to After.
type Placed struct {
	Span
	Before, After Position
	Tag           int // the caller's own
}

// Backward is two calls in real time whose object went back: Earlier had
// returned, having seen it past where Later found it.
type Backward struct {
	Earlier, Later Placed
	Forever        bool // no call after it saw the object as far again
}

// GoneBack finds calls that saw an object go back: for each such call the one
// before it that saw the most. Where it finds none, the positions agree with
// real time. Calls are not changed.
func GoneBack(calls []Placed) []Backward {
	byInvoke, byReturn := slices.Clone(calls), slices.Clone(calls)
	slices.SortFunc(byInvoke, func(a, b Placed) int { return cmp.Compare(a.Invoke, b.Invoke) })
	slices.SortFunc(byReturn, func(a, b Placed) int { return cmp.Compare(a.Return, b.Return) })
	again := make([]Position, len(byInvoke)+1) // :: place in byInvoke → the most that calls from there on saw
	for i := len(byInvoke) - 1; i >= 0; i-- {
		again[i] = again[i+1]
		if at := byInvoke[i].After; again[i].Less(at) {
			again[i] = at
		}
	}
	var found []Backward
	most, next := Placed{}, 0
	for i, call := range byInvoke {
		for ; next < len(byReturn) && byReturn[next].Return < call.Invoke; next++ {
			if most.After.Less(byReturn[next].After) {
				most = byReturn[next]
			}
		}
		if call.Before.Less(most.After) {
			found = append(found, Backward{Earlier: most, Later: call, Forever: again[i].Less(most.After)})
		}
	}
	return found
}
