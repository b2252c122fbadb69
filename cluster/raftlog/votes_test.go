package raftlog

import (
	"errors"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/hashicorp/raft"
)

// The engines below may be able to go on. The log would have a gap.
func TestNothingIsStoredAfterALeadersWriteThatFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine := &ailing{InmemStore: raft.NewInmemStore(), fail: syscall.EIO}
		logs := newLeaderLogs(engine)
		if err := logs.StoreOwn(commands(1, 1)); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		engine.fail = nil
		for what, err := range map[string]error{
			"own entries":      logs.StoreOwn(commands(2, 2)),
			"another leader's": logs.StoreLogs(commands(2, 2)),
			"a new end":        logs.DeleteRange(1, 1),
		} {
			if !errors.Is(err, syscall.EIO) {
				t.Errorf("%s: %v", what, err)
			}
		}
	})
}

// An entry of another leader is known by itself, not by its index: this node may make one of that index
// while Raft handles the call.
func TestAnEntryOfATermThatWasNotWonStopsTheNode(t *testing.T) {
	s, _, end := leading(t)
	s.OwnEntries.Inbound.Add(&raft.AppendEntriesRequest{Entries: commands(4, 4)})
	own := commands(4, 4)
	own[0].Term = 2
	if err := s.Logs.StoreLogs(own); err == nil || !strings.Contains(err.Error(), "hashicorp/raft#695") {
		t.Errorf("it was stored with %v", err)
	}
	end.once(t, "made by this node in term 2")
}

func TestATermNeverGoesBack(t *testing.T) {
	s, _, _ := leading(t)
	for _, term := range []uint64{5, 5, 6} {
		if err := s.Stable.SetUint64([]byte(KeyCurrentTerm), term); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Stable.SetUint64([]byte(KeyCurrentTerm), 5); !errors.Is(err, errTermBack) {
		t.Errorf("term 5 was saved after term 6: %v", err)
	}
	again, err := StackStores(Options{Logger: quiet}, s.engines)
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Stable.SetUint64([]byte(KeyCurrentTerm), 5); !errors.Is(err, errTermBack) {
		t.Errorf("term 5 was saved after term 6 and a restart: %v", err)
	}
}
