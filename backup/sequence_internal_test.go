package backup

import (
	"fmt"
	"testing"
)

// A replay needs the segments in the order of their entries, and of those that overlap the one that
// reaches furthest.
func TestSegmentsComeInTheOrderOfTheirEntries(t *testing.T) {
	all := []SegmentRef{{From: 41, To: 50}, {From: 1, To: 10}, {From: 5, To: 12}, {From: 5, To: 30}, {From: 11, To: 20}, {From: 25, To: 26}}
	s := newSequence(all)
	for _, c := range []struct {
		pos  uint64
		want string
		next uint64 // 0 if nothing follows
	}{
		{0, "[1-10]", 5},
		{4, "[5-30 5-12 1-10]", 11},
		{9, "[5-30 5-12 1-10]", 11},
		{10, "[5-30 11-20 5-12]", 25},
		{12, "[5-30 11-20]", 25},
		{30, "[]", 41},
		{40, "[41-50]", 0},
		{50, "[]", 0},
	} {
		var got []string
		for _, r := range s.holding(c.pos) {
			got = append(got, fmt.Sprintf("%d-%d", r.From, r.To))
		}
		next, ok := s.next()
		if fmt.Sprint(got) != c.want || next != c.next || ok != (c.next != 0) {
			t.Errorf("after entry %d: %v, and then %d, want %s and %d", c.pos, got, next, c.want, c.next)
		}
	}
	if fmt.Sprint(all[0].From, all[1].From) != "41 1" {
		t.Errorf("the caller's segments were sorted: %v", all)
	}
}
