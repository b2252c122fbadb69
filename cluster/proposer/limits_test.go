package proposer

import (
	"testing"

	"dormouse/agent"
)

func TestAnEntryHasRoomForTheLargestCommit(t *testing.T) {
	if CommitBytesMax < agent.CommitBytesMax || EntryBytesMax < CommitBytesMax || EntryBytesMax < BatchBytesMax+4<<10 {
		t.Error("an entry has no room for the largest commit that request validation accepts")
	}
	if QueueBytesMax < CommitBytesMax {
		t.Error("the queue has no room for one commit")
	}
}
