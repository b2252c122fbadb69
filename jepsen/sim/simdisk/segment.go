package simdisk

import (
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
)

// blockBytes is what a disk writes at once: a power failure tears between blocks.
const blockBytes = 512

// segment is a file of raft-wal.
type segment struct {
	files *logFiles
	path  string

	mu     sync.Mutex
	data   []byte           // guarded by mu
	old    map[int64][]byte // guarded by mu; by number, blocks as of the last sync that have changed since
	synced bool             // guarded by mu; its name is on the disk
	shared bool             // guarded by mu; data is also the file's before or after a crash, and must be copied before a change
}

// own makes data the file's own. The caller holds mu.
func (s *segment) own() {
	if s.shared {
		s.data, s.shared = slices.Clone(s.data), false
	}
}

// used returns where the zeros at the end of the file begin. The caller holds mu.
func (s *segment) used() int {
	used := len(s.data)
	for used > 0 && s.data[used-1] == 0 {
		used--
	}
	return used
}

// WriteAt implements types.WritableFile.
func (s *segment) WriteAt(b []byte, at int64) (int, error) {
	if err := s.files.disk.before("write", s.path); err != nil {
		return 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.own()
	end := at + int64(len(b))
	if grow := end - int64(len(s.data)); grow > 0 {
		s.data = append(s.data, make([]byte, grow)...)
	}
	for block := at / blockBytes; block*blockBytes < end; block++ {
		if _, changed := s.old[block]; !changed {
			from := block * blockBytes
			s.old[block] = slices.Clone(s.data[from:min(from+blockBytes, int64(len(s.data)))])
		}
	}
	return copy(s.data[at:], b), nil
}

// ReadAt implements types.ReadableFile.
func (s *segment) ReadAt(b []byte, at int64) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if at >= int64(len(s.data)) {
		return 0, io.EOF
	}
	n := copy(b, s.data[at:])
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

// Sync implements types.WritableFile.
func (s *segment) Sync() error {
	if err := s.files.disk.before("sync", s.path); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.old)
	s.synced = true
	return nil
}

// Close implements io.Closer.
func (s *segment) Close() error { return nil }

// crash returns the file after a crash; nil if it is gone.
func (s *segment) crash(files *logFiles, draw *rand.Rand, percent int) *segment {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.synced && draw.IntN(100) >= percent {
		return nil
	}
	s.shared = true
	after := &segment{files: files, path: s.path, data: s.data, old: map[int64][]byte{}, synced: true, shared: true}
	for _, block := range slices.Sorted(maps.Keys(s.old)) {
		if draw.IntN(100) >= percent {
			after.own()
			copy(after.data[block*blockBytes:], s.old[block])
		}
	}
	return after
}
