package storage

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// FS is the file system of an engine and its neighbouring files.
type FS = vfs.FS

// File is an open file or directory of an FS.
type File = vfs.File

// Disk is the operating system's file system.
var Disk FS = vfs.Default

// MemFS returns an empty file system in memory.
func MemFS() FS { return vfs.NewMem() }

// CrashFS is a file system in memory that can simulate a power failure.
type CrashFS struct{ *vfs.MemFS }

// CrashableMemFS returns an empty CrashFS.
func CrashableMemFS() CrashFS { return CrashFS{vfs.NewCrashableMem()} }

// Crash returns the file system after a power failure now: all synced data, and each other block
// and directory entry with a probability of percent in a hundred. It does not change the original.
func (c CrashFS) Crash(rng *rand.Rand, percent int) CrashFS {
	return CrashFS{c.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: percent, RNG: rng})}
}

// Ender is a file system of a node that is not a process of its own, as in a simulation. End
// takes the place of the panic that ends a process whose engine has failed. It does not return.
type Ender interface{ End(error) }

// ErrLocked is wrapped by the error of opening a directory that is in use.
var ErrLocked = errors.New("another dormoused is running on this data directory: stop it, or choose another --data-dir")

// Lock takes the exclusive lock of an existing directory, until the closer is closed or the process
// ends.
func Lock(fs FS, dir string) (io.Closer, error) {
	lock, err := fs.Lock(fs.PathJoin(dir, "LOCK"))
	if err != nil {
		return nil, lockError(dir, err)
	}
	return lock, nil
}

// WriteFile writes a file such that a crash leaves the old content or the new, complete. Once it
// has returned, it is the new.
func WriteFile(fs FS, path string, content []byte) error {
	temporary := path + ".tmp"
	if err := writeSynced(fs, temporary, content); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := fs.Rename(temporary, path); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return SyncDir(fs, fs.PathDir(path))
}

func writeSynced(fs FS, path string, content []byte) error {
	f, err := fs.Create(path, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	_, err = f.Write(append([]byte(nil), content...)) // an FS may change its argument
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// CreateFile creates a new file, and replaces an existing one.
func CreateFile(fs FS, path string) (File, error) {
	return fs.Create(path, vfs.WriteCategoryUnspecified)
}

// ReadFile reads a whole file of at most bytesMax.
func ReadFile(fs FS, path string, bytesMax int64) ([]byte, error) {
	f, err := fs.Open(path)
	if err != nil {
		return nil, err
	}
	content, err := io.ReadAll(io.LimitReader(f, bytesMax+1))
	err = errors.Join(err, f.Close())
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	if int64(len(content)) > bytesMax {
		return nil, fmt.Errorf("read %s: it is larger than %d bytes", path, bytesMax)
	}
	return content, nil
}

// SyncDir makes the directory's entries durable: created, renamed and removed files.
func SyncDir(fs FS, dir string) error {
	d, err := fs.OpenDir(dir)
	if err != nil {
		return fmt.Errorf("sync directory %s: %w", dir, err)
	}
	if err := errors.Join(d.Sync(), d.Close()); err != nil {
		return fmt.Errorf("sync directory %s: %w", dir, err)
	}
	return nil
}

// MakeDir creates a directory and its missing parents, durably.
func MakeDir(fs FS, dir string) error {
	var changed []string // the directories that get a new entry
	for d := dir; ; d = fs.PathDir(d) {
		if _, err := fs.Stat(d); err == nil {
			break
		}
		parent := fs.PathDir(d)
		if parent == d {
			break
		}
		if changed = append(changed, parent); parent == "." {
			break
		}
	}
	if err := fs.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make directory %s: %w", dir, err)
	}
	for _, d := range changed {
		if err := SyncDir(fs, d); err != nil {
			return err
		}
	}
	return nil
}

// LinkOrCopy makes newname a hard link of oldname, or a synced copy if the FS cannot link. Only
// files that never change again may be linked.
func LinkOrCopy(fs FS, oldname, newname string) error {
	return vfs.LinkOrCopy(fs, oldname, newname)
}

// CopyFile makes newname a synced copy of oldname.
func CopyFile(fs FS, oldname, newname string) error {
	return vfs.Copy(fs, oldname, newname)
}
