package raftlog

import (
	"errors"
	"math"
	"sync"

	"github.com/hashicorp/raft"
)

// pendingBytesMax bounds the entries that wait to be written; one larger call of
// StoreOwn alone may pass it. A leader has one entry of commits in flight, so few wait.
const pendingBytesMax = 16 << 20

// errNotWritten ends a wait for entries whose write is still under way.
var errNotWritten = errors.New("this node has not written its own log entries yet")

// LeaderLogs is a log store that writes a leader's own entries while they travel to
// the followers, as section 10.2.1 of Ongaro's dissertation on Raft proposes.
//
// Raft counts an entry as stored on the leader when the store returns. So the guard
// keeps each follower's answer from Raft until Wait says that this node has
// written the entries that the answer is for. An entry that a majority has
// acknowledged is then on the disks of that majority, this node included. That holds
// while a majority needs another node; ownEntryCheck calls StoreLogs otherwise.
//
// Its methods may be called concurrently, but for those that store entries.
type LeaderLogs struct {
	raft.LogStore

	mu      sync.Mutex
	pending []*raft.Log   // guarded by mu; the entries after those that are written, in order
	bytes   int64         // guarded by mu; of pending
	writing bool          // guarded by mu; a goroutine writes what is pending
	err     error         // guarded by mu; of a write: later calls return it
	written chan struct{} // guarded by mu; closed and replaced when pending shrinks or a write fails
}

func newLeaderLogs(logs raft.LogStore) *LeaderLogs {
	return &LeaderLogs{LogStore: logs, written: make(chan struct{})}
}

// StoreOwn stores entries that this node made. It may return before they are written.
func (s *LeaderLogs) StoreOwn(logs []*raft.Log) error {
	var bytes int64
	for _, log := range logs {
		bytes += entryBytes(log)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.err == nil && s.bytes > 0 && s.bytes+bytes > pendingBytesMax {
		s.await()
	}
	if s.err != nil {
		return s.err
	}
	s.pending = append(s.pending, logs...)
	s.bytes += bytes
	if !s.writing {
		s.writing = true
		go s.write()
	}
	return nil
}

// await releases mu until a write has ended.
func (s *LeaderLogs) await() {
	written := s.written
	s.mu.Unlock()
	<-written
	s.mu.Lock()
}

// write writes until nothing is pending.
func (s *LeaderLogs) write() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.pending) > 0 && s.err == nil {
		logs := s.pending[:len(s.pending):len(s.pending)]
		s.mu.Unlock()
		err := s.LogStore.StoreLogs(logs)
		s.mu.Lock()
		if s.err = err; err == nil {
			s.pending = s.pending[len(logs):]
			for _, log := range logs {
				s.bytes -= entryBytes(log)
			}
		}
		close(s.written)
		s.written = make(chan struct{})
	}
	if len(s.pending) == 0 {
		s.pending = nil
	}
	s.writing = false
}

// Wait returns once no entry up to index waits to be written, or stop is closed; a nil
// channel never is. The error is that of the write, or errNotWritten.
func (s *LeaderLogs) Wait(index uint64, stop <-chan struct{}) error {
	for {
		s.mu.Lock()
		written, err, pends := s.written, s.err, len(s.pending) > 0 && s.pending[0].Index <= index
		s.mu.Unlock()
		if err != nil || !pends {
			return err
		}
		select {
		case <-written:
		case <-stop:
			return errNotWritten
		}
	}
}

// StoreLog implements raft.LogStore, as StoreLogs does.
func (s *LeaderLogs) StoreLog(log *raft.Log) error { return s.StoreLogs([]*raft.Log{log}) }

// StoreLogs implements raft.LogStore. The entries are written when it returns.
func (s *LeaderLogs) StoreLogs(logs []*raft.Log) error {
	if err := s.Wait(math.MaxUint64, nil); err != nil {
		return err
	}
	return s.LogStore.StoreLogs(logs)
}

// GetLog implements raft.LogStore.
func (s *LeaderLogs) GetLog(index uint64, log *raft.Log) error {
	s.mu.Lock()
	if len(s.pending) > 0 && index >= s.pending[0].Index && index-s.pending[0].Index < uint64(len(s.pending)) {
		*log = *s.pending[index-s.pending[0].Index]
		s.mu.Unlock()
		return nil
	}
	s.mu.Unlock()
	return s.LogStore.GetLog(index, log)
}

// FirstIndex implements raft.LogStore.
func (s *LeaderLogs) FirstIndex() (uint64, error) {
	oldest, _, pends := s.pendingSpan()
	first, err := s.LogStore.FirstIndex()
	if err == nil && first == 0 && pends {
		first = oldest
	}
	return first, err
}

// LastIndex implements raft.LogStore.
func (s *LeaderLogs) LastIndex() (uint64, error) {
	if _, newest, pends := s.pendingSpan(); pends {
		return newest, nil
	}
	return s.LogStore.LastIndex()
}

// pendingSpan returns the first and the last entry that are pending, if there are some.
func (s *LeaderLogs) pendingSpan() (oldest, newest uint64, pends bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.pending) == 0 {
		return 0, 0, false
	}
	return s.pending[0].Index, s.pending[len(s.pending)-1].Index, true
}

// DeleteRange implements raft.LogStore.
func (s *LeaderLogs) DeleteRange(lowest, highest uint64) error {
	if err := s.Wait(highest, nil); err != nil {
		return err
	}
	return s.LogStore.DeleteRange(lowest, highest)
}
