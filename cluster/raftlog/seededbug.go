package raftlog

import (
	"fmt"
	"sync"
	"time"

	"github.com/hashicorp/raft"
	"github.com/hashicorp/raft-wal/types"
)

// unsynced is a file system where Sync does nothing.
type unsynced struct{ types.VFS }

// Create implements types.VFS.
func (u unsynced) Create(dir, name string, size uint64) (types.WritableFile, error) {
	f, err := u.VFS.Create(dir, name, size)
	return unsyncedFile{f}, err
}

// OpenWriter implements types.VFS.
func (u unsynced) OpenWriter(dir, name string) (types.WritableFile, error) {
	f, err := u.VFS.OpenWriter(dir, name)
	return unsyncedFile{f}, err
}

type unsyncedFile struct{ types.WritableFile }

// Sync implements types.WritableFile.
func (unsyncedFile) Sync() error { return nil }

// lateBy is how long lateLogs delays writes.
const lateBy = 300 * time.Millisecond

// lateLogs reports that entries are stored, and stores them a little later.
type lateLogs struct {
	raft.LogStore

	mu      sync.Mutex
	pending []*raft.Log // guarded by mu; the entries after those that are stored
}

// StoreLogs implements raft.LogStore.
func (s *lateLogs) StoreLogs(logs []*raft.Log) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.pending) == 0 {
		time.AfterFunc(lateBy, func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			_ = s.flush()
		})
	}
	s.pending = append(s.pending, logs...)
	return nil
}

// flush stores what is pending. mu is held.
func (s *lateLogs) flush() error {
	pending := s.pending
	s.pending = nil
	if len(pending) == 0 {
		return nil
	}
	if err := s.LogStore.StoreLogs(pending); err != nil {
		return fmt.Errorf("store late: %w", err)
	}
	return nil
}

// GetLog implements raft.LogStore.
func (s *lateLogs) GetLog(index uint64, log *raft.Log) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.pending) > 0 && index >= s.pending[0].Index && index-s.pending[0].Index < uint64(len(s.pending)) {
		*log = *s.pending[index-s.pending[0].Index]
		return nil
	}
	return s.LogStore.GetLog(index, log)
}

// FirstIndex implements raft.LogStore.
func (s *lateLogs) FirstIndex() (uint64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	first, err := s.LogStore.FirstIndex()
	if err == nil && first == 0 && len(s.pending) > 0 {
		first = s.pending[0].Index
	}
	return first, err
}

// LastIndex implements raft.LogStore.
func (s *lateLogs) LastIndex() (uint64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.pending); n > 0 {
		return s.pending[n-1].Index, nil
	}
	return s.LogStore.LastIndex()
}

// DeleteRange implements raft.LogStore.
func (s *lateLogs) DeleteRange(lowest, highest uint64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.flush(); err != nil {
		return err
	}
	return s.LogStore.DeleteRange(lowest, highest)
}
