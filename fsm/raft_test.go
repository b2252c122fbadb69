package fsm_test

import (
	"encoding/binary"
	"hash/crc32"
	"strings"
	"testing"

	"github.com/hashicorp/raft"

	"dormouse/agent"
	"dormouse/storage"
)

func TestAnEntryIsAppliedOnceHoweverOftenItIsReplayed(t *testing.T) {
	h := makeHistory(t, 1, 30)
	r := openPeer(t, storage.MemFS())
	for _, e := range h.entries {
		first, _ := r.Apply(e).([]agent.Decided)
		again, ok := r.Apply(e).([]agent.Decided)
		if !ok || again != nil {
			t.Fatalf("entry %d replayed: %v", e.Index, again)
		}
		if first == nil {
			t.Fatalf("entry %d: no outcomes", e.Index)
		}
		wantHash(t, "after a replay", r, h)
	}
	r.apply(t, h.entries...)
	wantHash(t, "after replaying all", r, h)
}

func TestAnEntryThatCannotBeUnderstoodStopsTheReplicaForGood(t *testing.T) {
	h := makeHistory(t, 2, 5)
	damaged := *h.entries[2]
	damaged.Data = append([]byte(nil), damaged.Data...)
	damaged.Data[len(damaged.Data)-1] ^= 1
	newer := *h.entries[2]
	newer.Data = append([]byte(nil), newer.Data...)
	newer.Data[2]++
	table := crc32.MakeTable(crc32.Castagnoli)
	binary.LittleEndian.PutUint32(newer.Data[4:], crc32.Update(crc32.Checksum(newer.Data[:4], table), table, newer.Data[8:]))
	for name, bad := range map[string]*raft.Log{"damaged": &damaged, "newer": &newer} {
		t.Run(name, func(t *testing.T) {
			r := openPeer(t, storage.MemFS())
			r.apply(t, h.entries[:2]...)
			before, at := r.hash(t), r.Applied()
			if decided, ok := r.Apply(bad).([]agent.Decided); !ok || decided != nil {
				t.Errorf("it was decided: %v", decided)
			}
			if len(r.fatal) != 1 {
				t.Fatalf("fatal told %d times", len(r.fatal))
			}
			// To continue with the next entry, or with the right one, would be equally wrong.
			for _, e := range h.entries[2:] {
				r.Apply(e)
			}
			if r.Applied() != at || r.hash(t) != before {
				t.Error("it applied what came after")
			}
			if _, err := r.Snapshot(); err == nil {
				t.Error("it gave a snapshot")
			}
			if len(r.fatal) != 1 {
				t.Errorf("fatal told %d times", len(r.fatal))
			}
		})
	}
}

// docs/hazards.md R1: two leaders' entries at one index and term (hashicorp/raft#695) make two
// logs. A replica with the wrong entry must notice and stop.
func TestAReplicaThatAppliedAnotherEntryStopsAtTheLeadersNextStamp(t *testing.T) {
	h := makeHistory(t, 3, 10)
	r := openPeer(t, storage.MemFS())
	r.apply(t, h.entries[:4]...)
	other := *h.entries[4]
	other.Data = r.Pack(0, 0, 1, 1, nil) // the other leader's entry at that index
	r.apply(t, &other)
	if got := r.Apply(h.entries[5]).([]agent.Decided); got != nil {
		t.Errorf("the diverged peer decided %v", got)
	}
	if len(r.fatal) != 1 || !strings.Contains(r.fatal[0].Error(), "diverged") {
		t.Fatalf("fatal: %v", r.fatal)
	}
}

func TestAReplicaThatDivergedBeforeARestartStopsAfterIt(t *testing.T) {
	h := makeHistory(t, 3, 10)
	fs := storage.MemFS()
	r := openPeer(t, fs)
	r.apply(t, h.entries[:4]...)
	other := *h.entries[4]
	other.Data = r.Pack(0, 0, 1, 1, nil)
	r.apply(t, &other)
	r.snapshot(t, r.Applied(), 1)
	r.close(t)
	r = openPeer(t, fs)
	if got := r.Apply(h.entries[5]).([]agent.Decided); got != nil {
		t.Errorf("the diverged peer decided %v", got)
	}
	if len(r.fatal) != 1 || !strings.Contains(r.fatal[0].Error(), "diverged") {
		t.Fatalf("fatal: %v", r.fatal)
	}
}

func TestAStampOfAnEntryThatIsNoLongerKnownIsLetPass(t *testing.T) {
	h := makeHistory(t, 4, 10)
	fs := storage.MemFS()
	r := openPeer(t, fs)
	r.apply(t, h.entries[:5]...)
	r.snapshot(t, r.Applied(), 1)
	r.close(t)
	r = openPeer(t, fs)
	late := *h.entries[5]
	leader := openPeer(t, storage.MemFS())
	leader.apply(t, h.entries[:2]...)
	late.Data = leader.Pack(0, 0, 1, 1, nil) // stamped when the leader was at the second entry
	r.apply(t, &late)
}

func TestNoSnapshotIsGivenWhileReplayIsBehindTheState(t *testing.T) {
	h := makeHistory(t, 5, 20)
	fs := storage.MemFS()
	r := openPeer(t, fs)
	r.apply(t, h.entries[:10]...)
	r.snapshot(t, r.Applied(), 1)
	r.apply(t, h.entries[10:]...)
	if err := r.trySnapshot(r.Applied(), 9); err != nil {
		t.Fatal(err)
	}
	// The newest snapshot is at the engine's index: nothing is replayed.
	r.close(t)
	r = openPeer(t, fs)
	if err := r.trySnapshot(r.Applied(), 9); err != nil {
		t.Errorf("with nothing to replay: %v", err)
	}
	r.close(t)

	// Without it, Raft replays from the log's start.
	if err := fs.RemoveAll("m/snapshots"); err != nil {
		t.Fatal(err)
	}
	r = openPeer(t, fs)
	for _, e := range h.entries {
		err := r.trySnapshot(e.Index, e.Term)
		if err == nil {
			t.Fatalf("replay is about to bring entry %d, the state goes up to %d, and a snapshot was given", e.Index, r.Applied())
		}
		r.apply(t, e)
	}
	r.snapshot(t, h.last(), 9)
}

func TestRaftsOwnEntriesDoNotReachTheState(t *testing.T) {
	h := makeHistory(t, 6, 3)
	r := openPeer(t, storage.MemFS())
	r.apply(t, h.entries...)
	before := r.hash(t)
	for _, kind := range []raft.LogType{raft.LogNoop, raft.LogBarrier, raft.LogConfiguration} {
		r.apply(t, &raft.Log{Index: h.last() + 1, Term: 9, Type: kind})
	}
	if r.hash(t) != before || r.Applied() != h.last() {
		t.Error("the state has changed")
	}
}
