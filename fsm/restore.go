package fsm

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/hashicorp/raft"

	"dormouse/agent"
	"dormouse/fsm/command"
	"dormouse/fsm/kv"
	"dormouse/fsm/session"
	"dormouse/fsm/snapshot"
	"dormouse/fsm/txn"
	"dormouse/internal/seededbug"
	logpb "dormouse/proto/log"
	"dormouse/storage"
)

// Restore implements raft.FSM: the state becomes the snapshot's. Until the new
// engine has been opened and checked the old one is untouched, and a crash at
// any point leaves one or the other. Views that are open keep the old engine
// until they are closed.
//
// A snapshot that is not ahead of the engine changes nothing: its state is a
// prefix of the engine's, and Raft's replay of what follows is skipped.
func (m *Machine) Restore(stream io.ReadCloser) error {
	if m.home.failed.Load() {
		return errStopped
	}
	if own := m.home.held(stream); own != nil {
		return m.restore(m.home.fs.PathJoin(own.Dir, snapshot.DataDir), own.Header)
	}
	dir := m.home.temporary("received")
	r := snapshot.NewReceiver(m.home.fs, dir, m.home.accept)
	_, err := io.CopyBuffer(onlyWriter{r}, stream, make([]byte, snapshot.CopyChunkSize))
	if err = errors.Join(err, r.Finish()); err == nil {
		err = m.restore(dir, r.Header)
	}
	if err = errors.Join(err, m.home.fs.RemoveAll(dir)); err != nil {
		return fmt.Errorf("restore snapshot: %w", err)
	}
	return nil
}

// onlyWriter hides what else a receiver may do.
type onlyWriter struct{ io.Writer }

// restore makes the state that of the files in dir.
func (m *Machine) restore(dir string, header *logpb.SnapshotHeader) error {
	if err := m.home.accept(header); err != nil {
		return err
	}
	if err := m.home.claim(header.ClusterId); err != nil {
		return err
	}
	applied, _ := m.Chain()
	if header.Index <= applied {
		if chain, ok := m.chains.at(header.Index); ok && chain != header.Chain {
			err := diverged(header.Index, chain, header.Chain)
			m.stop(err)
			return err
		}
		m.home.replayTo = applied
		return nil
	}
	g, err := m.home.replace(dir, header)
	if err != nil {
		return err
	}
	if err := m.adopt(g); err != nil {
		m.stop(err) // CURRENT names the new engine already: go on with neither
		return err
	}
	m.home.replayTo = 0
	m.restores.Add(1)
	return nil
}

// Restores is how many snapshots have taken the state's place since the machine
// was opened: what the log no longer has came by them.
func (m *Machine) Restores() uint64 { return m.restores.Load() }

// held is the snapshot of our own store that the stream reads, if it is one.
// Raft wraps streams to watch their progress.
func (h *home) held(stream io.ReadCloser) *snapshot.Held {
	for {
		if r, ok := stream.(*snapshot.Reader); ok && r.Store == h.snapshots {
			return r.Held
		}
		wrapper, ok := stream.(raft.ReadCloserWrapper)
		if !ok {
			return nil
		}
		stream = wrapper.WrappedReadCloser()
	}
}

// temporary is a new name that the next start removes.
func (h *home) temporary(what string) string {
	return h.fs.PathJoin(h.dir, fmt.Sprintf("%s-%d%s", what, h.nextSerial(), snapshot.TemporarySuffix))
}

// replace makes an engine of a snapshot's files, which stay where they are,
// checks it, and makes it current.
func (h *home) replace(dir string, header *logpb.SnapshotHeader) (*generation, error) {
	name := h.engineName(header.Index)
	g, err := h.build(name, dir, header)
	if err == nil {
		if err = h.point(name); err == nil {
			g.describe(header.Files)
			return g, nil
		}
		g.close()
	}
	err = fmt.Errorf("make an engine of the snapshot at index %d: %w", header.Index, err)
	// A failed point may yet have named it, on disk: then it has to stay.
	if current, unread := h.current(); unread == nil && current != name {
		err = errors.Join(err, h.fs.RemoveAll(h.fs.PathJoin(h.dir, name)))
	}
	return nil, err
}

