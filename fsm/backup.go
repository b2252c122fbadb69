package fsm

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/hashicorp/raft"

	"dormouse/fsm/command"
	"dormouse/fsm/snapshot"
	"dormouse/fsm/txn"
	"dormouse/proto/snapfile"
	"dormouse/storage"
)

// A backup is a snapshot stream (see fsm/snapshot/stream.go) of the state at the time of the call.

// WriteBackup writes the whole state to w, at an index no older than the call. The machine
// continues to apply entries meanwhile.
func (m *Machine) WriteBackup(w io.Writer) error {
	c, err := TakeCut(m)
	if err != nil {
		return fmt.Errorf("write backup: %w", err)
	}
	if err := errors.Join(c.Write(w), c.Close()); err != nil {
		return fmt.Errorf("write backup: %w", err)
	}
	return nil
}

// Cut is the whole state at one entry, for a backup. Close it soon: it keeps files of the engine on
// the disk. One goroutine may use it.
type Cut struct {
	cut     *cut
	encoded []byte // the beginning of the stream
	release func()
}

// TakeCut returns the state of a machine at an entry no older than the call. The machine continues to apply entries
// meanwhile.
func TakeCut(m *Machine) (*Cut, error) {
	m.mu.RLock()
	g := m.gen
	held := g.acquire()
	m.mu.RUnlock()
	if !held {
		return nil, errStopped
	}
	c, err := m.data.cut(g, nil)
	if err != nil {
		g.release()
		return nil, fmt.Errorf("cut the state: %w", err)
	}
	out := &Cut{cut: c, release: g.release}
	if err = c.name(); err == nil {
		out.encoded, err = snapshot.EncodeHeader(c.header)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("cut the state: %w", err), out.Close())
	}
	return out, nil
}

// Info describes the state.
func (c *Cut) Info() SnapshotInfo { return describeStream(c.encoded, c.cut.header) }

// Write writes the state as a snapshot stream.
func (c *Cut) Write(w io.Writer) error { return c.cut.stream(w) }

// StateHash returns what View.StateHash returns for the state.
func (c *Cut) StateHash(ctx context.Context) (hash string, err error) {
	d := c.cut.data
	engine, err := storage.Open(c.cut.dir, storage.Options{FS: d.fs, ReadOnly: true, CacheBytes: 1, Fatal: d.engines.Fatal})
	if err != nil {
		return "", fmt.Errorf("hash a cut of the state: %w", err)
	}
	defer func() { err = errors.Join(err, engine.Close()) }()
	view := engine.View()
	defer view.Close()
	return hashRows(ctx, view, nil)
}

// Close removes the cut.
func (c *Cut) Close() error {
	defer c.release()
	return c.cut.discard()
}

// SnapshotInfo describes a snapshot or a backup.
type SnapshotInfo struct {
	ClusterID    string
	Index, Term  uint64 // of the last entry in it
	TickMS       uint64
	WallMS       int64
	Chain        uint32
	FeatureLevel uint32
	Files        int
	Bytes        int64 // of the whole stream
}

func describeStream(encoded []byte, h *snapfile.SnapshotHeader) SnapshotInfo {
	return SnapshotInfo{
		ClusterID: h.ClusterId, Index: h.Index, Term: h.Term, TickMS: h.TickMs, WallMS: h.WallMs, Chain: h.Chain,
		FeatureLevel: h.FeatureLevel, Files: len(h.Files), Bytes: snapshot.StreamBytes(encoded, h),
	}
}

// Inspect reads a whole snapshot or backup, verifies all checksums, and returns its description.
func Inspect(r io.Reader) (SnapshotInfo, error) {
	encoded, header, err := readHeader(r)
	if err != nil {
		return SnapshotInfo{}, fmt.Errorf("inspect snapshot: %w", err)
	}
	for _, f := range header.Files {
		crc := crc32.New(command.Castagnoli)
		if _, err := io.CopyN(crc, r, int64(f.Size)); err != nil {
			return SnapshotInfo{}, fmt.Errorf("inspect snapshot: file %s is cut short: %w", f.Name, err)
		}
		if crc.Sum32() != f.Crc32C {
			return SnapshotInfo{}, fmt.Errorf("inspect snapshot: file %s is damaged: its checksum does not match", f.Name)
		}
	}
	end, err := io.ReadAll(io.LimitReader(r, int64(len(snapshot.StreamEnd))+1))
	if err != nil {
		return SnapshotInfo{}, fmt.Errorf("inspect snapshot: %w", err)
	}
	if string(end) != snapshot.StreamEnd {
		return SnapshotInfo{}, errors.New("inspect snapshot: its end mark is not there: it is cut short or damaged")
	}
	return describeStream(encoded, header), nil
}

func readHeader(r io.Reader) (encoded []byte, h *snapfile.SnapshotHeader, err error) {
	encoded = make([]byte, snapshot.PrefixBytes)
	if _, err := io.ReadFull(r, encoded); err != nil {
		return nil, nil, fmt.Errorf("read its header: %w", err)
	}
	length, err := snapshot.HeaderLength(encoded)
	if err != nil {
		return nil, nil, err
	}
	raw, err := io.ReadAll(io.LimitReader(r, int64(length)))
	if err != nil {
		return nil, nil, fmt.Errorf("read its header: %w", err)
	}
	if encoded = append(encoded, raw...); len(raw) < length {
		return nil, nil, errors.New("its header is cut short")
	}
	h, err = snapshot.DecodeHeader(encoded[:snapshot.PrefixBytes], encoded[snapshot.PrefixBytes:])
	return encoded, h, err
}

