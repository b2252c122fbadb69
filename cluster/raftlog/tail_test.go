package raftlog

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/raft"
)

// A mark above the log's end would look like damage at the next start.
func TestTheMarkDoesNotFollowWhatALeaderRemoved(t *testing.T) {
	s, err := storesWith(t, &snapshotAt{}, entries(1, 1, 10))
	if err != nil {
		t.Fatal(err)
	}
	s.Mark.Mark.Store(3) // it lags
	if err := s.Logs.DeleteRange(6, 10); err != nil {
		t.Fatal(err)
	}
	if err := s.Mark.Save(); err != nil {
		t.Fatal(err)
	}
	if got := s.Mark.Mark.Load(); got != 5 || s.Truncations() != 1 {
		t.Errorf("the mark is %d after %d truncations, and the log ends at 5", got, s.Truncations())
	}
}

// A node whose tail is missing votes again once a snapshot, or the log that a leader sends, holds what it once
// acknowledged. That a leader replaces what is left of the log says nothing about what is missing.
func TestANodeWithoutItsTailVotesAgainWithoutItsEntries(t *testing.T) {
	for name, repair := range map[string]func(*testing.T, *Stores, *snapshotAt){
		"a snapshot": func(_ *testing.T, s *Stores, at *snapshotAt) {
			at.index, at.term = 20, 1
			s.Newest.expire()
			time.Sleep(2 * markEvery)
		},
		"another leader's entries": func(t *testing.T, s *Stores, _ *snapshotAt) {
			t.Helper()
			if err := s.Logs.DeleteRange(8, 10); err != nil {
				t.Fatal(err)
			}
			if s.MayVote() {
				t.Error("it may vote with 7 of 20 entries")
			}
			for _, part := range [][]*raft.Log{entries(2, 8, 19), entries(2, 20, 20)} {
				if s.MayVote() {
					t.Error("it may vote before entry 20")
				}
				if err := s.Logs.StoreLogs(part); err != nil {
					t.Fatal(err)
				}
			}
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			at := &snapshotAt{}
			s, err := storesWith(t, at, entries(1, 1, 10))
			if err != nil {
				t.Fatal(err)
			}
			s.Mark.Mark.Store(20)
			s.Mark.Damaged.Store(true)
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error, 1)
			go func() { done <- s.Run(ctx) }()
			if repair(t, s, at); !s.MayVote() {
				t.Errorf("%s: it may not vote: %v", name, s.Barred())
			}
			cancel()
			if err := <-done; err != nil {
				t.Error(err)
			}
		})
	}
}
