package fsm

import (
	"slices"

	"dormouse/fsm/kv"
	"dormouse/fsm/txn"
)

// MovedKinds are the kinds that an export has.
func MovedKinds() []string { return txn.SortedKeys(movedKinds) }

// StayingKinds are the kinds of a scope that an export does not have.
func StayingKinds() []string { return txn.SortedKeys(stayingKinds) }

// ScopedKinds are the kinds that go with their scope.
func ScopedKinds() []string {
	kinds := slices.Clone(kv.ScopedKinds)
	slices.Sort(kinds)
	return kinds
}

var CheckScopeRow = checkScopeRow
