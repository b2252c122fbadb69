package fsm_test

import (
	"bytes"
	"strings"
	"testing"

	"dormouse/fsm"
	"dormouse/storage"
)

// A replica that is filled from a cut and the entries after it has the state of the machine, at each
// entry. A cut has the hash of its state, whatever the machine applies meanwhile.
func TestAReplicaFollowsTheMachine(t *testing.T) {
	h := makeHistory(t, 3, 40)
	p := openPeer(t, storage.MemFS())
	middle := h.entries[20].Index
	p.apply(t, h.entries[:21]...)
	cut, err := fsm.TakeCut(p.Machine)
	if err != nil {
		t.Fatal(err)
	}
	p.apply(t, h.entries[21:]...)
	hash, err := cut.StateHash(t.Context())
	if err != nil || hash != h.hashes[middle] {
		t.Errorf("the cut has hash %s, %v, want %s", hash, err, h.hashes[middle])
	}
	var backup bytes.Buffer
	if err := cut.Write(&backup); err != nil {
		t.Fatal(err)
	}
	info := cut.Info()
	if info.Index != middle || info.Bytes != int64(backup.Len()) || info.ClusterID != cluster {
		t.Errorf("%+v of %d bytes", info, backup.Len())
	}
	if err := cut.Close(); err != nil {
		t.Fatal(err)
	}

	r, err := fsm.OpenReplica(storage.MemFS(), "r", fsm.Caches{}, &backup)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close() //nolint:errcheck // it is in memory
	if _, chain := r.Chain(); chain != info.Chain {
		t.Errorf("the replica begins with chain %08x, want %08x", chain, info.Chain)
	}
	for _, e := range h.entries[21:] {
		if at, err := fsm.EntryTime(e.Data); err != nil || at == 0 {
			t.Fatalf("entry %d has time %d, %v", e.Index, at, err)
		}
		if err := r.Replay(e.Index, e.Term, e.Data); err != nil {
			t.Fatal(err)
		}
		view := r.View()
		if hash, err := view.StateHash(t.Context()); err != nil || hash != h.hashes[e.Index] {
			t.Errorf("at entry %d the replica has hash %s, %v, want %s", e.Index, hash, err, h.hashes[e.Index])
		}
		view.Close()
	}
	index, chain := r.Chain()
	if _, want := p.Chain(); chain != want {
		t.Errorf("the replica ends with chain %08x, want %08x", chain, want)
	}
	if got, ok := fsm.ChainAt(p.Machine, index); !ok || got != chain {
		t.Errorf("the chain at entry %d is %08x, %v", index, got, ok)
	}
	if err := r.Replay(index, 9, h.entries[39].Data); err == nil {
		t.Error("an entry is replayed twice")
	}
	if err := r.Replay(index+1, 9, []byte("not an entry")); err == nil || !strings.Contains(err.Error(), "entry") {
		t.Errorf("a damaged entry: %v", err)
	}
}

func TestAReplicaNeedsAWholeBackup(t *testing.T) {
	h := makeHistory(t, 3, 5)
	p := openPeer(t, storage.MemFS())
	p.apply(t, h.entries...)
	var backup bytes.Buffer
	if err := p.WriteBackup(&backup); err != nil {
		t.Fatal(err)
	}
	for _, length := range []int{0, 5, 100, backup.Len() / 2, backup.Len() - 1} {
		if r, err := fsm.OpenReplica(storage.MemFS(), "r", fsm.Caches{}, bytes.NewReader(backup.Bytes()[:length])); err == nil {
			t.Errorf("%d of %d bytes are accepted", length, backup.Len())
			_ = r.Close()
		}
	}
}
