package raftlog

import (
	"sync"

	"github.com/hashicorp/raft"
)

// CacheBytes is the size of the cache of recent entries by default. Applying, and
// replication to a follower that keeps up, need the last few; 32 MiB is 64 batches of
// the largest size.
const CacheBytes = 32 << 20

// cachedLogs keeps the newest entries in memory, so that replication and applying
// do not read them from the disk. raft.NewLogCache bounds only the number of
// entries: 512 of them could be 256 MiB.
type cachedLogs struct {
	raft.LogStore
	bytesMax int64

	mu      sync.RWMutex
	entries map[uint64]*raft.Log // guarded by mu; exactly lowest to highest
	lowest  uint64               // guarded by mu
	highest uint64               // guarded by mu; below lowest when empty
	bytes   int64                // guarded by mu
}

func newCachedLogs(logs raft.LogStore, bytesMax int64) *cachedLogs {
	return &cachedLogs{LogStore: logs, bytesMax: bytesMax, entries: map[uint64]*raft.Log{}, lowest: 1}
}

func (s *cachedLogs) GetLog(index uint64, log *raft.Log) error {
	s.mu.RLock()
	cached := s.entries[index]
	s.mu.RUnlock()
	if cached == nil {
		return s.LogStore.GetLog(index, log)
	}
	*log = *cached
	return nil
}

func (s *cachedLogs) StoreLog(log *raft.Log) error { return s.StoreLogs([]*raft.Log{log}) }

func (s *cachedLogs) StoreLogs(logs []*raft.Log) error {
	if err := s.LogStore.StoreLogs(logs); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, log := range logs {
		if log.Index != s.highest+1 {
			s.clear()
			s.lowest = log.Index
		}
		kept := *log
		s.entries[log.Index] = &kept
		s.highest = log.Index
		s.bytes += entryBytes(log)
	}
	for s.bytes > s.bytesMax && s.lowest <= s.highest {
		s.drop(s.lowest)
		s.lowest++
	}
	return nil
}

func (s *cachedLogs) DeleteRange(lowest, highest uint64) error {
	s.forget(lowest, highest)
	return s.LogStore.DeleteRange(lowest, highest)
}

// forget drops a prefix or a suffix of the cached entries. For any other range it
// drops all.
func (s *cachedLogs) forget(lowest, highest uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case highest < s.lowest || lowest > s.highest:
	case lowest > s.lowest && highest >= s.highest:
		for ; s.highest >= lowest; s.highest-- {
			s.drop(s.highest)
		}
	case lowest <= s.lowest && highest < s.highest:
		for ; s.lowest <= highest; s.lowest++ {
			s.drop(s.lowest)
		}
	default:
		s.clear()
	}
}

func (s *cachedLogs) drop(index uint64) {
	s.bytes -= entryBytes(s.entries[index])
	delete(s.entries, index)
}

// size returns the bytes of the cached entries.
func (s *cachedLogs) size() int64 {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.bytes
}

func (s *cachedLogs) clear() {
	clear(s.entries)
	s.bytes, s.lowest, s.highest = 0, 1, 0
}
