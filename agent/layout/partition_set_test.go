package layout_test

import (
	"slices"
	"testing"

	"dormouse/agent/layout"
)

func TestASetOfPartitionsListsWhatIsInItInOrder(t *testing.T) {
	var s layout.PartitionSet
	for _, n := range []int{layout.Partitions - 1, 64, 0, 63, 700, 64} {
		s.Add(n)
	}
	s.Remove(700)
	s.Remove(701) // not a member
	if got, want := slices.Collect(s.All()), []int{0, 63, 64, layout.Partitions - 1}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	for n := range s.All() {
		if n != 0 {
			t.Errorf("%d after the listing was ended", n)
		}
		break
	}
	for _, n := range []int{0, 63, 64, layout.Partitions - 1} {
		s.Remove(n)
	}
	if s != (layout.PartitionSet{}) {
		t.Errorf("%v are left", slices.Collect(s.All()))
	}
}
