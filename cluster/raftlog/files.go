package raftlog

import (
	"fmt"
	"io"
	"path"

	"github.com/hashicorp/raft"
	"github.com/hashicorp/raft-wal/types"
)

// Files is a disk for a log of kind wal, instead of the machine's: a simulator's, with
// faults of its own. A nil Files means the machine's disk, with bbolt files for what is
// stable.
type Files interface {
	// Lock makes a directory and takes its lock, until the closer is closed.
	Lock(dir string) (io.Closer, error)
	// Segments is the file system of raft-wal's segments.
	Segments() types.VFS
	// Meta returns raft-wal's list of segments.
	Meta() types.MetaStore
	// Stable opens the stable store in a file.
	Stable(path string) (StableFile, error)
}

// StableFile is an open stable store. A Set is durable once it has returned.
type StableFile interface {
	raft.StableStore
	io.Closer
}

// openFiles opens the stores on e.files.
func (e *Engines) openFiles() error {
	if e.kind != logStoreWAL {
		return fmt.Errorf("log store %q: only %s can be kept on other files than the disk's", e.kind, logStoreWAL)
	}
	lock, err := e.files.Lock(e.dir)
	if err != nil {
		return fmt.Errorf("%w: %s: %w", ErrLocked, e.dir, err)
	}
	e.closers = append(e.closers, lock.Close)
	at := path.Join(e.dir, "stable.db")
	stable, err := e.files.Stable(at)
	if err != nil {
		return damage(err, "open %s", at)
	}
	e.Stable = stable
	e.closers = append(e.closers, stable.Close)
	at = e.logPath(logStoreWAL)
	logs, err := e.openSegments(at, newWALFiles(at, e.files.Segments()), e.files.Meta())
	if err != nil {
		return err
	}
	e.Logs = liveLogs{logs}
	return nil
}
