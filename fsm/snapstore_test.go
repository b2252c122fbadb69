package fsm_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"dormouse/storage"
)

// withSnapshots returns a peer with a snapshot after every entry whose number is a multiple of
// every.
func withSnapshots(tb testing.TB, fs storage.FS, h *history, every int) *peer {
	tb.Helper()
	p := openPeer(tb, fs)
	for i, e := range h.entries {
		p.apply(tb, e)
		if (i+1)%every == 0 {
			p.snapshot(tb, e.Index, e.Term)
		}
	}
	return p
}

func listNames(tb testing.TB, fs storage.FS, dir string) []string {
	tb.Helper()
	names, err := fs.List(dir)
	if err != nil {
		tb.Fatal(err)
	}
	slices.Sort(names)
	return names
}

func TestASnapshotSentAndRestoredIsEqualByteForByte(t *testing.T) {
	for name, fs := range map[string]storage.FS{"memory": storage.MemFS(), "disk": storage.Disk} {
		t.Run(name, func(t *testing.T) {
			h := makeHistory(t, 10, 40)
			here, there := t.TempDir()+"/m", t.TempDir()+"/m"
			leader := openPeerAt(t, fs, here)
			leader.apply(t, h.entries[:30]...)
			leader.snapshot(t, leader.Applied(), h.entries[29].Term)
			leader.apply(t, h.entries[30:]...)
			follower := openPeerAt(t, fs, there)
			follower.apply(t, h.entries[:5]...)
			if err := follower.install(leader); err != nil {
				t.Fatal(err)
			}
			wantHash(t, "after the install", follower, h)
			if at := follower.Applied(); at != h.entries[29].Index {
				t.Errorf("installed at %d, want %d", at, h.entries[29].Index)
			}
			sent := streamOf(t, leader.Snapshots(), newest(leader.Snapshots()).ID)
			kept := streamOf(t, follower.Snapshots(), newest(follower.Snapshots()).ID)
			if !bytes.Equal(sent, kept) {
				t.Errorf("sent %d bytes, kept %d others", len(sent), len(kept))
			}
			follower.apply(t, h.entries...)
			wantHash(t, "after the rest of the log", follower, h)
			follower.snapshot(t, h.last(), 9)
			follower.close(t)
			follower = openPeerAt(t, fs, there)
			wantHash(t, "after a restart", follower, h)
			inspectAll(t, follower.Snapshots())
		})
	}
}

// The same entries, with a snapshot and a restore into another replica at random indexes.
func TestASnapshotAndRestoreAtARandomIndexLeavesEqualState(t *testing.T) {
	for seed := range uint64(20) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			h := makeHistory(t, 100+seed, 60)
			rng := rand.New(rand.NewPCG(seed, 2))
			p := openPeer(t, storage.MemFS())
			for _, e := range h.entries {
				p.apply(t, e)
				if rng.IntN(10) > 0 {
					continue
				}
				p.snapshot(t, e.Index, e.Term)
				next := openPeer(t, storage.MemFS())
				if rng.IntN(2) == 0 {
					next.apply(t, h.between(0, e.Index/2)...)
				}
				if err := next.install(p); err != nil {
					t.Fatal(err)
				}
				p = next
				wantHash(t, "after a restore", p, h)
			}
			wantHash(t, "at the end", p, h)
		})
	}
}

func TestAStreamIsRestoredWhoeverSendsIt(t *testing.T) {
	h := makeHistory(t, 11, 20)
	leader := withSnapshots(t, storage.MemFS(), h, 20)
	raw := streamOf(t, leader.Snapshots(), newest(leader.Snapshots()).ID)
	fs := storage.MemFS()
	p := openPeer(t, fs)
	if err := p.Restore(io.NopCloser(bytes.NewReader(raw))); err != nil {
		t.Fatal(err)
	}
	wantHash(t, "after the restore", p, h)
	for _, name := range listNames(t, fs, "m") {
		if strings.HasSuffix(name, ".tmp") {
			t.Errorf("%s is left over", name)
		}
	}
}

