package changes

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"dormouse/jepsen/history"
	"dormouse/jepsen/workload"
)

// judgeLists checks each list against the state at its index.
func (j *judge) judgeLists() {
	ofGroup := map[string][]*known{} // the puts
	for _, c := range slices.SortedFunc(maps.Keys(j.changes), func(a, b change) int { return cmp.Compare(a.key, b.key) }) {
		if !c.deleted {
			ofGroup[groupOf(c.key)] = append(ofGroup[groupOf(c.key)], j.changes[c])
		}
	}
	for _, l := range j.lists {
		has := map[string]bool{}
		for _, key := range l.out.Keys {
			has[key] = true
			if groupOf(key) != l.group || j.changes[change{key, false}] == nil {
				j.add("value from nowhere", []int{l.call}, "%s found %q in group %s, which no commit put there", workload.NameOf(j.ops[l.call]), key, l.group)
			}
		}
		for _, put := range ofGroup[l.group] {
			j.judgeListed(l, put, has[put.key])
		}
	}
}

// judgeListed checks whether a list should have had a value.
func (j *judge) judgeListed(l oneList, put *known, has bool) {
	name := workload.NameOf(j.ops[l.call])
	gone := j.changes[change{put.key, true}]
	mustBePut, mayBePut := j.at(l, put)
	mustBeGone, mayBeGone := j.at(l, gone)
	calls := []int{l.call}
	if put.call >= 0 {
		calls = append(calls, put.call)
	}
	if gone != nil && gone.call >= 0 {
		calls = append(calls, gone.call)
	}
	switch {
	case has && j.refused(put.call):
		j.add("refused value listed", calls, "%s found %q, whose commit %s", name, put.key, j.why(put.call))
	case has && !mayBePut:
		j.add("listed early", calls, "%s at index %d found %q, which was put %s", name, l.out.Index, put.key, j.when(put))
	case has && mustBeGone:
		j.add("deleted value listed", calls, "%s at index %d found %q, which was deleted %s", name, l.out.Index, put.key, j.when(gone))
	case !has && mustBePut && !mayBeGone:
		j.add("value not listed", calls, "%s at index %d did not find %q, which was put %s", name, l.out.Index, put.key, j.when(put))
	}
}

// at reports whether a list must show a change, and whether it may: by their indexes, or by the times of
// the calls if the index of the change is not known. k may be nil.
func (j *judge) at(l oneList, k *known) (must, may bool) {
	switch {
	case k == nil:
		return false, false
	case k.index > 0:
		return k.index <= l.out.Index, k.index <= l.out.Index
	case j.refused(k.call):
		return false, false
	default: // a commit without an index makes it
		commit, list := j.ops[k.call], j.ops[l.call]
		return commit.Outcome == history.OK && commit.Return < list.Invoke, commit.Invoke < list.Return
	}
}

// when describes when a change was made.
func (j *judge) when(k *known) string {
	if k.index > 0 {
		return fmt.Sprintf("at index %d", k.index)
	}
	return "by " + workload.NameOf(j.ops[k.call])
}
