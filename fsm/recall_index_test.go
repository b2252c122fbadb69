package fsm_test

import (
	"slices"
	"testing"

	"dormouse/agent"
)

// A memory that is deleted right after it was written leaves the index that a recall has built.
func TestTheNewestMemoryLeavesTheIndexWhenItIsDeleted(t *testing.T) {
	r := newSubject(t)
	r.record()
	write := func(id string) {
		t.Helper()
		do[*agent.MemoryResult](r, &agent.WriteMemory{Agent: "a", ID: id, Content: "tea"})
	}
	recalled := func(want ...string) {
		t.Helper()
		var got []string
		for _, item := range read[*agent.Recalled](r, &agent.Recall{Agent: "a", Query: "tea", Mode: agent.ModeText}).Items {
			got = append(got, item.Memory.ID)
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("recalled %q, want %q", got, want)
		}
	}
	write("one")
	write("two")
	recalled("one", "two")
	do[*agent.DeleteResult](r, &agent.DeleteMemory{Agent: "a", ID: "two"})
	recalled("one")
	write("two")
	recalled("one", "two")
}
