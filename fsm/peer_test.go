package fsm_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/raft"

	"dormouse/agent"
	"dormouse/fsm"
	"dormouse/fsm/command"
	"dormouse/storage"
)

const cluster = "cluster-one"

// peer drives a machine as Raft would.
type peer struct {
	*fsm.Machine
	fatal []error
}

func tryOpen(fs storage.FS, dir, clusterID string) (*peer, error) {
	r := &peer{}
	m, err := fsm.Open(fsm.Options{
		Dir: dir, FS: fs, Caches: fsm.Caches{Engine: 1 << 20}, ClusterID: func() string { return clusterID },
		Fatal: func(err error) { r.fatal = append(r.fatal, err) },
	})
	r.Machine = m
	return r, err
}

// openPeer opens the peer in dir "m" of fs and closes it with the test.
func openPeer(tb testing.TB, fs storage.FS) *peer {
	tb.Helper()
	return openPeerAt(tb, fs, "m")
}

func openPeerAt(tb testing.TB, fs storage.FS, dir string) *peer {
	tb.Helper()
	r, err := tryOpen(fs, dir, cluster)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { r.close(tb) })
	return r
}

func (r *peer) close(tb testing.TB) {
	tb.Helper()
	if r.Machine == nil {
		return
	}
	if err := r.Close(); err != nil {
		tb.Error(err)
	}
	r.Machine = nil
}

