package raftlog

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/gofrs/flock"
	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
	raftboltdb "github.com/hashicorp/raft-boltdb/v2"
	wal "github.com/hashicorp/raft-wal"
	walfs "github.com/hashicorp/raft-wal/fs"
	"github.com/hashicorp/raft-wal/types"
	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"dormouse/internal/seededbug"
)

// The kinds of log store.
const (
	logStoreWAL  = "wal"  // raft-wal: one flush for each append
	logStoreBolt = "bolt" // raft-boltdb: two flushes, and a file that never shrinks
)

// walSegmentBytes is the size of a file of raft-wal, which allocates and frees
// whole files: a few commits of the largest size, and little on a laptop.
const walSegmentBytes = 64 << 20

// keyLogStore holds the kind of the log store.
var keyLogStore = []byte("dormouse/log-store")

// Engines are the log store and the stable store of the libraries, without
// wrappers.
type Engines struct {
	dir, kind    string
	segmentBytes int
	files        Files // nil means the machine's disk
	logger       hclog.Logger
	Logs         raft.LogStore
	Stable       raft.StableStore
	closers      []func() error              // in the order of opening
	failed       atomic.Pointer[func(error)] // gets the failures of rotations, which no call returns; nil while the stores open
}

// rotated passes on an error of a rotation. Raft-wal rotates its segments in the background, and only logs
// that it could not: the next append would fail with "segment is sealed".
func (e *Engines) rotated(err error) error {
	if tell := e.failed.Load(); err != nil && tell != nil {
		(*tell)(err)
	}
	return err
}

// openEngines opens the stores in o.Dir, or creates stores in memory.
func openEngines(o Options) (*Engines, error) {
	e := &Engines{dir: o.Dir, kind: o.Kind, segmentBytes: o.SegmentBytes, files: o.Files, logger: o.Logger}
	if e.kind == "" {
		e.kind = logStoreWAL
	}
	if e.kind != logStoreWAL && e.kind != logStoreBolt {
		return nil, fmt.Errorf("log store %q: want %s or %s", e.kind, logStoreWAL, logStoreBolt)
	}
	if e.segmentBytes == 0 {
		e.segmentBytes = walSegmentBytes
	}
	if o.Dir == "" {
		e.Logs, e.Stable = raft.NewInmemStore(), raft.NewInmemStore()
		return e, nil
	}
	if err := e.open(); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return e, nil
}

func (e *Engines) open() error {
	if e.files != nil {
		return e.openFiles()
	}
	if err := os.MkdirAll(e.dir, 0o700); err != nil {
		return fmt.Errorf("make the log directory: %w", err)
	}
	if err := e.openStable(); err != nil {
		return err
	}
	var err error
	e.Logs, err = e.openLog(e.kind)
	return err
}

// openStable locks the directory and opens the stable store.
func (e *Engines) openStable() error {
	lock := flock.New(filepath.Join(e.dir, "lock"))
	held, err := lock.TryLock()
	if err != nil {
		return fmt.Errorf("lock %s: %w", e.dir, err)
	}
	if !held {
		return fmt.Errorf("%w: %s: stop that process, or give this node a data directory of its own", ErrLocked, e.dir)
	}
	e.closers = append(e.closers, lock.Close)
	stable, err := openBolt(filepath.Join(e.dir, "stable.db"))
	if err != nil {
		return err
	}
	e.Stable = stable
	e.closers = append(e.closers, stable.Close)
	return nil
}

func (e *Engines) logPath(kind string) string {
	if kind == logStoreBolt {
		return filepath.Join(e.dir, "log.db")
	}
	return filepath.Join(e.dir, "wal")
}

// place returns where the log is, for errors.
func (e *Engines) place() string {
	if e.dir == "" {
		return "memory"
	}
	return e.logPath(e.kind)
}

func (e *Engines) openLog(kind string) (raft.LogStore, error) {
	path := e.logPath(kind)
	if kind == logStoreBolt {
		logs, err := openBolt(path)
		if err != nil {
			return nil, err
		}
		e.closers = append(e.closers, logs.Close)
		return logs, nil
	}
	logs, err := e.openWAL(path)
	if err != nil {
		return nil, err
	}
	return liveLogs{logs}, nil
}

