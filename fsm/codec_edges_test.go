package fsm_test

import (
	"testing"

	"dormouse/agent"
	"dormouse/fsm"
)

// What reads a row does not look whether its strings are UTF-8, so nothing that
// is not may come into the log.
func TestWhatIsNotUTF8DoesNotComeIntoTheLog(t *testing.T) {
	put := &agent.PutCheckpoint{Key: "k", Lifecycle: "caf\xe9"}
	if _, err := fsm.EncodeCommit(&agent.Commit{Scope: "s", Ops: []agent.Op{put}}, 0); err == nil {
		t.Error("it was encoded")
	}
	if _, err := fsm.EncodeCommit(&agent.Commit{Scope: "s", Principal: "\xff"}, 0); err == nil {
		t.Error("a principal was encoded")
	}
	defer func() {
		if recover() == nil {
			t.Error("a member was encoded")
		}
	}()
	newSubject(t).machine.EncodePutMember(agent.Member{ID: "n1", Zone: "\xff"})
}
