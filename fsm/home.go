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

	homeFormat        = 1
	smallFileBytesMax = 4096
)

// home is a machine's directory.
type home struct {
	fs        storage.FS
	dir       string
	engines   storage.Options // used to open engines
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

// openHome locks the directory, checks its cluster and opens the newest state, which is the
// engine's or a snapshot's.
func openHome(o Options) (*home, *generation, error) {
	h := &home{
		fs: o.FS, dir: o.Dir, clusterID: o.ClusterID, logger: o.Logger,
	}
	if h.fs == nil {
		h.fs = storage.Disk
	}
	if h.clusterID == nil {
		h.clusterID = func() string { return "" }
	}
	if h.logger == nil {
		h.logger = hclog.NewNullLogger()
	}
	h.engines = storage.Options{
		FS: h.fs, CacheBytes: o.CacheBytes, Logger: h.logger.Named("storage"),
		Fatal: func(err error) {
			h.failed.Store(true)
			if o.Fatal == nil {
				panic(err)
			}
			o.Fatal(err)
		},
	}
	if err := storage.MakeDir(h.fs, h.dir); err != nil {
		return nil, nil, err
	}
	var err error
	if h.lock, err = storage.Lock(h.fs, h.dir); err != nil {
		return nil, nil, err
	}
	g, err := h.prepareStart()
	if err == nil { // after CURRENT is written: a directory that has a cluster id has a CURRENT
		if err = h.claim(h.clusterID()); err != nil {
			g.close()
		}
	}
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("open state in %s: %w", h.dir, err), h.lock.Close())
	}
	return h, g, nil
}

// close unlocks the directory.
func (h *home) close() error {
	if err := h.lock.Close(); err != nil {
		return fmt.Errorf("unlock %s: %w", h.dir, err)
	}
	return nil
}

// prepareStart makes the newest state current and opens it. It does not read a snapshot again that
// is not ahead of the engine: its state is in the engine already.
func (h *home) prepareStart() (*generation, error) {
	if err := h.readFormat(); err != nil {
		return nil, err
	}
	if err := h.foreign(h.clusterID()); err != nil {
		return nil, err
	}
	var err error
	h.snapshots, err = snapshot.OpenStore(h.fs, h.fs.PathJoin(h.dir, snapshotsDir), h.accept, h.logger)
	if err != nil {
		return nil, err
	}
	name, err := h.current()
	if err != nil {
		return nil, err
	}
	if name == "" && h.format.ClusterID != "" { // no crash leaves this state: see openHome
		return nil, fmt.Errorf("%w: %s is missing, which names the current engine", storage.ErrDamaged, h.fs.PathJoin(h.dir, currentFile))
	}
	newest := h.snapshots.Newest()
	if newest != nil {
		if err := h.accept(newest.Header); err != nil {
			return nil, err
		}
	}
	if name != "" {
		g, err := h.resume(name, newest)
		if err != nil || g != nil {
			return g, err
		}
	} else if err := h.removeOthers(""); err != nil {
		return nil, err
	}
	if newest == nil {
		return h.found()
	}
	g, err := h.replace(h.fs.PathJoin(newest.Dir, snapshot.DataDir), newest.Header)
	if err != nil {
		return nil, err
	}
	if err := h.removeOthers(h.fs.PathBase(g.dir)); err != nil {
		g.close()
		return nil, err
	}
	return g, nil
}

// resume opens the current engine, and only then removes the others: CURRENT itself may be damaged.
// It returns nil if the newest snapshot is ahead of the engine.
func (h *home) resume(name string, newest *snapshot.Held) (*generation, error) {
	g, err := h.openEngine(name)
	if err != nil {
		return nil, err
	}
	done, err := txn.ReadProgress(g.engine)
	if err == nil {
		err = h.removeOthers(name)
	}
	switch {
	case err != nil:
		g.close()
		return nil, err
	case newest == nil || done.Index > newest.Meta.Index:
		h.replayTo = done.Index
	case done.Index < newest.Header.Index:
		h.logger.Info("the engine is behind the newest snapshot: restoring it",
			"applied", done.Index, "snapshot", newest.Header.Index)
		g.close()
		return nil, nil
	}
	return g, nil
}

// found creates the first, empty engine.
func (h *home) found() (*generation, error) {
	name := h.engineName(0)
	g, err := h.makeEngine(name)
	if err != nil {
		return nil, err
	}
	if err := h.point(name); err != nil {
		g.close()
		return nil, err
	}
	return g, nil
}

func (h *home) engineName(index uint64) string {
	return fmt.Sprintf("%s%d-%d", enginePrefix, index, h.nextSerial())
}

func (h *home) nextSerial() uint64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.serial++
	return h.serial
}

// openEngine opens an existing engine.
func (h *home) openEngine(name string) (*generation, error) {
	existing := h.engines
	existing.Existing = true
	return h.engine(name, existing)
}

// makeEngine creates an empty engine.
func (h *home) makeEngine(name string) (*generation, error) { return h.engine(name, h.engines) }

func (h *home) engine(name string, o storage.Options) (*generation, error) {
	dir := h.fs.PathJoin(h.dir, name)
	engine, err := storage.Open(dir, o)
	if err != nil {
		return nil, err
	}
	return newGeneration(h.fs, dir, engine, func(err error) { h.logger.Warn("old engine", "error", err) }), nil
}

// current returns the name of the current engine, or "" if there is none yet.
func (h *home) current() (string, error) {
	raw, err := storage.ReadFile(h.fs, h.fs.PathJoin(h.dir, currentFile), smallFileBytesMax)
	if errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	name := strings.TrimSpace(string(raw))
	if !snapshot.ValidFileName(name) || !strings.HasPrefix(name, enginePrefix) {
		return "", fmt.Errorf("%w: %s names %q, which is no engine", storage.ErrDamaged, h.fs.PathJoin(h.dir, currentFile), name)
	}
	return name, nil
}

// point durably makes name the current engine.
func (h *home) point(name string) error {
	if err := storage.SyncDir(h.fs, h.dir); err != nil { // sync the engine's directory entry before CURRENT names it
		return err
	}
	return storage.WriteFile(h.fs, h.fs.PathJoin(h.dir, currentFile), []byte(name+"\n"))
}

// removeOthers removes engines that are unfinished or replaced.
func (h *home) removeOthers(current string) error {
	names, err := h.fs.List(h.dir)
	if err != nil {
		return fmt.Errorf("list %s: %w", h.dir, err)
	}
	for _, name := range names {
		leftover := strings.HasSuffix(name, snapshot.TemporarySuffix)
		if strings.HasPrefix(name, enginePrefix) {
			leftover = name != current
			if serial, err := strconv.ParseUint(name[strings.LastIndexByte(name, '-')+1:], 10, 64); err == nil {
				h.serial = max(h.serial, serial)
			}
		}
		if !leftover {
			continue
		}
		if err := h.fs.RemoveAll(h.fs.PathJoin(h.dir, name)); err != nil {
			return fmt.Errorf("remove leftover %s: %w", name, err)
		}
	}
	return nil
}
