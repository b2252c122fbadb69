package cluster_test

import (
	"testing"

	"dormouse/agent"
	"dormouse/cluster"
)

func TestOneAppendEntriesCallHoldsAtMostItsBytes(t *testing.T) {
	if got := cluster.AppendEntriesMax * cluster.EntryBytesMax; got > cluster.AppendBytesMax || cluster.AppendBytesMax > 64<<20 {
		t.Errorf("%d entries of %d bytes are %d, more than %d", cluster.AppendEntriesMax, cluster.EntryBytesMax, got, cluster.AppendBytesMax)
	}
	if cluster.AppendEntriesMax < 2 {
		t.Errorf("MaxAppendEntries is %d", cluster.AppendEntriesMax)
	}
	if cluster.CommitBytesMax < agent.CommitBytesMax || cluster.EntryBytesMax < cluster.CommitBytesMax || cluster.EntryBytesMax < cluster.BatchBytesMax+4<<10 {
		t.Error("an entry has no room for the largest commit that the door lets in")
	}
	if cluster.QueueBytesMax < cluster.CommitBytesMax {
		t.Error("the queue has no room for one commit")
	}
}
