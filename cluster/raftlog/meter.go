package raftlog

import (
	"errors"
	"fmt"
	"sort"
	"sync"

	"github.com/hashicorp/raft"
)

// Raft's own limits count entries. Commits share entries of up to 512 KiB, so a
// count of entries bounds nothing, and the meter counts bytes.

// meterGrain is the distance of two marks in bytes: 1 GiB of log costs 16,384 marks
// of 16 bytes. A result is wrong by at most the grain and one entry.
const meterGrain = 64 << 10

// entryOverhead is what the engines write beside the data of an entry.
const entryOverhead = 64

// meteredLogs counts the bytes of the entries that are in the log.
type meteredLogs struct {
	raft.LogStore

	mu    sync.Mutex
	marks []byteMark // guarded by mu; ascending; the first may lie below the log's first entry
	end   byteMark   // guarded by mu; the log's end
}

// byteMark is the size of the entries up to and including index, counted from an
// origin that stays the same while the process runs.
type byteMark struct {
	index uint64
	sum   int64
}

func entryBytes(log *raft.Log) int64 {
	return int64(len(log.Data)) + int64(len(log.Extensions)) + entryOverhead
}

// span returns the first and the last index of a log; both are 0 if it is empty.
func span(logs raft.LogStore) (first, last uint64, err error) {
	if first, err = logs.FirstIndex(); err != nil {
		return 0, 0, err
	}
	last, err = logs.LastIndex()
	return first, last, err
}

// load counts the entries of the log. It reads them all, so it finds corrupt
// entries at the start.
func (s *meteredLogs) load() error {
	first, last, err := span(s)
	if err != nil {
		return err
	}
	if last == 0 {
		return nil
	}
	s.start(first - 1)
	for index := first; index <= last; index++ {
		var log raft.Log
		if err := within(s, index, &log); err != nil {
			return fmt.Errorf("check the log: entry %d of %d to %d: %w", index, first, last, err)
		}
		s.count(&log)
	}
	return nil
}

// within reads an entry between the log's first and last one.
func within(logs raft.LogStore, index uint64, log *raft.Log) error {
	err := logs.GetLog(index, log)
	if errors.Is(err, raft.ErrLogNotFound) {
		return fmt.Errorf("%w: log entry %d is missing: %s", ErrDamaged, index, Rebuild)
	}
	return err
}

// start sets the end of an empty log: the entry before its first one.
func (s *meteredLogs) start(index uint64) {
	s.end = byteMark{index: index}
	s.marks = append(s.marks[:0], s.end)
}

func (s *meteredLogs) count(log *raft.Log) {
	if len(s.marks) == 0 || log.Index != s.end.index+1 {
		s.start(log.Index - 1)
	}
	s.end = byteMark{index: log.Index, sum: s.end.sum + entryBytes(log)}
	if s.end.sum-s.marks[len(s.marks)-1].sum >= meterGrain {
		s.marks = append(s.marks, s.end)
	}
}

func (s *meteredLogs) StoreLog(log *raft.Log) error { return s.StoreLogs([]*raft.Log{log}) }

func (s *meteredLogs) StoreLogs(logs []*raft.Log) error {
	if err := s.LogStore.StoreLogs(logs); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, log := range logs {
		s.count(log)
	}
	return nil
}

func (s *meteredLogs) DeleteRange(lowest, highest uint64) error {
	if err := s.LogStore.DeleteRange(lowest, highest); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.marks) == 0 {
		return nil
	}
	first := s.marks[0].index + 1
	switch {
	case lowest <= first && highest >= s.end.index:
		s.marks, s.end = s.marks[:0], byteMark{}
	case highest >= s.end.index: // a suffix
		s.end = byteMark{index: lowest - 1, sum: s.sumAt(lowest - 1)}
		s.marks = s.marks[:s.markAt(lowest-1)+1]
	case lowest <= first: // a prefix
		at := byteMark{index: highest, sum: s.sumAt(highest)}
		s.marks = append(s.marks[:0:0], s.marks[s.markAt(highest):]...)
		s.marks[0] = at
	}
	return nil
}

// markAt returns the position of the last mark at or below index, or 0.
func (s *meteredLogs) markAt(index uint64) int {
	return max(0, sort.Search(len(s.marks), func(i int) bool { return s.marks[i].index > index })-1)
}

// sumAt returns the bytes up to index, within the grain.
func (s *meteredLogs) sumAt(index uint64) int64 {
	switch {
	case len(s.marks) == 0:
		return 0
	case index >= s.end.index:
		return s.end.sum
	default:
		return s.marks[s.markAt(index)].sum
	}
}

// Between returns the size of the entries above low, up to and including high.
func (s *meteredLogs) Between(low, high uint64) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if high <= low {
		return 0
	}
	return s.sumAt(high) - s.sumAt(low)
}

// after returns the size of the entries above index.
func (s *meteredLogs) after(index uint64) int64 { return s.Between(index, ^uint64(0)) }

// newest returns how many of the newest entries fit into that many bytes.
func (s *meteredLogs) newest(bytes int64) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := sort.Search(len(s.marks), func(i int) bool { return s.end.sum-s.marks[i].sum <= bytes })
	if i == len(s.marks) {
		return 0
	}
	return s.end.index - s.marks[i].index
}
