package cluster

import (
	"testing"

	"dormouse/cluster/proposer"
)

func TestOneAppendEntriesCallHoldsAtMostItsBytes(t *testing.T) {
	if got := appendEntriesMax * proposer.EntryBytesMax; got > appendBytesMax || appendBytesMax > 64<<20 {
		t.Errorf("%d entries of %d bytes are %d, more than %d", appendEntriesMax, proposer.EntryBytesMax, got, appendBytesMax)
	}
	if appendEntriesMax < 2 {
		t.Errorf("MaxAppendEntries is %d", appendEntriesMax)
	}
}
