package model

import (
	"cmp"
	"slices"
)

// Position is an incarnation of one object and a version in it. Positions only grow.
type Position struct{ Incarnation, Version uint64 }

// Less reports whether p is before q.
func (p Position) Less(q Position) bool {
	if p.Incarnation != q.Incarnation {
		return p.Incarnation < q.Incarnation
	}
	return p.Version < q.Version
}

// Placed is a call whose answer shows the position of the object. The position was at
// most Before when the call took effect, and at least After afterwards. A read has
// Before equal to After; a write moves the object from Before to After.
type Placed struct {
	Span
	Before, After Position
	Tag           int // set by the caller
}

// Backward is a pair of calls that saw an object go back. Earlier had returned, with
// an After beyond Later's Before, when Later was invoked.
type Backward struct {
	Earlier, Later Placed
	Forever        bool // no later call saw the object as far again
}

// GoneBack returns the calls that saw an object go back, each with the earlier call
// that had seen the largest position. If it returns none, the positions agree with
// real time. It does not change calls.
func GoneBack(calls []Placed) []Backward {
	byInvoke, byReturn := slices.Clone(calls), slices.Clone(calls)
	slices.SortFunc(byInvoke, func(a, b Placed) int { return cmp.Compare(a.Invoke, b.Invoke) })
	slices.SortFunc(byReturn, func(a, b Placed) int { return cmp.Compare(a.Return, b.Return) })
	again := make([]Position, len(byInvoke)+1) // :: index in byInvoke → the largest position that calls from there on saw
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
