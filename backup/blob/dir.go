package blob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/renameio/v2"

	"dormouse/internal/durable"
)

// dir is a Store in a directory: an object is a file, and the parts of its name are directories. Put writes a
// temporary file and renames it.
type dir struct {
	root string
	most int // objects of one list

	mu    sync.Mutex
	swept time.Time // when Put last looked for what crashes have left; guarded by mu
}

const (
	leftoverAge = 24 * time.Hour // a temporary file with no write for a day is of a process that has ended
	sweepEvery  = time.Hour
)

// OpenDir returns the store in a directory. It creates the directory, but not its parent: it should be on the file
// system of the backups, and is missing if that is not mounted. A mount point itself exists all the same.
func OpenDir(root string) (Store, error) {
	root = filepath.Clean(root) // the parents of objects are compared with it
	if err := os.Mkdir(root, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("make the directory of the backups: %w", err)
	}
	info, err := os.Stat(root)
	if err != nil {
		return nil, fmt.Errorf("open the directory of the backups: %w", err)
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("open the directory of the backups: %s is no directory", root)
	}
	return &dir{root: root, most: ObjectsMax}, nil
}

func (d *dir) path(name string) (string, error) {
	if err := checkName(name); err != nil {
		return "", err
	}
	return filepath.Join(d.root, filepath.FromSlash(name)), nil
}

// Put implements Store. A crash leaves no part of an object under its name.
func (d *dir) Put(ctx context.Context, name string, r io.Reader, _ int64) (err error) {
	path, err := d.path(name)
	if err != nil {
		return err
	}
	d.sweep()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("store %s: %w", name, err)
	}
	file, err := renameio.NewPendingFile(path, renameio.WithPermissions(0o600), renameio.WithTempDir(filepath.Dir(path)))
	if err != nil {
		return fmt.Errorf("store %s: %w", name, err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("store %s: %w", name, err), file.Cleanup())
		}
	}()
	if _, err := io.Copy(file, &bounded{ctx: ctx, r: r}); err != nil {
		return err
	}
	if err := file.CloseAtomicallyReplace(); err != nil {
		return err
	}
	for at := filepath.Dir(path); ; at = filepath.Dir(at) {
		if err := durable.SyncDir(at); err != nil || at == d.root {
			return err
		}
	}
}

// Get implements Store.
func (d *dir) Get(ctx context.Context, name string) (io.ReadCloser, error) {
	path, err := d.path(name)
	if err != nil {
		return nil, err
	}
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read %s: %w", name, ErrNotFound)
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return struct {
		io.Reader
		io.Closer
	}{&bounded{ctx: ctx, r: file}, file}, nil
}

// List implements Store. It skips files that no object has, such as those of unfinished writes.
func (d *dir) List(ctx context.Context, prefix string) ([]Object, error) {
	from := d.root
	if at := strings.LastIndexByte(prefix, '/'); at > 0 {
		var err error
		if from, err = d.path(prefix[:at]); err != nil {
			return nil, err
		}
	}
	var all []Object
	err := filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // there is none, or it was deleted meanwhile
		}
		if err != nil || ctx.Err() != nil {
			return errors.Join(err, context.Cause(ctx))
		}
		rel, err := filepath.Rel(d.root, path)
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		name := filepath.ToSlash(rel)
		if !strings.HasPrefix(name, prefix) || !validName(name) {
			return nil
		}
		info, err := entry.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil // it was deleted meanwhile
		}
		if err != nil {
			return err
		}
		if len(all) == d.most {
			return ErrTooMany
		}
		all = append(all, Object{Name: name, Size: info.Size()})
		return nil
	})
	if err != nil && !errors.Is(err, ErrTooMany) {
		return nil, fmt.Errorf("list %s in %s: %w", prefix, d.root, err)
	}
	slices.SortFunc(all, func(a, b Object) int { return strings.Compare(a.Name, b.Name) })
	return all, err
}

// Dirs implements Store.
func (d *dir) Dirs(context.Context) ([]string, error) {
	entries, err := os.ReadDir(d.root)
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", d.root, err)
	}
	var all []string
	for _, entry := range entries {
		if entry.IsDir() && validName(entry.Name()) {
			all = append(all, entry.Name())
		}
	}
	return all, nil
}

// Delete implements Store. It also removes directories that are empty now.
func (d *dir) Delete(_ context.Context, name string) error {
	path, err := d.path(name)
	if err != nil {
		return err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("delete %s: %w", name, err)
	}
	d.removeParents(path)
	return nil
}

// removeParents removes the directories of a removed file that are empty now.
func (d *dir) removeParents(path string) {
	for at := filepath.Dir(path); at != d.root; at = filepath.Dir(at) {
		if !removed(at) { // another object is in it
			break
		}
	}
}

// sweep removes the temporary files that crashes have left: List does not return them. It looks for them once
// an hour, and tries again then what it cannot remove.
func (d *dir) sweep() {
	d.mu.Lock()
	due := time.Since(d.swept) > sweepEvery
	if due {
		d.swept = time.Now()
	}
	d.mu.Unlock()
	if !due {
		return
	}
	_ = filepath.WalkDir(d.root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() || !temporary(entry.Name()) {
			return nil //nolint:nilerr // of a directory that was removed meanwhile, or cannot be read
		}
		if info, err := entry.Info(); err == nil && time.Since(info.ModTime()) > leftoverAge && removed(path) {
			d.removeParents(path)
		}
		return nil
	})
}

// temporary reports whether Put gives a temporary file such a name: a dot, a part of an object's name, and a
// number. Those of NFS, for files that were removed while they were open, are alike.
func temporary(name string) bool {
	part, dotted := strings.CutPrefix(name, ".")
	object := strings.TrimRight(part, "0123456789")
	return dotted && object != part && validName(part) && !strings.HasPrefix(part, "nfs")
}

// removed removes a file, or a directory if it is empty.
func removed(path string) bool { return os.Remove(path) == nil }

// Close implements Store.
func (d *dir) Close() error { return nil }

// bounded reads until ctx ends.
type bounded struct {
	ctx context.Context //nolint:containedctx // of one call
	r   io.Reader
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.ctx.Err() != nil {
		return 0, context.Cause(b.ctx)
	}
	return b.r.Read(p)
}
