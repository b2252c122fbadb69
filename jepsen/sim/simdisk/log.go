package simdisk

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/raft-wal/types"

	"dormouse/cluster/raftlog"
)

// logFiles are the files of a log: raft-wal's segments with their list, and stable
// stores. The list and the stable stores change as a transaction of bbolt does: a crash
// during a change leaves the old content or the new.
type logFiles struct {
	disk *Disk

	mu       sync.Mutex
	segments map[string]*segment          // guarded by mu; by path
	meta     map[string][]byte            // guarded by mu; by directory
	stable   map[string]map[string][]byte // guarded by mu; by path, key
	locked   map[string]bool              // guarded by mu; directories
	changing []*change                    // guarded by mu; those that are not durable yet, in order
}

// Log returns the files of the log.
func (d *Disk) Log() raftlog.Files { return d.log }

// Lock implements raftlog.Files.
func (l *logFiles) Lock(dir string) (io.Closer, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.locked[dir] {
		return nil, errors.New("it is locked")
	}
	l.locked[dir] = true
	return closer(func() error {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.locked, dir)
		return nil
	}), nil
}

type closer func() error

func (c closer) Close() error { return c() }

// change is a change that is not durable yet.
type change struct{ make func() }

// change makes a change durable: it is made once the disk has synced. A crash before then
// makes it or not.
func (l *logFiles) change(path string, make func()) error {
	c := &change{make}
	l.mu.Lock()
	l.changing = append(l.changing, c)
	l.mu.Unlock()
	err := l.disk.before("write", path)
	if err == nil {
		err = l.disk.before("sync", path)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.changing = slices.DeleteFunc(l.changing, func(other *change) bool { return other == c })
	if err == nil {
		make()
	}
	return err
}

// Stable implements raftlog.Files.
func (l *logFiles) Stable(path string) (raftlog.StableFile, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stable[path] == nil {
		l.stable[path] = map[string][]byte{}
	}
	return &stableFile{files: l, path: path}, nil
}

// crash returns the files after a crash.
func (l *logFiles) crash(onto *Disk, draw *rand.Rand, percent int) *logFiles {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.changing {
		if draw.IntN(100) < max(percent, 50) {
			c.make()
		}
	}
	after := &logFiles{disk: onto, segments: map[string]*segment{}, meta: maps.Clone(l.meta), stable: map[string]map[string][]byte{}, locked: map[string]bool{}}
	for path, content := range l.stable {
		after.stable[path] = maps.Clone(content)
	}
	for _, path := range slices.Sorted(maps.Keys(l.segments)) {
		if s := l.segments[path].crash(after, draw, percent); s != nil {
			after.segments[path] = s
		}
	}
	return after
}

// Meta implements raftlog.Files.
func (l *logFiles) Meta() types.MetaStore { return &metaFile{files: l} }

// Segments implements raftlog.Files.
func (l *logFiles) Segments() types.VFS { return segments{l} }

// metaFile is raft-wal's list of segments.
type metaFile struct {
	files *logFiles
	dir   string
}

// Load implements types.MetaStore.
func (m *metaFile) Load(dir string) (state types.PersistentState, err error) {
	m.dir = dir
	m.files.mu.Lock()
	raw := m.files.meta[dir]
	m.files.mu.Unlock()
	if raw == nil {
		return state, nil
	}
	if err := json.Unmarshal(raw, &state); err != nil {
		return state, fmt.Errorf("the list of segments in %s: %w", dir, err)
	}
	return state, nil
}

// CommitState implements types.MetaStore.
func (m *metaFile) CommitState(state types.PersistentState) error {
	raw, err := json.Marshal(state)
	if err != nil {
		return err
	}
	dir := m.dir
	return m.files.change(path.Join(dir, "meta"), func() { m.files.meta[dir] = raw })
}

// GetStable implements types.MetaStore: nothing is kept here.
func (m *metaFile) GetStable([]byte) ([]byte, error) { return nil, nil }

// SetStable implements types.MetaStore: nothing is kept here.
func (m *metaFile) SetStable([]byte, []byte) error { return errors.ErrUnsupported }

// Close implements types.MetaStore.
func (m *metaFile) Close() error { return nil }

// segments is the file system of raft-wal's segments.
type segments struct{ files *logFiles }

// ListDir implements types.VFS.
func (v segments) ListDir(dir string) ([]string, error) {
	v.files.mu.Lock()
	defer v.files.mu.Unlock()
	var names []string
	for at := range v.files.segments {
		if name, in := strings.CutPrefix(at, dir+"/"); in {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// Create implements types.VFS.
func (v segments) Create(dir, name string, size uint64) (types.WritableFile, error) {
	at := path.Join(dir, name)
	if err := v.files.disk.before("write", at); err != nil {
		return nil, err
	}
	v.files.mu.Lock()
	defer v.files.mu.Unlock()
	if v.files.segments[at] != nil {
		return nil, os.ErrExist
	}
	s := &segment{files: v.files, path: at, data: make([]byte, size), old: map[int64][]byte{}}
	v.files.segments[at] = s
	return s, nil
}

// Delete implements types.VFS.
func (v segments) Delete(dir, name string) error {
	at := path.Join(dir, name)
	if err := v.files.disk.before("write", at); err != nil {
		return err
	}
	v.files.mu.Lock()
	defer v.files.mu.Unlock()
	if v.files.segments[at] == nil {
		return os.ErrNotExist
	}
	delete(v.files.segments, at)
	return nil
}

func (v segments) open(dir, name string) (*segment, error) {
	v.files.mu.Lock()
	defer v.files.mu.Unlock()
	s := v.files.segments[path.Join(dir, name)]
	if s == nil {
		return nil, fmt.Errorf("open %s: %w", path.Join(dir, name), os.ErrNotExist)
	}
	return s, nil
}

// OpenReader implements types.VFS.
func (v segments) OpenReader(dir, name string) (types.ReadableFile, error) {
	s, err := v.open(dir, name)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// OpenWriter implements types.VFS.
func (v segments) OpenWriter(dir, name string) (types.WritableFile, error) {
	s, err := v.open(dir, name)
	if err != nil {
		return nil, err
	}
	return s, nil
}
