package fsm

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/hashicorp/go-hclog"

	"dormouse/fsm/snapshot"
	"dormouse/fsm/txn"
	"dormouse/storage"
)

// A machine's directory:
//
//	LOCK                 locked while a process uses it
//	FORMAT               the format of the directory and its cluster id
//	CURRENT              the name of the current engine
//	engine-<index>-<n>   the engine; any other one is unfinished or replaced
//	snapshots            see snapshot.Store
//
// CURRENT is replaced atomically, so a crash leaves the old engine or the new one. The next start
// removes the engines that CURRENT does not name.
const (
	formatFile   = "FORMAT"
	currentFile  = "CURRENT"
	enginePrefix = "engine-"
	snapshotsDir = "snapshots"

	dataDirFormat     = 1
	smallFileBytesMax = 4096
)

// dataDir is a machine's directory.
type dataDir struct {
	fs        storage.FS
	dir       string
	engines   storage.Options // used to open engines
	readRows  int64           // bytes of rows that reads keep in memory
	clusterID func() string
	logger    hclog.Logger
	lock      io.Closer
	snapshots *snapshot.Store

	mu     sync.Mutex
	format format // guarded by mu; as on disk
	serial uint64 // number of the last name of an engine or a cut; guarded by mu

	// failed is set once this replica must neither apply nor snapshot again.
	failed atomic.Bool

	// Raft replays entries that the engine has applied already. Until the replay ends, Raft's state
	// is behind the engine's. seen is the last replayed entry, and replayTo the one that ends the
	// replay. Both belong to the applying goroutine.
	seen, replayTo uint64
}

// openDataDir locks the directory, checks its cluster and opens the newest state, which is the
// engine's or a snapshot's.
func openDataDir(o Options) (*dataDir, *generation, error) {
	d := &dataDir{
		fs: o.FS, dir: o.Dir, clusterID: o.ClusterID, logger: o.Logger, readRows: o.Caches.ReadRows,
	}
	if d.fs == nil {
		d.fs = storage.Disk
	}
	if d.clusterID == nil {
		d.clusterID = func() string { return "" }
	}
	if d.logger == nil {
		d.logger = hclog.NewNullLogger()
	}
	d.engines = storage.Options{
		FS: d.fs, CacheBytes: o.Caches.Engine, MemTableBytes: o.Caches.MemTable, Logger: d.logger.Named("storage"),
		Fatal: func(err error) {
			d.failed.Store(true)
			if o.Fatal == nil {
				panic(err)
			}
			o.Fatal(err)
		},
	}
	if err := storage.MakeDir(d.fs, d.dir); err != nil {
		return nil, nil, err
	}
	var err error
	if d.lock, err = storage.Lock(d.fs, d.dir); err != nil {
		return nil, nil, err
	}
	g, err := d.prepareStart()
	if err == nil { // after CURRENT is written: a directory that has a cluster id has a CURRENT
		if err = d.claim(d.clusterID()); err != nil {
			g.close()
		}
	}
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("open state in %s: %w", d.dir, err), d.lock.Close())
	}
	return d, g, nil
}

// close unlocks the directory.
func (d *dataDir) close() error {
	if err := d.lock.Close(); err != nil {
		return fmt.Errorf("unlock %s: %w", d.dir, err)
	}
	return nil
}

// prepareStart makes the newest state current and opens it. It does not read a snapshot again that
// is not ahead of the engine: its state is in the engine already.
func (d *dataDir) prepareStart() (*generation, error) {
	if err := d.readFormat(); err != nil {
		return nil, err
	}
	if err := d.foreign(d.clusterID()); err != nil {
		return nil, err
	}
	var err error
	d.snapshots, err = snapshot.OpenStore(d.fs, d.fs.PathJoin(d.dir, snapshotsDir), d.accept, d.logger)
	if err != nil {
		return nil, err
	}
	name, err := d.current()
	if err != nil {
		return nil, err
	}
	if name == "" && d.format.ClusterID != "" { // no crash leaves this state: see openDataDir
		return nil, fmt.Errorf("%w: %s is missing, which names the current engine", storage.ErrDamaged, d.fs.PathJoin(d.dir, currentFile))
	}
	newest := d.snapshots.Newest()
	if newest != nil {
		if err := d.accept(newest.Header); err != nil {
			return nil, err
		}
	}
	if name != "" {
		g, err := d.resume(name, newest)
		if err != nil || g != nil {
			return g, err
		}
	} else if err := d.removeOthers(""); err != nil {
		return nil, err
	}
	if newest == nil {
		return d.found()
	}
	g, err := d.replace(d.fs.PathJoin(newest.Dir, snapshot.DataDir), newest.Header)
	if err != nil {
		return nil, err
	}
	if err := d.removeOthers(d.fs.PathBase(g.dir)); err != nil {
		g.close()
		return nil, err
	}
	return g, nil
}

