package fsm_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/hashicorp/raft"

	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/fsm"
	"dormouse/storage"
)

func TestAnOpenViewKeepsItsStateThroughARestore(t *testing.T) {
	h := makeHistory(t, 20, 30)
	leader := withSnapshots(t, storage.MemFS(), h, 30)
	fs := storage.MemFS()
	p := openPeer(t, fs)
	p.apply(t, h.entries[:10]...)
	view := p.View()
	if err := p.install(leader); err != nil {
		t.Fatal(err)
	}
	wantHash(t, "the new state", p, h)
	if n := p.Restores(); n != 1 {
		t.Errorf("%d restores, want 1", n)
	}
	old, err := view.StateHash(t.Context())
	if err != nil || old != h.hashes[h.entries[9].Index] || view.Index() != h.entries[9].Index {
		t.Errorf("the view's state has changed, or cannot be read: %v", err)
	}
	if n := engines(t, fs); n != 2 {
		t.Errorf("%d engines while the old one is read, want 2", n)
	}
	view.Close()
	if n := engines(t, fs); n != 1 {
		t.Errorf("%d engines once it is not, want 1", n)
	}
}

func engines(tb testing.TB, fs storage.FS) int {
	tb.Helper()
	n := 0
	for _, name := range listNames(tb, fs, "m") {
		if strings.HasPrefix(name, "engine-") {
			n++
		}
	}
	return n
}

func TestARestoreNeverTurnsTheStateBack(t *testing.T) {
	h := makeHistory(t, 21, 30)
	behind := openPeer(t, storage.MemFS())
	behind.apply(t, h.entries[:10]...)
	behind.snapshot(t, behind.Applied(), 1)
	p := openPeer(t, storage.MemFS())
	p.apply(t, h.entries[:20]...)
	if err := p.install(behind); err != nil {
		t.Fatal(err)
	}
	if p.Applied() != h.entries[19].Index {
		t.Fatalf("the state is at %d", p.Applied())
	}
	if n := p.Restores(); n != 0 {
		t.Errorf("%d restores, though the state stayed", n)
	}
	// Raft now replays what follows the snapshot.
	if err := p.trySnapshot(h.entries[10].Index, 1); err == nil {
		t.Error("a snapshot was given while Raft is behind the state")
	}
	p.apply(t, h.entries[10:]...)
	wantHash(t, "at the end", p, h)
	p.snapshot(t, h.last(), 50)
}

func TestAFailedRestoreLeavesTheOldState(t *testing.T) {
	h := makeHistory(t, 22, 30)
	leader := withSnapshots(t, storage.MemFS(), h, 30)
	raw := streamOf(t, leader.Snapshots(), newest(leader.Snapshots()).ID)
	var left atomic.Int64
	left.Store(1 << 60)
	mem := storage.MemFS()
	fs := storage.Faulty(mem, func(path string) error {
		// An open engine that cannot write its own manifest ends the process, and so does one that
		// cannot sync its directory after it.
		engine := strings.HasPrefix(path[strings.LastIndex(path, "/")+1:], "engine-")
		if !engine && !strings.Contains(strings.ToLower(path), "manifest") && left.Add(-1) < 0 {
			return errors.New("no space left on device")
		}
		return nil
	})
	p := openPeer(t, fs)
	p.apply(t, h.entries[:10]...)
	want := p.hash(t)
	restored := false
	for n := int64(0); !restored; n++ {
		left.Store(n)
		err := p.Restore(io.NopCloser(bytes.NewReader(raw)))
		left.Store(1 << 60)
		if restored = err == nil; restored {
			break
		}
		if len(p.fatal) > 0 {
			t.Fatalf("operation %d failing: fatal %v", n, p.fatal)
		}
		if p.Applied() == h.entries[9].Index && p.hash(t) != want {
			t.Fatalf("operation %d failing: the state has changed", n)
		}
	}
	wantHash(t, "after the disk had space", p, h)
}