func (e *Engines) openWAL(path string) (raft.LogStore, error) {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, fmt.Errorf("make the log directory: %w", err)
	}
	files := newWALFiles(path, walfs.New())
	return e.openSegments(path, files, &walMeta{files: files})
}

// openSegments opens raft-wal on its segments and their list.
func (e *Engines) openSegments(path string, files walFiles, meta types.MetaStore) (raft.LogStore, error) {
	files.rotated = e.rotated
	logs, err := wal.Open(path, wal.WithSegmentFiler(files), wal.WithMetaStore(sealedMeta{MetaStore: meta, files: files}), wal.WithSegmentSize(e.segmentBytes), wal.WithLogger(e.logger.Named("wal")))
	if err != nil {
		_ = meta.Close() // it was only read; raft-wal leaves it open
		return nil, damage(err, "open the log in %s", path)
	}
	e.closers = append(e.closers, logs.Close)
	if seededbug.Is(seededbug.FsyncAfterAck) {
		return &lateLogs{LogStore: logs}, nil
	}
	return logs, nil
}

// openBolt opens a bolt file. It waits up to a second for the lock, which only
// another process can hold. The free list is not written with every commit, since
// its cost grows with the file; opening rebuilds it (docs/hazards.md, S5).
func openBolt(path string) (store *raftboltdb.BoltStore, err error) {
	if err := checkBolt(path, checkSealed); err != nil {
		return nil, damage(err, "open %s", path)
	}
	// Damage that the check does not cover may still end in a panic or, since the
	// file is mapped, in a fault.
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = damage(fmt.Errorf("%v", p), "open %s", path)
		}
	}()
	store, err = raftboltdb.New(raftboltdb.Options{Path: path, BoltOptions: &bbolt.Options{
		Timeout: time.Second, NoFreelistSync: true, FreelistType: bbolt.FreelistMapType, NoSync: seededbug.Is(seededbug.NoFsync),
	}})
	switch {
	case errors.Is(err, bolterrors.ErrTimeout):
		return nil, fmt.Errorf("%w: %s: stop that process, or give this node a data directory of its own", ErrLocked, path)
	case err != nil:
		return nil, damage(err, "open %s", path)
	}
	return store, nil
}

// claim checks that this directory's log is of the configured kind, and that the
// stable store belongs to it. state is the last index of the state and the
// snapshots: if they hold anything, the stable store held something too.
func (e *Engines) claim(stable raft.StableStore, state uint64) error {
	if e.dir == "" {
		return nil
	}
	was, err := stable.Get(keyLogStore)
	if err != nil && !Absent(err) {
		return err
	}
	last, err := e.Logs.LastIndex()
	if err != nil {
		return fmt.Errorf("read the log's end: %w", err)
	}
	switch {
	case string(was) == e.kind:
		return nil
	case len(was) == 0 && max(last, state) > 0:
		return fmt.Errorf("%w: %s is lost, which holds this node's votes: its log ends at entry %d and its state at %d: %s", ErrDamaged, filepath.Join(e.dir, "stable.db"), last, state, Rebuild)
	case len(was) > 0:
		if err := e.checkOther(string(was)); err != nil {
			return err
		}
	}
	return stable.Set(keyLogStore, []byte(e.kind))
}

// checkOther refuses to leave a log behind in another kind of store.
func (e *Engines) checkOther(kind string) error {
	if e.files != nil {
		return nil // they hold only logs of kind wal
	}
	if _, err := os.Stat(e.logPath(kind)); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	kept := len(e.closers)
	other, err := e.openLog(kind)
	if err != nil {
		return err
	}
	last, err := other.LastIndex()
	for _, stop := range e.closers[kept:] {
		err = errors.Join(err, stop())
	}
	e.closers = e.closers[:kept]
	if err != nil {
		return fmt.Errorf("open the %s log: %w", kind, err)
	}
	if last > 0 {
		return fmt.Errorf("%w: %s holds a log of kind %s up to entry %d, and raft.log_store says %s: set it back to %s, or give this node an empty data directory and let it join again", ErrSettings, e.dir, kind, last, e.kind, kind)
	}
	return nil
}

// Close closes the stores in the reverse order of opening.
func (e *Engines) Close() error {
	var err error
	for i := len(e.closers) - 1; i >= 0; i-- {
		err = errors.Join(err, e.closers[i]())
	}
	e.closers = nil
	return err
}
