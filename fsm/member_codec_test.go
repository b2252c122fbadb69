package fsm_test

import (
	"testing"

	"dormouse/agent/layout"
)

func TestAMemberThatIsNotUTF8DoesNotComeIntoTheLog(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a member was encoded")
		}
	}()
	newSubject(t).machine.EncodePutMember(layout.Member{ID: "n1", Zone: "\xff"})
}