// The power fails at every disk operation of a persist and an install. The state found afterwards
// is one of the log's, and the rest of the log leads to the final state.
func TestACrashAtAnyOperationLeavesTheOldStateOrTheNew(t *testing.T) {
	h := makeHistory(t, 23, 40)
	leader := withSnapshots(t, storage.MemFS(), h, 30)
	crashes := 0
	for ; ; crashes++ {
		rng := rand.New(rand.NewPCG(uint64(crashes), 3))
		mem := storage.CrashableMemFS()
		var mu sync.Mutex // the engine works in the background too
		var crashed *storage.CrashFS
		count, target := 0, -1
		fs := storage.Faulty(mem, func(string) error {
			mu.Lock()
			defer mu.Unlock()
			if count++; count == target {
				c := mem.Crash(rng, rng.IntN(3)*40)
				crashed = &c
			}
			return nil
		})
		p := openPeer(t, fs)
		p.apply(t, h.entries[:10]...)
		p.snapshot(t, p.Applied(), 1)
		p.apply(t, h.entries[10:20]...)
		mu.Lock()
		target, count = 1+2*crashes, 0
		mu.Unlock()
		p.snapshot(t, p.Applied(), 1)
		if err := p.install(leader); err != nil {
			t.Fatal(err)
		}
		p.close(t)
		if crashed == nil {
			break // past the last operation
		}
		after := openPeer(t, *crashed)
		wantHash(t, fmt.Sprintf("crashed at operation %d", target), after, h)
		inspectAll(t, after.Snapshots())
		snapshot := newest(after.Snapshots()).Index
		if at := after.Applied(); at < snapshot || at < h.entries[9].Index {
			t.Fatalf("operation %d: the state is at %d, the newest snapshot at %d", target, at, snapshot)
		}
		after.apply(t, h.between(snapshot, h.last())...)
		if after.Applied() != h.last() {
			t.Fatalf("operation %d: replay ended at %d", target, after.Applied())
		}
		wantHash(t, "after replay", after, h)
		after.snapshot(t, h.last(), 99)
		after.close(t)
	}
	if crashes < 50 {
		t.Errorf("only %d crashes", crashes)
	}
}

// The same at random moments of a longer run, with a part of the unsynced writes lost.
func TestReplayAfterACrashEqualsNoCrash(t *testing.T) {
	for seed := range uint64(25) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			h := makeHistory(t, 200+seed, 80)
			rng := rand.New(rand.NewPCG(seed, 4))
			fs := storage.CrashableMemFS()
			p := openPeer(t, fs)
			raftAt := uint64(0) // where Raft replays from: its newest snapshot
			for lives := 0; lives < 6; lives++ {
				for _, e := range h.between(raftAt, h.last()) {
					p.apply(t, e)
					if rng.IntN(12) == 0 {
						if err := p.trySnapshot(e.Index, e.Term); err == nil {
							raftAt = e.Index
						}
					}
					if rng.IntN(30) == 0 {
						break
					}
				}
				fs = fs.Crash(rng, rng.IntN(3)*30)
				p.close(t)
				p = openPeer(t, fs)
				wantHash(t, "after a crash", p, h)
				if p.Applied() < raftAt {
					t.Fatalf("the state is at %d, Raft goes on from %d", p.Applied(), raftAt)
				}
				// Raft has dropped its log up to this index.
				if got := newest(p.Snapshots()).Index; got < raftAt {
					t.Fatalf("the newest snapshot is at %d, one at %d was taken", got, raftAt)
				}
			}
			p.apply(t, h.between(raftAt, h.last())...)
			wantHash(t, "at the end", p, h)
		})
	}
}

