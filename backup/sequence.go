package backup

import (
	"cmp"
	"slices"
)

// sequence returns segments in the order in which a replay needs them. Segments may overlap: a new
// leader ships entries again that the last one shipped.
type sequence struct {
	begun []SegmentRef // that begin at or before the entry that is needed; those that reach furthest come first
	later []SegmentRef // in the order of their first entries
}

func newSequence(all []SegmentRef) *sequence {
	later := slices.Clone(all)
	slices.SortStableFunc(later, func(a, b SegmentRef) int { return cmp.Compare(a.From, b.From) })
	return &sequence{later: later}
}

// holding returns the segments that hold the entry after pos, those that reach furthest first. pos must
// not be lower than in the call before. The result is valid until the next call.
func (s *sequence) holding(pos uint64) []SegmentRef {
	n := 0
	for n < len(s.later) && s.later[n].From <= pos+1 {
		n++
	}
	s.begun, s.later = append(s.begun, s.later[:n]...), s.later[n:]
	s.begun = slices.DeleteFunc(s.begun, func(r SegmentRef) bool { return r.To <= pos })
	slices.SortStableFunc(s.begun, func(a, b SegmentRef) int { return cmp.Compare(b.To, a.To) })
	return s.begun
}

// next returns the first entry of the segments that holding has not returned; false if there is none.
func (s *sequence) next() (from uint64, ok bool) {
	if len(s.later) == 0 {
		return 0, false
	}
	return s.later[0].From, true
}
