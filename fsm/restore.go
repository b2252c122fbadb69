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
	"dormouse/internal/failpoint"
	"dormouse/internal/seededbug"
	logpb "dormouse/proto/log"
	"dormouse/proto/snapfile"
	"dormouse/storage"
)

// Restore implements raft.FSM: it replaces the state by the snapshot's. The old engine is unchanged
// until the new one is open and checked, and a crash leaves one or the other. Open views keep the
// old engine until they are closed.
//
// A snapshot that is not ahead of the engine changes nothing: its state is a prefix of the
// engine's, and Raft's replay of later entries is skipped.
func (m *Machine) Restore(stream io.ReadCloser) error {
	if m.data.failed.Load() {
		return errStopped
	}
	if own := m.data.held(stream); own != nil {
		return m.restore(m.data.fs.PathJoin(own.Dir, snapshot.DataDir), own.Header)
	}
	dir := m.data.temporary("received")
	r := snapshot.NewReceiver(m.data.fs, dir, m.data.accept)
	_, err := io.CopyBuffer(onlyWriter{r}, stream, make([]byte, snapshot.CopyChunkSize))
	if err = errors.Join(err, r.Finish()); err == nil {
		err = m.restore(dir, r.Header)
	}
	if err = errors.Join(err, m.data.fs.RemoveAll(dir)); err != nil {
		return fmt.Errorf("restore snapshot: %w", err)
	}
	return nil
}

// onlyWriter hides the other methods of a receiver.
type onlyWriter struct{ io.Writer }

// restore makes the files in dir the state.
func (m *Machine) restore(dir string, header *snapfile.SnapshotHeader) error {
	if err := m.data.accept(header); err != nil {
		return err
	}
	if err := m.data.claim(header.ClusterId); err != nil {
		return err
	}
	m.applying.Lock()
	defer m.applying.Unlock()
	applied, _ := m.Chain()
	if header.Index <= applied {
		if chain, ok := m.chains.At(header.Index); ok && chain != header.Chain {
			err := diverged(header.Index, chain, header.Chain)
			m.stop(err)
			return err
		}
		m.data.replayTo = applied
		return nil
	}
	forgetDecision(m)
	failpoint.At(failpoint.InstallReceived)
	g, err := m.data.replace(dir, header)
	if err != nil {
		return err
	}
	failpoint.At(failpoint.InstallReplaced)
	if err := m.adopt(g); err != nil {
		m.stop(err) // CURRENT names the new engine already: do not continue with either
		return err
	}
	m.data.replayTo = 0
	m.restores.Add(1)
	return nil
}

// Restores returns how many snapshots have replaced the state since the machine was opened. A
// snapshot brings entries that the log no longer has.
func (m *Machine) Restores() uint64 { return m.restores.Load() }

// held returns the snapshot of this machine's store that the stream reads, or nil. It unwraps the
// readers with which Raft tracks progress.
func (d *dataDir) held(stream io.ReadCloser) *snapshot.Held {
	for {
		if r, ok := stream.(*snapshot.Reader); ok && r.Store == d.snapshots {
			return r.Held
		}
		wrapper, ok := stream.(raft.ReadCloserWrapper)
		if !ok {
			return nil
		}
		stream = wrapper.WrappedReadCloser()
	}
}

// temporary returns a new name that the next start removes.
func (d *dataDir) temporary(what string) string {
	return d.fs.PathJoin(d.dir, fmt.Sprintf("%s-%d%s", what, d.nextSerial(), snapshot.TemporarySuffix))
}

// replace creates an engine from a snapshot's files, which stay in place, checks it, and makes it
// current.
func (d *dataDir) replace(dir string, header *snapfile.SnapshotHeader) (*generation, error) {
	name := d.engineName(header.Index)
	g, err := d.build(name, dir, header)
	if err == nil {
		if err = d.point(name); err == nil {
			g.describe(header.Files)
			return g, nil
		}
		g.close()
	}
	err = fmt.Errorf("make an engine of the snapshot at index %d: %w", header.Index, err)
	// A failed point may have written CURRENT all the same: then the engine must stay.
	if current, unread := d.current(); unread == nil && current != name {
		err = errors.Join(err, d.fs.RemoveAll(d.fs.PathJoin(d.dir, name)))
	}
	return nil, err
}

// build copies the files into a new directory and opens it. Files that engines never change are
// hard-linked.
func (d *dataDir) build(name, from string, header *snapfile.SnapshotHeader) (*generation, error) {
	dir := d.fs.PathJoin(d.dir, name)
	if err := storage.MakeDir(d.fs, dir); err != nil {
		return nil, err
	}
	for _, f := range header.Files {
		put := storage.CopyFile
		if snapshot.Unchanging(f.Name) {
			put = storage.LinkOrCopy
		}
		if err := put(d.fs, d.fs.PathJoin(from, f.Name), d.fs.PathJoin(dir, f.Name)); err != nil {
			return nil, fmt.Errorf("put %s in place: %w", f.Name, err)
		}
	}
	if err := storage.SyncDir(d.fs, dir); err != nil {
		return nil, err
	}
	g, err := d.openEngine(name)
	if err != nil {
		return nil, err
	}
	if seededbug.Enabled {
		if err := falsify(g.engine, header); err != nil {
			return nil, err
		}
	}
	if err := matches(g.engine, header); err != nil {
		g.close()
		return nil, err
	}
	return g, nil
}

// matches returns an error if an engine does not match the snapshot's header.
func matches(r storage.Reader, header *snapfile.SnapshotHeader) error {
	done, err := txn.ReadProgress(r)
	if err != nil {
		return err
	}
	if done != headerProgress(header) {
		return fmt.Errorf("its files are at index %d, term %d, chain %08x; its header says index %d, term %d, chain %08x",
			done.Index, done.Term, done.Chain, header.Index, header.Term, header.Chain)
	}
	return nil
}

// headerProgress returns the progress of the state in a snapshot.
func headerProgress(h *snapfile.SnapshotHeader) txn.Progress {
	return txn.Progress{Index: h.Index, Term: h.Term, Tick: h.TickMs, Wall: h.WallMs, Chain: h.Chain}
}

// forgetClaims ends all claims. The backup lacks takeovers that happened after it, so the holders
// that it names must not be accepted again.
func forgetClaims(r storage.Reader, b *storage.Batch) error {
	held := map[string]int64{} // :: the scope's row → claims
	err := txn.EachRow(r, kv.KindClaim, func(name string, _ []byte) error {
		scope, claim, _ := strings.Cut(name, kv.Separator)
		held[kv.ScopeKey(kv.KindScope, scope)]++
		b.Delete([]byte(kv.KindClaim + name))
		if id, ok := agent.ClaimedSession(strings.TrimSuffix(claim, kv.Separator)); ok { // its turn is recoverable
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
			return fmt.Errorf("there are claims in a scope that does not exist: %q", key)
		}
		var record logpb.ScopeRecord
		if err := command.Unmarshal(raw, &record); err != nil {
			return fmt.Errorf("decode scope %q: %w", key, err)
		}
		record.Keys = txn.Saturate(record.Keys, -held[key])
		b.Set([]byte(key), command.Marshal(&record))
	}
	return nil
}