func TestASnapshotOfALowerIndexThanTheStoreHasIsRefused(t *testing.T) {
	h := makeHistory(t, 12, 20)
	p := withSnapshots(t, storage.MemFS(), h, 20)
	at := newest(p.Snapshots()).Index
	if _, err := p.Snapshots().Create(1, at-1, 99, voters("n1"), 1, nil); err == nil {
		t.Error("a lower index was let in")
	}
	// A snapshot that was begun before the higher one arrived is refused at its end.
	fs := storage.MemFS()
	q := openPeer(t, fs)
	q.apply(t, h.entries[:5]...)
	cut, err := q.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	slow, err := q.Snapshots().Create(1, q.Applied(), 1, voters("n1"), 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := cut.Persist(slow); err != nil {
		t.Fatal(err)
	}
	if err := q.install(p); err != nil {
		t.Fatal(err)
	}
	if err := slow.Close(); err == nil {
		t.Error("the slow snapshot took the place of a newer one")
	}
	cut.Release()
	if got := newest(q.Snapshots()); got.Index != at {
		t.Errorf("the newest snapshot is at %d, want %d", got.Index, at)
	}
	if names := listNames(t, fs, "m/snapshots"); len(names) != 1 {
		t.Errorf("left in the store: %q", names)
	}
}

func TestSnapshotsAreListedByTermThenIndexNewestFirst(t *testing.T) {
	h := makeHistory(t, 13, 3)
	p := openPeer(t, storage.MemFS())
	p.apply(t, h.entries...)
	at := h.last()
	// Term 3 at a lower index came first, then term 2 at a higher one.
	for _, s := range []struct{ index, term uint64 }{{at, 3}, {at + 5, 2}} {
		p.snapshot(t, s.index, s.term)
	}
	metas, err := p.Snapshots().List()
	if err != nil {
		t.Fatal(err)
	}
	if len(metas) != 2 || metas[0].Term != 3 || metas[1].Term != 2 {
		t.Fatalf("listed: %+v", metas)
	}
	if got := metas[0]; got.Configuration.Servers[0].ID != "n1" || got.ConfigurationIndex != 1 || got.Version != 1 {
		t.Errorf("its meta: %+v", got)
	}
}

func TestTwoSnapshotsAreKeptAndOneThatIsReadStaysUntilItHasBeen(t *testing.T) {
	h := makeHistory(t, 14, 50)
	fs := storage.MemFS()
	p := withSnapshots(t, fs, h, 25)
	oldest, err := p.Snapshots().List()
	if err != nil || len(oldest) != 2 {
		t.Fatalf("%d snapshots: %v", len(oldest), err)
	}
	id := oldest[1].ID
	_, stream, err := p.Snapshots().Open(id)
	if err != nil {
		t.Fatal(err)
	}
	head := make([]byte, 100)
	if _, err := io.ReadFull(stream, head); err != nil {
		t.Fatal(err)
	}
	p.snapshot(t, h.last()+1, 50)
	p.snapshot(t, h.last()+2, 50)
	metas, err := p.Snapshots().List()
	if err != nil || len(metas) != 2 || metas[0].Index != h.last()+2 {
		t.Fatalf("listed: %v %v", metas, err)
	}
	if _, _, err := p.Snapshots().Open(id); err == nil {
		t.Error("a snapshot that is about to go was opened anew")
	}
	rest, err := io.ReadAll(stream)
	if err != nil || int64(len(head)+len(rest)) != oldest[1].Size {
		t.Errorf("read %d of %d bytes: %v", len(head)+len(rest), oldest[1].Size, err)
	}
	if err := errors.Join(stream.Close(), stream.Close()); err != nil {
		t.Fatal(err)
	}
	if names := listNames(t, fs, "m/snapshots"); len(names) != 2 {
		t.Errorf("after it was read: %q", names)
	}
}

func TestACancelledSinkLeavesNothing(t *testing.T) {
	h := makeHistory(t, 15, 10)
	fs := storage.MemFS()
	p := withSnapshots(t, fs, h, 10)
	raw := streamOf(t, p.Snapshots(), newest(p.Snapshots()).ID)
	before := listNames(t, fs, "m/snapshots")
	for _, n := range []int{0, 10, len(raw) / 2, len(raw)} {
		sink, err := p.Snapshots().Create(1, h.last()+1, 1, voters("n1"), 1, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := sink.Write(bytes.Clone(raw[:n])); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(sink.Cancel(), sink.Cancel()); err != nil {
			t.Fatal(err)
		}
		if err := sink.Close(); err == nil {
			t.Error("a cancelled sink was closed into a snapshot")
		}
	}
	if after := listNames(t, fs, "m/snapshots"); !slices.Equal(before, after) {
		t.Errorf("before %q, after %q", before, after)
	}
}

// receive sends raw to a sink of p, in pieces of random size.
func receive(p *peer, raw []byte, rng *rand.Rand) error {
	sink, err := p.Snapshots().Create(1, 1_000_000, 1_000, voters("n1"), 1, nil)
	if err != nil {
		return err
	}
	for len(raw) > 0 {
		n := min(len(raw), 1+rng.IntN(2*len(raw)))
		if _, err := sink.Write(bytes.Clone(raw[:n])); err != nil {
			return errors.Join(err, sink.Cancel())
		}
		raw = raw[n:]
	}
	return sink.Close()
}

func TestAStreamWithAnyByteFlippedMissingOrAddedIsRefusedAndLeavesNothing(t *testing.T) {
	h := makeHistory(t, 16, 3)
	leader := withSnapshots(t, storage.MemFS(), h, 3)
	raw := streamOf(t, leader.Snapshots(), newest(leader.Snapshots()).ID)
	rng := rand.New(rand.NewPCG(1, 1))
	fs := storage.MemFS()
	p := openPeer(t, fs)
	refused := func(what string, damaged []byte) {
		if err := receive(p, damaged, rng); err == nil {
			t.Fatalf("%s: taken", what)
		}
	}
	for i := range raw {
		damaged := bytes.Clone(raw)
		damaged[i] ^= 1 << rng.IntN(8)
		refused(fmt.Sprintf("byte %d of %d flipped", i, len(raw)), damaged)
	}
	for n := 0; n < len(raw); n += 1 + n/50 {
		refused(fmt.Sprintf("cut to %d of %d bytes", n, len(raw)), raw[:n])
	}
	refused("one byte more", append(bytes.Clone(raw), 0))
	if names := listNames(t, fs, "m/snapshots"); len(names) != 0 {
		t.Errorf("left over: %q", names)
	}
	if err := receive(p, raw, rng); err != nil {
		t.Errorf("the stream as it was: %v", err)
	}
}

func TestASnapshotOfAnotherClusterIsRefused(t *testing.T) {
	h := makeHistory(t, 17, 5)
	leader := withSnapshots(t, storage.MemFS(), h, 5)
	raw := streamOf(t, leader.Snapshots(), newest(leader.Snapshots()).ID)
	p, err := tryOpen(storage.MemFS(), "m", "cluster-two")
	if err != nil {
		t.Fatal(err)
	}
	defer p.close(t)
	if err := receive(p, raw, rand.New(rand.NewPCG(1, 1))); err == nil || !strings.Contains(err.Error(), "cluster-one") {
		t.Errorf("received: %v", err)
	}
	if err := p.Restore(io.NopCloser(bytes.NewReader(raw))); err == nil {
		t.Error("restored")
	}
	if p.Applied() != 0 {
		t.Errorf("the state is at %d", p.Applied())
	}
}

func TestUnfinishedSnapshotsAreCleanedUpAtTheNextStart(t *testing.T) {
	h := makeHistory(t, 18, 10)
	fs := storage.MemFS()
	p := withSnapshots(t, fs, h, 10)
	raw := streamOf(t, p.Snapshots(), newest(p.Snapshots()).ID)
	sink, err := p.Snapshots().Create(1, h.last()+1, 1, voters("n1"), 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sink.Write(bytes.Clone(raw[:len(raw)/2])); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Snapshot(); err != nil { // neither persisted nor released
		t.Fatal(err)
	}
	p.close(t)
	p = openPeer(t, fs)
	if names := listNames(t, fs, "m/snapshots"); len(names) != 1 {
		t.Errorf("snapshots: %q", names)
	}
	for _, name := range listNames(t, fs, "m") {
		if strings.HasSuffix(name, ".tmp") {
			t.Errorf("%s is left over", name)
		}
	}
	wantHash(t, "after the restart", p, h)
}

func FuzzReceive(f *testing.F) {
	h := makeHistory(f, 19, 3)
	leader := withSnapshots(f, storage.MemFS(), h, 3)
	raw := streamOf(f, leader.Snapshots(), newest(leader.Snapshots()).ID)
	f.Add(raw, uint64(1))
	f.Add(raw[:40], uint64(2))
	f.Add([]byte("DORMSNP\n\xff\xff\xff\xff\x00\x00\x00\x00"), uint64(3))
	f.Fuzz(func(t *testing.T, stream []byte, seed uint64) {
		fs := storage.MemFS()
		p := openPeer(t, fs)
		before := listNames(t, fs, "m/snapshots")
		if err := receive(p, stream, rand.New(rand.NewPCG(seed, 0))); err == nil {
			kept := streamOf(t, p.Snapshots(), newest(p.Snapshots()).ID)
			if !bytes.Equal(kept, stream) {
				t.Fatal("what was kept is not what was sent")
			}
			return
		}
		if after := listNames(t, fs, "m/snapshots"); !slices.Equal(before, after) {
			t.Fatalf("left over: %q", after)
		}
		if names := listNames(t, fs, ""); len(names) != 1 {
			t.Fatalf("written elsewhere: %q", names)
		}
	})
}
