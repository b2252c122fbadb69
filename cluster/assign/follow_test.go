package assign

import (
	"slices"
	"testing"

	"dormouse/agent/layout"
)

func TestAFollowerOfTheTableGetsAllAndThenWhatChanged(t *testing.T) {
	before := []*layout.Partition{{ID: 0}, {ID: 1, Owner: "a"}, {ID: 2}}
	if got := changedSince(nil, before); !slices.Equal(got, []layout.Partition{{ID: 0}, {ID: 1, Owner: "a"}, {ID: 2}}) {
		t.Errorf("at first: %+v", got)
	}
	now := slices.Clone(before)
	if got := changedSince(before, now); len(got) != 0 {
		t.Errorf("of what stayed: %+v", got)
	}
	now[1] = &layout.Partition{ID: 1, Owner: "b"}
	if got := changedSince(before, now); !slices.Equal(got, []layout.Partition{{ID: 1, Owner: "b"}}) {
		t.Errorf("of one that changed: %+v", got)
	}
}
