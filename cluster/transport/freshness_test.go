package transport

import (
	"testing"
	"time"

	"github.com/hashicorp/raft"
)

// A step is a call of a leader, one second after the step before, and what this node has applied then.
type step struct {
	term, prevTerm, prev, commit uint64
	entry                        uint64 // term of the entry of the call; 0: none
	applied                      uint64
	fresh                        int // the step that UpToDate returns afterwards; -1: none
}

func TestANodeIsUpToDateOnceItHasAppliedACommitIndexOfItsLeader(t *testing.T) {
	for name, steps := range map[string][]step{
		"all is applied": {
			{term: 2, prevTerm: 2, prev: 9, commit: 9, applied: 9, fresh: 0},
			{term: 2, prevTerm: 2, prev: 9, commit: 9, applied: 9, fresh: 1},
			{term: 2, prevTerm: 2, prev: 9, entry: 2, commit: 9, applied: 9, fresh: 2},
		},
		"a heartbeat proves nothing": {
			{term: 2, applied: 9, fresh: -1},
			{term: 2, prevTerm: 2, prev: 9, commit: 9, applied: 9, fresh: 1},
			{term: 2, applied: 9, fresh: 1},
		},
		"it catches up": {
			{term: 2, prevTerm: 2, prev: 9, commit: 9, applied: 3, fresh: -1},
			{term: 2, prevTerm: 2, prev: 12, commit: 12, applied: 8, fresh: -1},
			{term: 2, prevTerm: 2, prev: 15, commit: 15, applied: 9, fresh: 0},
			{term: 2, prevTerm: 2, prev: 15, commit: 15, applied: 14, fresh: 0},
			{term: 2, prevTerm: 2, prev: 15, commit: 15, applied: 15, fresh: 4},
		},
		"it falls behind": {
			{term: 2, prevTerm: 2, prev: 9, commit: 9, applied: 9, fresh: 0},
			{term: 2, prevTerm: 2, prev: 11, commit: 11, applied: 9, fresh: 0},
			{term: 2, prevTerm: 2, prev: 13, commit: 13, applied: 10, fresh: 0},
			{term: 2, prevTerm: 2, prev: 13, commit: 13, applied: 11, fresh: 1},
		},
		"a new leader does not know yet what was committed": {
			{term: 2, prevTerm: 2, prev: 12, commit: 12, applied: 9, fresh: -1},
			{term: 3, prevTerm: 2, prev: 12, commit: 9, applied: 9, fresh: -1},
			{term: 3, prevTerm: 2, prev: 12, entry: 3, commit: 9, applied: 9, fresh: -1},
			{term: 3, prevTerm: 3, prev: 13, commit: 9, applied: 9, fresh: -1},
			{term: 3, prevTerm: 3, prev: 13, commit: 13, applied: 12, fresh: 0},
			{term: 3, prevTerm: 3, prev: 13, commit: 13, applied: 13, fresh: 5},
		},
		"an earlier leader does not count": {
			{term: 3, prevTerm: 3, prev: 13, commit: 13, applied: 13, fresh: 0},
			{term: 2, prevTerm: 2, prev: 9, commit: 9, applied: 13, fresh: 0},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var f freshness
			began := time.Unix(1_800_000_000, 0)
			for i, s := range steps {
				call := &raft.AppendEntriesRequest{Term: s.term, PrevLogTerm: s.prevTerm, PrevLogEntry: s.prev, LeaderCommitIndex: s.commit}
				if s.entry != 0 {
					call.Entries = []*raft.Log{{Index: s.prev + 1, Term: s.entry}}
				}
				applied := func(index uint64) bool { return index <= s.applied }
				f.note(call, began.Add(time.Duration(i)*time.Second), applied)
				var expected time.Time
				if s.fresh >= 0 {
					expected = began.Add(time.Duration(s.fresh) * time.Second)
				}
				if at := f.time(applied); !at.Equal(expected) {
					t.Errorf("step %d: up to date at %v, expected %v", i, at, expected)
				}
			}
		})
	}
}

// An index counts as soon as it is applied, whether or not a leader calls again.
func TestANodeThatHasLedWasUpToDate(t *testing.T) {
	var f freshness
	began := time.Unix(1_800_000_000, 0)
	applied := uint64(3)
	reached := func(index uint64) bool { return index <= applied }
	f.note(&raft.AppendEntriesRequest{Term: 2, PrevLogTerm: 2, PrevLogEntry: 9, LeaderCommitIndex: 9}, began, reached)
	if at := f.time(reached); !at.IsZero() {
		t.Errorf("at entry 3 of 9: %v", at)
	}
	applied = 9
	if at := f.time(reached); !at.Equal(began) {
		t.Errorf("at entry 9 of 9: %v", at)
	}
	f.led(began.Add(time.Minute))
	f.led(began.Add(time.Second))
	if at := f.time(reached); !at.Equal(began.Add(time.Minute)) {
		t.Errorf("after it has led for a minute: %v", at)
	}
}