func (r *peer) hash(tb testing.TB) string {
	tb.Helper()
	v := r.View()
	defer v.Close()
	hash, err := v.StateHash(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	return hash
}

// apply applies entries, each of which must be applied or skipped without a failure.
func (r *peer) apply(tb testing.TB, entries ...*raft.Log) {
	tb.Helper()
	for _, e := range entries {
		if _, ok := r.Apply(e).([]agent.Decided); !ok {
			tb.Fatalf("entry %d: not decided", e.Index)
		}
	}
	if len(r.fatal) > 0 {
		tb.Fatalf("fatal: %v", r.fatal)
	}
}

// snapshot takes a snapshot into the peer's own store, as Raft does.
func (r *peer) snapshot(tb testing.TB, index, term uint64) {
	tb.Helper()
	if err := r.trySnapshot(index, term); err != nil {
		tb.Fatal(err)
	}
}

func (r *peer) trySnapshot(index, term uint64) error {
	cut, err := r.Snapshot()
	if err != nil {
		return err
	}
	defer cut.Release()
	sink, err := r.Snapshots().Create(1, index, term, voters("n1"), 1, nil)
	if err != nil {
		return err
	}
	if err := cut.Persist(sink); err != nil {
		return errors.Join(err, sink.Cancel())
	}
	return sink.Close()
}

// install sends from's newest snapshot to r, as Raft does.
func (r *peer) install(from *peer) error {
	meta, stream, err := from.Snapshots().Open(newest(from.Snapshots()).ID)
	if err != nil {
		return err
	}
	defer func() { _ = stream.Close() }()
	sink, err := r.Snapshots().Create(1, meta.Index, meta.Term, meta.Configuration, meta.ConfigurationIndex, nil)
	if err != nil {
		return err
	}
	if n, err := io.Copy(sink, stream); err != nil || n != meta.Size {
		return errors.Join(fmt.Errorf("sent %d of %d bytes: %w", n, meta.Size, err), sink.Cancel())
	}
	if err := sink.Close(); err != nil {
		return err
	}
	_, own, err := r.Snapshots().Open(sink.ID())
	if err != nil {
		return err
	}
	return errors.Join(r.Restore(own), own.Close())
}

func newest(s raft.SnapshotStore) *raft.SnapshotMeta {
	metas, err := s.List()
	if err != nil || len(metas) == 0 {
		return &raft.SnapshotMeta{}
	}
	return metas[0]
}

func voters(ids ...string) raft.Configuration {
	var c raft.Configuration
	for _, id := range ids {
		c.Servers = append(c.Servers, raft.Server{Suffrage: raft.Voter, ID: raft.ServerID(id), Address: raft.ServerAddress(id + ":7602")})
	}
	return c
}

// streamOf returns the whole stream of a snapshot.
func streamOf(tb testing.TB, s raft.SnapshotStore, id string) []byte {
	tb.Helper()
	meta, stream, err := s.Open(id)
	if err != nil {
		tb.Fatal(err)
	}
	raw, err := io.ReadAll(stream)
	if err = errors.Join(err, stream.Close()); err != nil {
		tb.Fatal(err)
	}
	if meta.Size != int64(len(raw)) {
		tb.Errorf("snapshot %s says it has %d bytes, its stream has %d", id, meta.Size, len(raw))
	}
	return raw
}

// history is a log with the state hash after each of its entries.
type history struct {
	entries []*raft.Log
	hashes  map[uint64]string // :: index → hash; at 0 that of the empty state
}

// between returns the entries after `from`, up to `to`.
func (h *history) between(from, to uint64) []*raft.Log {
	var out []*raft.Log
	for _, e := range h.entries {
		if e.Index > from && e.Index <= to {
			out = append(out, e)
		}
	}
	return out
}

func (h *history) last() uint64 { return h.entries[len(h.entries)-1].Index }

// makeHistory writes n entries of random commits, as a leader that applies what it packs. Indexes
// have gaps for Raft's own entries.
func makeHistory(tb testing.TB, seed uint64, n int) *history {
	tb.Helper()
	leader, err := tryOpen(storage.MemFS(), "leader", cluster)
	if err != nil {
		tb.Fatal(err)
	}
	defer leader.close(tb)
	rng := rand.New(rand.NewPCG(seed, 1))
	h := &history{hashes: map[uint64]string{0: leader.hash(tb)}}
	index, term, tick := uint64(1), uint64(1), uint64(1000)
	for range n {
		index += 1 + uint64(rng.IntN(8)/7)
		term += uint64(rng.IntN(20) / 19)
		tick += uint64(rng.IntN(100))
		var commits [][]byte
		for range rng.IntN(4) {
			c := randomCommit(rng)
			raw, err := command.EncodeCommit(&c, tick+60_000)
			if err != nil {
				tb.Fatal(err)
			}
			commits = append(commits, raw)
		}
		e := &raft.Log{Index: index, Term: term, Type: raft.LogCommand, Data: leader.Pack(0, 0, tick, int64(tick)+1_764_000_000_000, commits)}
		leader.apply(tb, e)
		h.entries = append(h.entries, e)
		h.hashes[index] = leader.hash(tb)
	}
	return h
}

func randomCommit(rng *rand.Rand) agent.Commit {
	c := agent.Commit{Scope: "s"}
	if rng.IntN(2) == 0 {
		c.Request = agent.Request{Client: fmt.Sprint("client", rng.IntN(3)), Seq: uint64(1 + rng.IntN(50))}
	}
	pick := func(noun string) string { return fmt.Sprint(noun, rng.IntN(5)) }
	text := strings.Repeat("x", rng.IntN(400))
	for range 1 + rng.IntN(3) {
		var op agent.Op
		switch rng.IntN(9) {
		case 0, 1:
			op = &agent.PutValue{Key: pick("k"), Bytes: []byte(text)}
		case 2:
			op = &agent.DeleteValue{Key: pick("k")}
		case 3, 4, 5:
			op = &agent.AppendThread{Thread: pick("t"), Entries: []agent.Draft{{Kind: "message", Payload: agent.JSON(`{"text":"` + text + `"}`)}}}
		case 6:
			op = &agent.PutCheckpoint{Key: pick("c"), Version: 1, State: agent.JSON(`{"n":1}`), Metadata: agent.JSON(`{}`)}
		case 7:
			op = &agent.DeleteThread{Thread: pick("t")}
		case 8:
			op = &agent.TakeClaim{Claim: pick("l"), Holder: "h", TTL: time.Duration(1+rng.IntN(3)) * time.Second}
		}
		c.Ops = append(c.Ops, op)
	}
	return c
}

func wantHash(tb testing.TB, what string, r *peer, h *history) {
	tb.Helper()
	at := r.Applied()
	want, ok := h.hashes[at]
	if !ok {
		tb.Fatalf("%s: applied up to %d, which is no entry", what, at)
	}
	if got := r.hash(tb); got != want {
		tb.Fatalf("%s: the state at %d differs from that of a peer without faults", what, at)
	}
}

// inspectAll checks that every listed snapshot is complete.
func inspectAll(tb testing.TB, s raft.SnapshotStore) {
	tb.Helper()
	metas, err := s.List()
	if err != nil {
		tb.Fatal(err)
	}
	for _, meta := range metas {
		if _, err := fsm.Inspect(bytes.NewReader(streamOf(tb, s, meta.ID))); err != nil {
			tb.Fatalf("snapshot %s: %v", meta.ID, err)
		}
	}
}
