package storage

import (
	"testing"
	"time"
)

func TestAShortageIsOverlookedForAWhile(t *testing.T) {
	var s shortage
	began := time.Unix(1000, 0)
	for _, c := range []struct {
		after       time.Duration
		first, over bool
	}{
		{0, true, false},
		{exhaustedGap, false, false},
		{2*exhaustedGap + 1, true, false}, // the first shortage ended
		{2*exhaustedGap + 1 + exhaustedGap, false, false},
		{2*exhaustedGap + 1 + 2*exhaustedGap, false, false},
		{2*exhaustedGap + 1 + 3*exhaustedGap, false, false},
		{2*exhaustedGap + 1 + 4*exhaustedGap, false, false},
		{2*exhaustedGap + 1 + 5*exhaustedGap, false, false},
		{2*exhaustedGap + 1 + exhaustedMax, false, false},
		{2*exhaustedGap + 2 + exhaustedMax, false, true},
	} {
		if first, over := s.note(began.Add(c.after)); first != c.first || over != c.over {
			t.Errorf("after %v: first %t, over %t", c.after, first, over)
		}
	}
}
