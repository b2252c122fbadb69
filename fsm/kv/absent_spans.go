package kv

import (
	"slices"
)

// span contains the keys lower <= key < upper.
type span struct{ lower, upper string }

// absentSpans are disjoint spans of keys, in order, in which an entry sees no row. So a commit that looks for keys
// passes those that its entry has deleted in one step.
type absentSpans struct {
	all    []span
	shared bool // a mark has all too, so it must not change
}

// find returns the index of the first span that ends after the key.
func (a *absentSpans) find(key string) int {
	i, _ := slices.BinarySearchFunc(a.all, key, func(s span, key string) int {
		if s.upper <= key {
			return -1
		}
		return 1
	})
	return i
}

// end returns the end of the span that contains the key.
func (a *absentSpans) end(key string) (end string, ok bool) {
	if i := a.find(key); i < len(a.all) && a.all[i].lower <= key {
		return a.all[i].upper, true
	}
	return "", false
}

// add adds a span, and merges it with those that it meets.
func (a *absentSpans) add(s span) {
	from := a.find(s.lower)
	if from > 0 && a.all[from-1].upper == s.lower {
		from--
	}
	to := from
	for ; to < len(a.all) && a.all[to].lower <= s.upper; to++ {
		s.lower, s.upper = min(s.lower, a.all[to].lower), max(s.upper, a.all[to].upper)
	}
	a.replace(from, to, s)
}

// cut takes a key, which has a row now, out of its span.
func (a *absentSpans) cut(key string) {
	i := a.find(key)
	if i == len(a.all) || a.all[i].lower > key {
		return
	}
	var rest []span
	if a.all[i].lower < key {
		rest = append(rest, span{a.all[i].lower, key})
	}
	if after := key + "\x00"; after < a.all[i].upper {
		rest = append(rest, span{after, a.all[i].upper})
	}
	a.replace(i, i+1, rest...)
}

func (a *absentSpans) replace(from, to int, by ...span) {
	if a.shared {
		a.all, a.shared = slices.Clone(a.all), false
	}
	a.all = slices.Replace(a.all, from, to, by...)
}

// mark returns the spans of this moment, for reset.
func (a *absentSpans) mark() []span {
	a.shared = true
	return a.all
}

// reset returns to the spans of a mark.
func (a *absentSpans) reset(all []span) { a.all, a.shared = all, true }
