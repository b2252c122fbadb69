package simdisk

import (
	"bytes"
	"encoding/binary"
	"errors"
)

// stableFile is a stable store, as raft-boltdb's.
type stableFile struct {
	files *logFiles
	path  string
}

// errKeyNotFound has the text that Raft compares with.
var errKeyNotFound = errors.New("not found")

// Set implements raft.StableStore.
func (s *stableFile) Set(key, value []byte) error {
	at, value := string(key), bytes.Clone(value)
	return s.files.change(s.path, func() { s.files.stable[s.path][at] = value })
}

// Get implements raft.StableStore.
func (s *stableFile) Get(key []byte) ([]byte, error) {
	s.files.mu.Lock()
	defer s.files.mu.Unlock()
	value, is := s.files.stable[s.path][string(key)]
	if !is {
		return nil, errKeyNotFound
	}
	return bytes.Clone(value), nil
}

// SetUint64 implements raft.StableStore.
func (s *stableFile) SetUint64(key []byte, value uint64) error {
	return s.Set(key, binary.BigEndian.AppendUint64(nil, value))
}

// GetUint64 implements raft.StableStore.
func (s *stableFile) GetUint64(key []byte) (uint64, error) {
	value, err := s.Get(key)
	if err != nil {
		return 0, err
	}
	if len(value) != 8 {
		return 0, errors.New("it is no number")
	}
	return binary.BigEndian.Uint64(value), nil
}

// Close implements io.Closer.
func (s *stableFile) Close() error { return nil }