// resume opens the current engine, and only then removes the others: CURRENT itself may be damaged.
// It returns nil if the newest snapshot is ahead of the engine.
func (d *dataDir) resume(name string, newest *snapshot.Held) (*generation, error) {
	g, err := d.openEngine(name)
	if err != nil {
		return nil, err
	}
	done, err := txn.ReadProgress(g.engine)
	if err == nil {
		err = d.removeOthers(name)
	}
	switch {
	case err != nil:
		g.close()
		return nil, err
	case newest == nil || done.Index > newest.Meta.Index:
		d.replayTo = done.Index
	case done.Index < newest.Header.Index:
		d.logger.Info("the engine is behind the newest snapshot: restoring it",
			"applied", done.Index, "snapshot", newest.Header.Index)
		g.close()
		return nil, nil
	}
	return g, nil
}

// found creates the first, empty engine.
func (d *dataDir) found() (*generation, error) {
	name := d.engineName(0)
	g, err := d.makeEngine(name)
	if err != nil {
		return nil, err
	}
	if err := d.point(name); err != nil {
		g.close()
		return nil, err
	}
	return g, nil
}

func (d *dataDir) engineName(index uint64) string {
	return fmt.Sprintf("%s%d-%d", enginePrefix, index, d.nextSerial())
}

func (d *dataDir) nextSerial() uint64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.serial++
	return d.serial
}

// openEngine opens an existing engine.
func (d *dataDir) openEngine(name string) (*generation, error) {
	existing := d.engines
	existing.Existing = true
	return d.engine(name, existing)
}

// makeEngine creates an empty engine.
func (d *dataDir) makeEngine(name string) (*generation, error) { return d.engine(name, d.engines) }

func (d *dataDir) engine(name string, o storage.Options) (*generation, error) {
	dir := d.fs.PathJoin(d.dir, name)
	engine, err := storage.Open(dir, o)
	if err != nil {
		return nil, err
	}
	return newGeneration(d.fs, dir, engine, d.readRows, func(err error) { d.logger.Warn("old engine", "error", err) }), nil
}

// current returns the name of the current engine, or "" if there is none yet.
func (d *dataDir) current() (string, error) {
	raw, err := storage.ReadFile(d.fs, d.fs.PathJoin(d.dir, currentFile), smallFileBytesMax)
	if errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	name := strings.TrimSpace(string(raw))
	if !snapshot.ValidFileName(name) || !strings.HasPrefix(name, enginePrefix) {
		return "", fmt.Errorf("%w: %s names %q, which is no engine", storage.ErrDamaged, d.fs.PathJoin(d.dir, currentFile), name)
	}
	return name, nil
}

// point durably makes name the current engine.
func (d *dataDir) point(name string) error {
	if err := storage.SyncDir(d.fs, d.dir); err != nil { // sync the engine's directory entry before CURRENT names it
		return err
	}
	return storage.WriteFile(d.fs, d.fs.PathJoin(d.dir, currentFile), []byte(name+"\n"))
}

// removeOthers removes engines that are unfinished or replaced.
func (d *dataDir) removeOthers(current string) error {
	names, err := d.fs.List(d.dir)
	if err != nil {
		return fmt.Errorf("list %s: %w", d.dir, err)
	}
	for _, name := range names {
		leftover := strings.HasSuffix(name, snapshot.TemporarySuffix)
		if strings.HasPrefix(name, enginePrefix) {
			leftover = name != current
			if serial, err := strconv.ParseUint(name[strings.LastIndexByte(name, '-')+1:], 10, 64); err == nil {
				d.serial = max(d.serial, serial)
			}
		}
		if !leftover {
			continue
		}
		if err := d.fs.RemoveAll(d.fs.PathJoin(d.dir, name)); err != nil {
			return fmt.Errorf("remove leftover %s: %w", name, err)
		}
	}
	return nil
}
