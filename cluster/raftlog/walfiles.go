package raftlog

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/hashicorp/raft-wal/metadb"
	filer "github.com/hashicorp/raft-wal/segment"
	"github.com/hashicorp/raft-wal/types"

	"dormouse/internal/seededbug"
)

// walMeta is raft-wal's list of its segments, with checks.
//
// Raft-wal begins a new log if the list is missing, and deletes each segment that
// the list does not name: a list that is damaged, or older than the segments,
// would cost the log. Raft-wal writes the list before the segment, so a crash never
// leaves a segment whose number is not below the list's next one.
type walMeta struct {
	metadb.BoltMetaDB
	files types.SegmentFiler
}

// Load implements types.MetaStore.
func (m *walMeta) Load(dir string) (state types.PersistentState, err error) {
	path := filepath.Join(dir, metadb.FileName)
	defer func() { // raft-wal does not check the values in the file
		if p := recover(); p != nil {
			err = fmt.Errorf("%s: %v", path, p)
		}
	}()
	segments, err := m.files.List()
	if err != nil {
		return state, fmt.Errorf("list the segments in %s: %w", dir, err)
	}
	if len(segments) > 0 {
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return state, fmt.Errorf("%s is missing, which lists the %d segments that are there", path, len(segments))
		}
	}
	if err := checkBolt(path, func(_, _, _ []byte) error { return nil }); err != nil {
		return state, fmt.Errorf("%s: %w", path, err)
	}
	if state, err = m.BoltMetaDB.Load(dir); err != nil {
		return state, fmt.Errorf("%s: %w", path, err)
	}
	for id, base := range segments {
		if id >= state.NextSegmentID {
			return state, fmt.Errorf("%s is older than segment %s: its last version is lost", path, filer.FileName(types.SegmentInfo{ID: id, BaseIndex: base}))
		}
	}
	return state, nil
}

// walFiles are raft-wal's segments, with errors that name the file.
type walFiles struct {
	types.SegmentFiler
	files   types.VFS
	dir     string
	rotated func(error) error // passes on an error of a rotation
}

func newWALFiles(dir string, files types.VFS) walFiles {
	if seededbug.Is(seededbug.NoFsync) {
		files = unsynced{files}
	}
	return walFiles{SegmentFiler: filer.NewFiler(dir, files), files: files, dir: dir, rotated: func(err error) error { return err }}
}

func (f walFiles) path(info types.SegmentInfo) string {
	return filepath.Join(f.dir, filer.FileName(info))
}

// Create implements types.SegmentFiler.
func (f walFiles) Create(info types.SegmentInfo) (types.SegmentWriter, error) {
	writer, err := f.SegmentFiler.Create(info)
	if err != nil {
		return nil, f.rotated(fmt.Errorf("create segment %s: %w", f.path(info), err))
	}
	return writer, nil
}

// Open implements types.SegmentFiler.
func (f walFiles) Open(info types.SegmentInfo) (types.SegmentReader, error) {
	reader, err := f.SegmentFiler.Open(info)
	if err != nil {
		return nil, fmt.Errorf("segment %s: %w", f.path(info), err)
	}
	return namedSegment{SegmentReader: reader, path: f.path(info)}, nil
}

// RecoverTail implements types.SegmentFiler.
func (f walFiles) RecoverTail(info types.SegmentInfo) (types.SegmentWriter, error) {
	writer, err := f.SegmentFiler.RecoverTail(info)
	if err != nil {
		return nil, fmt.Errorf("segment %s: %w", f.path(info), err)
	}
	return writer, nil
}

// namedSegment is a sealed segment, with errors that name the file.
type namedSegment struct {
	types.SegmentReader
	path string
}

// GetLog implements types.SegmentReader.
func (s namedSegment) GetLog(index uint64) (*types.PooledBuffer, error) {
	raw, err := s.SegmentReader.GetLog(index)
	if err != nil && err != types.ErrNotFound { //nolint:errorlint // raft-wal compares with ==
		return nil, fmt.Errorf("segment %s: %w", s.path, err)
	}
	return raw, err
}