// A crash after the store took an installed snapshot and before the restore: Raft continues from
// the snapshot, so the state must too.
func TestAStateBehindTheNewestSnapshotIsRestoredAtTheStart(t *testing.T) {
	h := makeHistory(t, 24, 30)
	leader := withSnapshots(t, storage.MemFS(), h, 30)
	raw := streamOf(t, leader.Snapshots(), newest(leader.Snapshots()).ID)
	fs := storage.MemFS()
	p := openPeer(t, fs)
	p.apply(t, h.entries[:10]...)
	sink, err := p.Snapshots().Create(1, h.last(), 9, voters("n1"), 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sink.Write(raw); err != nil {
		t.Fatal(err)
	}
	if err := sink.Close(); err != nil {
		t.Fatal(err)
	}
	p.close(t)
	p = openPeer(t, fs)
	if p.Applied() != h.last() {
		t.Fatalf("the state is at %d, the snapshot at %d", p.Applied(), h.last())
	}
	wantHash(t, "after the start", p, h)
	if n := engines(t, fs); n != 1 {
		t.Errorf("%d engines are left", n)
	}
}

func TestASnapshotThatIsInPlaceIsNotReadAtTheStart(t *testing.T) {
	h := makeHistory(t, 25, 20)
	fs := storage.MemFS()
	p := withSnapshots(t, fs, h, 20)
	id := newest(p.Snapshots()).ID
	p.close(t)
	for _, name := range listNames(t, fs, "m/snapshots/"+id+"/data") {
		if err := fs.Remove("m/snapshots/" + id + "/data/" + name); err != nil {
			t.Fatal(err)
		}
	}
	p = openPeer(t, fs)
	wantHash(t, "after the start", p, h)
}

func TestADamagedDescriptionOfASnapshotStopsTheStart(t *testing.T) {
	h := makeHistory(t, 26, 10)
	for _, file := range []string{"META", "HEADER"} {
		fs := storage.MemFS()
		p := withSnapshots(t, fs, h, 10)
		path := "m/snapshots/" + newest(p.Snapshots()).ID + "/" + file
		p.close(t)
		raw, err := storage.ReadFile(fs, path, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		raw[len(raw)-1] ^= 1
		if err := storage.WriteFile(fs, path, raw); err != nil {
			t.Fatal(err)
		}
		if _, err := tryOpen(fs, "m", cluster); !errors.Is(err, storage.ErrDamaged) {
			t.Errorf("%s damaged: %v", file, err)
		}
	}
}

func TestADataDirectoryOfAnotherClusterOrANewerFormatIsRefused(t *testing.T) {
	h := makeHistory(t, 27, 5)
	fs := storage.MemFS()
	p := openPeer(t, fs)
	p.apply(t, h.entries...)
	p.close(t)
	_, err := tryOpen(fs, "m", "cluster-two")
	if !errors.Is(err, storage.ErrForeign) || !strings.Contains(err.Error(), "empty one to join with") {
		t.Errorf("another cluster's: %v", err)
	}
	if err := storage.WriteFile(fs, "m/FORMAT", []byte(`{"format":2,"cluster_id":"cluster-one"}`)); err != nil {
		t.Fatal(err)
	}
	_, err = tryOpen(fs, "m", cluster)
	if !errors.Is(err, storage.ErrForeign) || !strings.Contains(err.Error(), "newer version") {
		t.Errorf("a newer format's: %v", err)
	}
	if err := storage.WriteFile(fs, "m/FORMAT", []byte(`{"format":1,"cluster_id":"cluster-one"}`)); err != nil {
		t.Fatal(err)
	}
	openPeer(t, fs).close(t)
}

func TestADirectoryHasOneMachineAtATime(t *testing.T) {
	fs := storage.MemFS()
	openPeer(t, fs)
	if _, err := tryOpen(fs, "m", cluster); !errors.Is(err, storage.ErrLocked) {
		t.Errorf("opened twice: %v", err)
	}
}

func TestABackupIsTheStateWhileEntriesAreApplied(t *testing.T) {
	h := makeHistory(t, 28, 60)
	p := openPeer(t, storage.MemFS())
	p.apply(t, h.entries[:20]...)
	done := make(chan struct{})
	var backups [][]byte
	go func() {
		defer close(done)
		for range 5 {
			var b bytes.Buffer
			if err := p.WriteBackup(&b); err != nil {
				t.Error(err)
			}
			backups = append(backups, b.Bytes())
		}
	}()
	p.apply(t, h.entries[20:]...)
	<-done
	for _, raw := range backups {
		info, err := fsm.Inspect(bytes.NewReader(raw))
		if err != nil || info.Bytes != int64(len(raw)) || info.ClusterID != cluster || info.Index < h.entries[19].Index {
			t.Fatalf("backup: %+v %v", info, err)
		}
		q := openPeer(t, storage.MemFS())
		if err := q.Restore(io.NopCloser(bytes.NewReader(raw))); err != nil {
			t.Fatal(err)
		}
		wantHash(t, "the backup", q, h)
	}
}

func TestARestoredBackupIsANewClusterFarAhead(t *testing.T) {
	h := makeHistory(t, 29, 30)
	old := openPeer(t, storage.MemFS())
	old.apply(t, h.entries...)
	member := old.EncodePutMember(layout.Member{ID: "n1", Incarnation: "i1"})
	leased := old.EncodeRenewNodeLease(layout.NodeLease{Node: "n1", Incarnation: "i1", Life: "l1", TTL: leaseTTL}, nil)
	other := old.EncodeRenewNodeLease(layout.NodeLease{Node: "n2", Incarnation: "i2", Life: "l2", TTL: leaseTTL}, nil)
	old.apply(t, &raft.Log{Index: h.last() + 1, Term: 50, Data: old.Pack(0, 0, 1, 1, [][]byte{
		member, leased, old.EncodePutMember(layout.Member{ID: "n2", Incarnation: "i2"}), other, old.EncodeFeatureLevel(layout.RulesLevel),
	})}, &raft.Log{Index: h.last() + 2, Term: 50, Data: old.Pack(0, 0, 1, 1, [][]byte{old.EncodeDrainNode("n1", true), old.EncodePinPartition(1, "n2")})})
	if len(old.Members()) != 2 || len(old.Pins()) != 1 || len(old.DrainedNodes()) != 1 {
		t.Fatalf("members: %v, pins %v, drained %v", old.Members(), old.Pins(), old.DrainedNodes())
	}
	var backup bytes.Buffer
	if err := old.WriteBackup(&backup); err != nil {
		t.Fatal(err)
	}
	fs := storage.MemFS()
	options := fsm.RestoreOptions{Dir: "m", FS: fs, ClusterID: "cluster-two", Voter: voters("n9").Servers[0]}
	info, err := fsm.RestoreBackup(bytes.NewReader(backup.Bytes()), options)
	if err != nil {
		t.Fatal(err)
	}
	if info.ClusterID != cluster || info.Index != h.last()+2 {
		t.Errorf("the backup says %+v", info)
	}
	if _, err := fsm.RestoreBackup(bytes.NewReader(backup.Bytes()), options); err == nil {
		t.Error("restored over data")
	}
	p, err := tryOpen(fs, "m", "cluster-two")
	if err != nil {
		t.Fatal(err)
	}
	defer p.close(t)
	meta := newest(p.Snapshots())
	if meta.Index < fsm.IndexBaseStep || meta.Index != p.Applied() || !slices.Equal(meta.Configuration.Servers, voters("n9").Servers) {
		t.Errorf("it begins at %d, its snapshot is %+v", p.Applied(), meta)
	}
	if len(p.Members()) != 0 || len(p.Pins()) != 0 || len(p.DrainedNodes()) != 0 {
		t.Errorf("its members are %v, pins %v, drained %v", p.Members(), p.Pins(), p.DrainedNodes())
	}
	oldTick, oldWall := old.Stamps()
	if tick, wall := p.Stamps(); tick != oldTick || wall != oldWall {
		t.Errorf("its time is %d %d, the old %d %d", tick, wall, oldTick, oldWall)
	}
	// A node of the old cluster cannot use its snapshots, nor it the old cluster's.
	if err := p.install(old); err == nil {
		t.Error("it took the old cluster's snapshot")
	}
	for _, key := range []string{"k0", "k1", "k2", "k3", "k4"} {
		question := &agent.GetValue{Key: key}
		was, is := old.View(), p.View()
		a, b := was.Answer("s", question), is.Answer("s", question)
		if (a.Err == nil) != (b.Err == nil) || a.Err == nil && !bytes.Equal(a.Found.(*agent.Value).Bytes, b.Found.(*agent.Value).Bytes) {
			t.Errorf("%s: %v, restored %v", key, a, b)
		}
		was.Close()
		is.Close()
	}
}

func TestABackupIsNotRestoredWhereItMayMixWithTheOldCluster(t *testing.T) {
	h := makeHistory(t, 30, 10)
	old := openPeer(t, storage.MemFS())
	old.apply(t, h.entries...)
	var backup bytes.Buffer
	if err := old.WriteBackup(&backup); err != nil {
		t.Fatal(err)
	}
	voter := voters("n9").Servers[0]
	for name, o := range map[string]fsm.RestoreOptions{
		"same cluster id": {ClusterID: cluster, Voter: voter},
		"no cluster id":   {Voter: voter},
		"no voter":        {ClusterID: "cluster-two"},
		"inside the old":  {ClusterID: "cluster-two", Voter: voter, IndexBase: h.last()},
	} {
		o.Dir, o.FS = "m", storage.MemFS()
		if _, err := fsm.RestoreBackup(bytes.NewReader(backup.Bytes()), o); err == nil {
			t.Errorf("%s: restored", name)
		}
	}
}

// Clusters can be restored from backups of restored ones until their epochs would no longer fit a JSON
// number exactly.
func TestTheNumbersOfRestoredClustersFitJSON(t *testing.T) {
	h := makeHistory(t, 30, 10)
	p := openPeer(t, storage.MemFS())
	p.apply(t, h.entries...)
	for restores, id := 0, ""; ; restores++ {
		var backup bytes.Buffer
		if err := p.WriteBackup(&backup); err != nil {
			t.Fatal(err)
		}
		applied := p.Applied()
		p.close(t)
		if applied > 1<<37-fsm.IndexBaseStep {
			t.Fatalf("the log begins at %d", applied)
		}
		id = fmt.Sprint("restored-", restores)
		fs := storage.MemFS()
		_, err := fsm.RestoreBackup(&backup, fsm.RestoreOptions{Dir: "m", FS: fs, ClusterID: id, Voter: voters("n9").Servers[0]})
		if err != nil {
			if restores < 30 || !strings.Contains(err.Error(), "restored too often") {
				t.Fatalf("after %d restores: %v", restores, err)
			}
			return
		}
		if p, err = tryOpen(fs, "m", id); err != nil {
			t.Fatal(err)
		}
		if p.Applied() < applied+fsm.IndexBaseStep {
			t.Fatalf("the log begins at %d, the old one ended at %d", p.Applied(), applied)
		}
	}
}