// build puts the files into a directory of their own and opens it. Files that
// engines never change are linked.
func (h *home) build(name, from string, header *logpb.SnapshotHeader) (*generation, error) {
	dir := h.fs.PathJoin(h.dir, name)
	if err := storage.MakeDir(h.fs, dir); err != nil {
		return nil, err
	}
	for _, f := range header.Files {
		put := storage.CopyFile
		if snapshot.Unchanging(f.Name) {
			put = storage.LinkOrCopy
		}
		if err := put(h.fs, h.fs.PathJoin(from, f.Name), h.fs.PathJoin(dir, f.Name)); err != nil {
			return nil, fmt.Errorf("put %s in place: %w", f.Name, err)
		}
	}
	if err := storage.SyncDir(h.fs, dir); err != nil {
		return nil, err
	}
	g, err := h.openEngine(name)
	if err != nil {
		return nil, err
	}
	if seededbug.Is(seededbug.DedupeLostInSnapshot) || seededbug.Is(seededbug.SnapshotRunsAhead) {
		if err := spoil(g.engine, header); err != nil {
			return nil, err
		}
	}
	if err := matches(g.engine, header); err != nil {
		g.close()
		return nil, err
	}
	return g, nil
}

// matches reports whether an engine is what a snapshot's header says it is.
func matches(r storage.Reader, header *logpb.SnapshotHeader) error {
	done, err := txn.ReadProgress(r)
	if err != nil {
		return err
	}
	if done != headerProgress(header) {
		return fmt.Errorf("its files stand at index %d, term %d, chain %08x; its header says index %d, term %d, chain %08x",
			done.Index, done.Term, done.Chain, header.Index, header.Term, header.Chain)
	}
	return nil
}

// headerProgress is how far the state in a snapshot goes.
func headerProgress(h *logpb.SnapshotHeader) txn.Progress {
	return txn.Progress{Index: h.Index, Term: h.Term, Tick: h.TickMs, Wall: h.WallMs, Chain: h.Chain}
}

// forgetClaims ends all claims. Who took one over after the backup was made is
// not in it, so whoever held it then must not be let in again.
func forgetClaims(r storage.Reader, b *storage.Batch) error {
	held := map[string]int64{} // :: the scope's row → claims
	err := txn.EachRow(r, kv.KindClaim, func(name string, _ []byte) error {
		scope, claim, _ := strings.Cut(name, kv.Separator)
		held[kv.ScopeKey(kv.KindScope, scope)]++
		b.Delete([]byte(kv.KindClaim + name))
		if id, ok := agent.ClaimedSession(strings.TrimSuffix(claim, kv.Separator)); ok { // its turn is to be recovered
			b.Set([]byte(kv.IDKey(kv.KindSessionRecoverable, scope, id)), session.RecoverableRow(0))
		}
		return nil
	})
	if err != nil {
		return err
	}
	b.DeleteRange([]byte(kv.KindDueClaim), []byte(kv.After(kv.KindDueClaim)))
	b.Delete([]byte(txn.TermStartKey))
	for _, key := range txn.SortedKeys(held) {
		raw, ok, err := r.Get([]byte(key))
		if err != nil {
			return err
		}
		if !ok {
			return fmt.Errorf("claims are in a scope that is not there: %q", key)
		}
		var record logpb.ScopeRecord
		if err := command.Unmarshal(raw, &record); err != nil {
			return fmt.Errorf("decode scope %q: %w", key, err)
		}
		record.Keys = txn.Saturate(record.Keys, -held[key])
		if raw, err = command.Marshal(&record); err != nil {
			return fmt.Errorf("encode scope %q: %w", key, err)
		}
		b.Set([]byte(key), raw)
	}
	return nil
}
