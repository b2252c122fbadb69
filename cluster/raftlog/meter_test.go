package raftlog

import (
	"testing"

	"github.com/hashicorp/raft"
)

func TestTheLogIsMeasuredInBytes(t *testing.T) {
	const size, count = 10_000, 1000
	at := &snapshotAt{}
	var logs []*raft.Log
	for index := uint64(1); index <= count; index++ {
		logs = append(logs, &raft.Log{Index: index, Term: 1, Type: raft.LogNoop, Data: make([]byte, size)})
	}
	s, err := storesWith(t, at, logs) // stored, then opened again: both count
	if err != nil {
		t.Fatal(err)
	}
	within := func(what string, got, want int64) {
		t.Helper()
		const slack = 2*meterGrain + 2*size
		if got < want-slack || got > want+slack {
			t.Errorf("%s: %d bytes, want about %d", what, got, want)
		}
	}
	_, total := s.LogBytes()
	within("total", total, size*count)
	at.index, at.term = 600, 1
	s.Newest.expire()
	since, total := s.LogBytes()
	within("since the snapshot", since, size*400)
	within("total", total, size*count)
	within("the newest entries that hold 1 MB", int64(s.Trailing(1_000_000))*size, 1_000_000)
	if err := s.Logs.DeleteRange(1, 500); err != nil {
		t.Fatal(err)
	}
	_, total = s.LogBytes()
	within("after compaction", total, size*500)
}
