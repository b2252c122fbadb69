package memstore

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"dormouse/agent"
)

// deletePrefix deletes all of a kind whose key begins with a prefix; the deletion is complete at once.
func deletePrefix(st *Store, s *scope, o *agent.DeletePrefix) agent.OpResult {
	d := &agent.PrefixDeletion{
		ID: fmt.Sprintf("%016x", st.newIncarnation()), Kind: o.Kind, Prefix: o.Prefix, Index: st.index.Load(), DeletedAt: s.now,
		CompletedAt: max(s.now, 1),
	}
	switch o.Kind {
	case agent.ChangedValue:
		d.Removed = removeUnder(s.values, o.Prefix)
	case agent.ChangedCheckpoint:
		d.Removed = removeUnder(s.checkpoints, o.Prefix)
		s.forgetReplaced()
	default:
		d.Removed = removeUnder(s.threads, o.Prefix)
	}
	s.deletions[d.ID] = d
	for ids := slices.Sorted(maps.Keys(s.deletions)); len(ids) > agent.DeletionsKeptMax; ids = ids[1:] {
		delete(s.deletions, ids[0])
	}
	return d
}

// removeUnder removes all keys with a prefix, and returns how many there were.
func removeUnder[V any](m map[string]V, prefix string) (n uint64) {
	maps.DeleteFunc(m, func(key string, _ V) bool {
		if !strings.HasPrefix(key, prefix) {
			return false
		}
		n++
		return true
	})
	return n
}

// receiptEnd returns when the receipt of a deletion is removed.
func receiptEnd(d *agent.PrefixDeletion) int64 {
	return d.CompletedAt + agent.DeletionTTL.Milliseconds()
}

func (s *scope) listDeletions(q *agent.ListDeletions) *agent.DeletionList {
	ids, next := sorted(s.deletions, q.Page)
	list := &agent.DeletionList{Next: next}
	for _, id := range ids {
		list.Items = append(list.Items, *s.deletions[id])
	}
	return list
}
