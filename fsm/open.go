package fsm

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"dormouse/fsm/snapshot"
	"dormouse/storage"
)

// Open opens the machine in o.Dir, and creates it if it does not exist. If a crash has left the
// engine behind the newest snapshot, Open restores that snapshot first, so that Raft can continue
// from its end.
func Open(o Options) (*Machine, error) {
	o.Caches = o.Caches.orDefault()
	m := &Machine{options: o}
	d, g, err := openDataDir(o)
	if err != nil {
		return nil, err
	}
	m.data = d
	if err := m.adopt(g); err != nil {
		g.close()
		_ = d.close()
		return nil, fmt.Errorf("open state in %s: %w", o.Dir, err)
	}
	if index, chain := m.Chain(); index > 0 {
		m.chains.Add(index, chain)
	}
	return m, nil
}

// Close closes the machine and waits for open views. Raft must not use the machine any more. Raft
// replays from its log what was not flushed.
func (m *Machine) Close() error {
	m.gen.close()
	return m.data.close()
}

// AppliedTerm returns the term of the newest entry that views of a machine see.
func AppliedTerm(m *Machine) uint64 {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.progress.Term
}

// CopyOffline copies the directory of a machine that is not open to the new directory to. It links
// the files that an engine never changes, so both must be on one file system to save space. The
// original stays locked until unlock is closed. The error wraps storage.ErrLocked if it is in use.
func CopyOffline(from, to string) (unlock io.Closer, err error) {
	if _, err := os.Stat(filepath.Join(from, currentFile)); err != nil {
		return nil, fmt.Errorf("%w: %s holds no state: %w", storage.ErrForeign, from, err)
	}
	lock, err := storage.Lock(storage.Disk, from)
	if err != nil {
		return nil, err
	}
	err = filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		switch {
		case entry.IsDir():
			return os.MkdirAll(target, 0o700)
		case entry.Name() == "LOCK":
			return nil
		case snapshot.Unchanging(entry.Name()) && os.Link(path, target) == nil:
			return nil
		}
		return copyFile(path, target)
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("copy the state in %s: %w", from, err), lock.Close())
	}
	return lock, nil
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close() //nolint:errcheck // it is only read
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
