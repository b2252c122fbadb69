package layout_test

import (
	"slices"
	"strconv"
	"testing"

	"dormouse/agent"
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

func TestAClaimNamesAPartitionInOneSpellingOnly(t *testing.T) {
	for _, n := range []int{0, 7, layout.Partitions - 1} {
		if got, ok := layout.ClaimedPartition(layout.PartitionClaim(n)); got != n || !ok {
			t.Errorf("the claim of partition %d names %d: %t", n, got, ok)
		}
	}
	for _, digits := range []string{"", "-1", "+7", "007", "7 ", strconv.Itoa(layout.Partitions)} {
		if n, ok := layout.ClaimedPartition(agent.PartitionClaimPrefix + digits); ok {
			t.Errorf("%q names partition %d", digits, n)
		}
	}
	if _, ok := layout.ClaimedPartition("7"); ok {
		t.Error("a claim without the prefix names a partition")
	}
}
