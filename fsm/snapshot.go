package fsm

import (
	"errors"
	"fmt"
	"io"

	"github.com/hashicorp/raft"

	"dormouse/fsm/snapshot"
	"dormouse/fsm/txn"
	"dormouse/internal/failpoint"
	"dormouse/proto/snapfile"
	"dormouse/storage"
)

// cut is the state at an index: a directory with hard links to the engine's files. It implements
// raft.FSMSnapshot; later entries do not change it.
type cut struct {
	data   *dataDir
	dir    string // removed once it is persisted or released
	header *snapfile.SnapshotHeader
	gen    *generation // only for the descriptions of its files
}

// Snapshot implements raft.FSM. It flushes the engine and links its files before it returns; it
// reads and writes nothing else.
//
// While Raft replays entries that the engine has applied already, Raft's index is behind the
// state's. A snapshot at that index would contain entries that its receivers still have to apply,
// so Snapshot refuses it.
func (m *Machine) Snapshot() (raft.FSMSnapshot, error) {
	switch d := m.data; {
	case d.failed.Load():
		return nil, errStopped
	case d.seen < d.replayTo:
		return nil, fmt.Errorf("no snapshot while replay is at entry %d: the state goes up to %d", d.seen, d.replayTo)
	}
	failpoint.At(failpoint.SnapshotCut)
	c, err := m.data.cut(m.gen, m.describe())
	if err != nil {
		return nil, fmt.Errorf("snapshot: %w", err)
	}
	return c, nil
}

// Rebase allows a snapshot although Raft has not replayed all entries of the state: for a log whose
// end was lost. It returns the last entry of the state. Raft must not have been started.
func (m *Machine) Rebase() (index, term uint64) {
	m.data.replayTo = 0
	return m.progress.Index, m.progress.Term
}

// describe returns the header of a cut that the applying goroutine makes now.
func (m *Machine) describe() *snapfile.SnapshotHeader {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return newHeader(m.progress, m.level)
}

func newHeader(p txn.Progress, level uint32) *snapfile.SnapshotHeader {
	return &snapfile.SnapshotHeader{
		Format: snapshot.StreamFormat, Index: p.Index, Term: p.Term, TickMs: p.Tick, WallMs: p.Wall,
		Chain: p.Chain, FeatureLevel: level,
	}
}

// cut makes a cut of an engine that stays open during the call. The header gives the engine's last
// entry. It is nil if commits continue meanwhile; then cut reads the last entry from the cut
// itself.
func (d *dataDir) cut(g *generation, header *snapfile.SnapshotHeader) (*cut, error) {
	cluster := d.clusterID()
	if err := d.claim(cluster); err != nil {
		return nil, err
	}
	c := &cut{data: d, dir: d.temporary("cut"), gen: g, header: header}
	if err := g.engine.Checkpoint(c.dir); err != nil {
		return nil, errors.Join(err, c.discard())
	}
	if c.header == nil {
		var err error
		if c.header, err = d.describeCut(c.dir); err != nil {
			return nil, errors.Join(err, c.discard())
		}
	}
	c.header.ClusterId = cluster
	return c, nil
}

// describeCut reads the header of a cut from its files.
func (d *dataDir) describeCut(dir string) (*snapfile.SnapshotHeader, error) {
	engine, err := storage.Open(dir, storage.Options{FS: d.fs, ReadOnly: true, CacheBytes: 1, Fatal: d.engines.Fatal})
	if err != nil {
		return nil, err
	}
	header, err := describeEngine(engine)
	if err = errors.Join(err, engine.Close()); err != nil {
		return nil, err
	}
	return header, nil
}

func describeEngine(r storage.Reader) (*snapfile.SnapshotHeader, error) {
	done, err := txn.ReadProgress(r)
	if err != nil {
		return nil, err
	}
	roster, err := readRoster(r)
	if err != nil {
		return nil, err
	}
	return newHeader(done, roster.level), nil
}

// name completes the header with the files. It only reads files that earlier cuts of the engine do
// not have.
func (c *cut) name() error {
	files, err := snapshot.DescribeFiles(c.data.fs, c.dir, c.gen.described())
	if err != nil {
		return err
	}
	c.gen.describe(files)
	c.header.Files = files
	return nil
}

// Persist implements raft.FSMSnapshot: into this machine's store by a rename, into another as a
// stream. A wrapper of the store's sinks must have an Unwrap method, or each snapshot copies all
// data.
func (c *cut) Persist(to raft.SnapshotSink) error {
	failpoint.At(failpoint.SnapshotPersist)
	defer failpoint.At(failpoint.SnapshotStored)
	if err := c.name(); err != nil {
		return fmt.Errorf("persist snapshot: %w", err)
	}
	if own, ok := innermost(to).(*snapshot.Sink); ok && own.Store == c.data.snapshots {
		return own.Adopt(c.dir, c.header)
	}
	if err := c.stream(to); err != nil {
		return fmt.Errorf("persist snapshot: %w", err)
	}
	return nil
}

// innermost returns the sink below all wrappers.
func innermost(s raft.SnapshotSink) raft.SnapshotSink {
	for {
		w, ok := s.(interface{ Unwrap() raft.SnapshotSink })
		if !ok {
			return s
		}
		s = w.Unwrap()
	}
}

// stream writes the cut to w; its files have been described.
func (c *cut) stream(w io.Writer) error {
	encoded, err := snapshot.EncodeHeader(c.header)
	if err != nil {
		return err
	}
	r := snapshot.NewStreamReader(c.data.fs, c.dir, encoded, c.header)
	_, err = io.CopyBuffer(onlyWriter{w}, r, make([]byte, snapshot.CopyChunkSize))
	return errors.Join(err, r.Close())
}

// Release implements raft.FSMSnapshot.
func (c *cut) Release() {
	if err := c.discard(); err != nil {
		c.data.logger.Warn("a cut could not be removed; the next start tries again", "error", err)
	}
}

func (c *cut) discard() error {
	if err := c.data.fs.RemoveAll(c.dir); err != nil {
		return fmt.Errorf("discard cut: %w", err)
	}
	return nil
}