// RestoreOptions configure RestoreBackup.
type RestoreOptions struct {
	Dir       string      // the new machine's directory, which must be empty or missing
	FS        storage.FS  // nil means the disk
	ClusterID string      // of the new cluster; it must differ from the backup's
	IndexBase uint64      // first index of the new log; 0 means IndexBaseStep past the backup's end, rounded up
	Voter     raft.Server // the only voter of the new cluster
}

// IndexBaseStep is the distance between the logs of a cluster and of one restored from its backup.
// Incarnations and epochs are log indexes, so the new cluster never reuses one that the old cluster
// assigned after the backup.
const IndexBaseStep = 1 << 32

// indexBaseRound is what the first index of a new log is a multiple of.
const indexBaseRound = 1 << 20

// IndexBaseMax is the highest first index of a new log, with the number that imports have added to its
// incarnations. Incarnations and epochs, which are 1<<16 times as high, then fit a JSON number exactly
// (2^53) for IndexBaseStep entries more.
const IndexBaseMax = 1<<(53-16) - IndexBaseStep

// restoredTerm is the term of the last entry of a restored state.
const restoredTerm = 1

// RestoreBackup creates the directory of a new cluster's first node from a backup, offline. The
// state is the backup's without its members. The log begins far beyond the old cluster's. It
// returns the description of the backup.
func RestoreBackup(backup io.Reader, o RestoreOptions) (SnapshotInfo, error) {
	info, err := restoreBackup(backup, o)
	if err != nil {
		return SnapshotInfo{}, fmt.Errorf("restore backup into %s: %w", o.Dir, err)
	}
	return info, nil
}

func restoreBackup(backup io.Reader, o RestoreOptions) (info SnapshotInfo, err error) {
	if o.ClusterID == "" || o.Voter.ID == "" {
		return info, errors.New("a cluster id and the founding voter are needed")
	}
	if o.FS == nil {
		o.FS = storage.Disk
	}
	if names, err := o.FS.List(o.Dir); err == nil && len(names) > 0 {
		return info, errors.New("the directory is not empty: a backup is restored into a new one, never over data")
	}
	d, g, err := openDataDir(Options{
		Dir: o.Dir, FS: o.FS, ClusterID: func() string { return o.ClusterID },
	})
	if err != nil {
		return info, err
	}
	defer func() { err = errors.Join(err, d.close()) }()
	defer g.close()

	dir := d.temporary("received")
	r := snapshot.NewReceiver(d.fs, dir, func(header *snapfile.SnapshotHeader) error {
		if header.ClusterId == o.ClusterID {
			return errors.New("a restored backup begins a new cluster, under a new cluster id")
		}
		return acceptLevel("snapshot", header.FeatureLevel)
	})
	_, err = io.CopyBuffer(onlyWriter{r}, backup, make([]byte, snapshot.CopyChunkSize))
	if err != nil {
		r.Close()
	} else {
		err = r.Finish()
	}
	if err != nil {
		return info, errors.Join(err, d.fs.RemoveAll(dir))
	}
	info = describeStream(r.Encoded, r.Header)
	err = d.refound(dir, r.Header, o)
	return info, errors.Join(err, d.fs.RemoveAll(dir))
}

// refound makes the received state in dir the new cluster's first snapshot; the first start
// restores it.
func (d *dataDir) refound(dir string, old *snapfile.SnapshotHeader, o RestoreOptions) error {
	base := o.IndexBase
	if base == 0 {
		base = ((old.Index+IndexBaseStep)/indexBaseRound + 1) * indexBaseRound
	}
	if base <= old.Index {
		return fmt.Errorf("the new log would begin at %d, inside the old one, which continued from %d", base, old.Index)
	}
	engine, err := storage.Open(dir, d.engines)
	if err != nil {
		return err
	}
	g := newGeneration(d.fs, dir, engine, d.readRows, func(error) {})
	defer g.close()
	if err := matches(engine, old); err != nil {
		return err
	}
	added, err := readMintBase(engine)
	if err != nil {
		return err
	}
	if base+added > IndexBaseMax {
		return fmt.Errorf("the new log would begin at %d, and its epochs would pass 2^53, which JSON numbers do not hold exactly: "+
			"the backup is of a cluster that was restored too often; restore a backup of one that was restored less often", base+added)
	}
	b := engine.NewBatch()
	defer b.Close()
	if err := forgetCluster(engine, b); err != nil {
		return err
	}
	if err := txn.ForgetFeeds(engine, b, base); err != nil {
		return err
	}
	next := headerProgress(old)
	next.Index, next.Term = base, restoredTerm
	next.Write(b)
	if err := engine.Commit(b); err != nil {
		return err
	}
	c, err := d.cut(g, newHeader(next, old.FeatureLevel))
	if err != nil {
		return err
	}
	defer c.Release()
	configuration := raft.Configuration{Servers: []raft.Server{o.Voter}}
	s, err := d.snapshots.Create(raft.SnapshotVersionMax, base, restoredTerm, configuration, base, nil)
	if err != nil {
		return err
	}
	if err := c.Persist(s); err != nil {
		return errors.Join(err, s.Cancel())
	}
	return s.Close()
}
