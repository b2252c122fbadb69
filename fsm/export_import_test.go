package fsm

import (
	"slices"

	"dormouse/fsm/kv"
	"dormouse/fsm/scoperow"
	"dormouse/fsm/txn"
)

// MovedKinds returns the kinds that an export has.
func MovedKinds() []string { return txn.SortedKeys(scoperow.Moved) }

// StayingKinds returns the kinds of a scope that an export lacks.
func StayingKinds() []string { return txn.SortedKeys(scoperow.Staying) }

// ScopedKinds returns the kinds that are deleted with their scope.
func ScopedKinds() []string {
	kinds := slices.Clone(kv.ScopedKinds)
	slices.Sort(kinds)
	return kinds
}
