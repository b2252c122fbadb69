package command_test

import (
	"testing"

	"dormouse/agent"

	"dormouse/fsm/command"
)

// Decoding a row does not check its strings for UTF-8, so invalid strings must not enter the log.
func TestWhatIsNotUTF8DoesNotComeIntoTheLog(t *testing.T) {
	put := &agent.PutCheckpoint{Key: "k", Lifecycle: "caf\xe9"}
	if _, err := command.EncodeCommit(&agent.Commit{Scope: "s", Ops: []agent.Op{put}}, 0); err == nil {
		t.Error("it was encoded")
	}
	if _, err := command.EncodeCommit(&agent.Commit{Scope: "s", Principal: "\xff"}, 0); err == nil {
		t.Error("a principal was encoded")
	}
}
