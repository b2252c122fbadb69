package raftlog

import (
	"errors"
	"fmt"
	"sync"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
)

// errClosed answers calls that come after Close. It ends nobody.
var errClosed = errors.New("the log stores are closed")

// latch turns the first failure of a disk into the end of the node.
//
// An fsync that failed may have dropped the very pages that it was to write,
// and a second one then succeeds over the hole (HAZARDS S3). So nothing is
// ever tried again: the first error of a write, the first write that does not
// come back, and the first entry that cannot be read as it was written close
// the stores for good and end the process.
type latch struct {
	fatal  func(error)
	hang   time.Duration // see watch
	logger hclog.Logger

	mu      sync.Mutex
	err     error // guarded by mu; why every call fails, once set
	opening bool  // guarded by mu; errors are Open' to return, so fatal is not called
}

// opened ends the time in which errors are only returned.
func (l *latch) opened() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.opening = false
}

// Failed is why calls fail now, or nil.
func (l *latch) Failed() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// Poison closes the stores because of err and calls fatal, once. It returns
// what the caller is to answer.
func (l *latch) Poison(err error) error {
	l.mu.Lock()
	if l.err != nil {
		defer l.mu.Unlock()
		return l.err
	}
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		err = fmt.Errorf("the disk is full: free space for the data directory, then start this node again: %w", err)
	}
	l.err = err
	quiet := l.opening
	l.mu.Unlock()
	if quiet {
		return err
	}
	l.logger.Error("stopping this node: its log stores can no longer be trusted", "error", err)
	if l.fatal != nil {
		l.fatal(err)
	}
	return err
}

// close makes every later call fail, without ending the process.
func (l *latch) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil {
		l.err = errClosed
	}
}

// write runs one mutation under the watchdog. Its first error is the last.
func (l *latch) write(what string, mutate func() error) error {
	if err := l.Failed(); err != nil {
		return err
	}
	defer l.watch(what)()
	if err := mutate(); err != nil {
		return l.Poison(fmt.Errorf("%s: %w", what, err))
	}
	return l.Failed() // a write that was given up stays given up, though it came back
}

// read runs one look-up under the watchdog. What is absent is no failure, and
// err is passed on as it is, since raft compares its text.
func (l *latch) read(what string, look func() error) error {
	if err := l.Failed(); err != nil {
		return err
	}
	defer l.watch(what)()
	err := look()
	if err == nil || Absent(err) {
		return err
	}
	return l.Poison(fmt.Errorf("%s: %w", what, err))
}

// Absent tells the errors that only say that there is nothing. The stable
// stores have no sentinel in common; raft itself compares the text.
func Absent(err error) bool {
	return errors.Is(err, raft.ErrLogNotFound) || err.Error() == "not found"
}

// GetString returns the string at key, or "" if there is none.
func GetString(s raft.StableStore, key []byte) (string, error) {
	v, err := s.Get(key)
	if err != nil && !Absent(err) {
		return "", fmt.Errorf("read %s: %w", key, err)
	}
	return string(v), nil
}

// latchedLogs is a log store whose first failure is its last.
type latchedLogs struct {
	engine raft.LogStore
	place  string // where the log is, in words
	latch  *latch
}

func (s latchedLogs) FirstIndex() (index uint64, err error) {
	err = s.latch.read("read the first index of the log", func() (err error) {
		index, err = s.engine.FirstIndex()
		return err
	})
	return index, err
}

func (s latchedLogs) LastIndex() (index uint64, err error) {
	err = s.latch.read("read the last index of the log", func() (err error) {
		index, err = s.engine.LastIndex()
		return err
	})
	return index, err
}

// GetLog also turns a panic of the engine into an error: both engines decode
// what they read without checking it first.
func (s latchedLogs) GetLog(index uint64, log *raft.Log) error {
	return s.latch.read(fmt.Sprintf("read log entry %d", index), func() (err error) {
		defer func() {
			if p := recover(); p != nil {
				err = damage(fmt.Errorf("it cannot be decoded: %v", p), "in %s", s.place)
			}
		}()
		if err = s.engine.GetLog(index, log); err != nil && !Absent(err) {
			return damage(err, "in %s", s.place)
		}
		return err
	})
}

func (s latchedLogs) StoreLog(log *raft.Log) error { return s.StoreLogs([]*raft.Log{log}) }

func (s latchedLogs) StoreLogs(logs []*raft.Log) error {
	return s.latch.write("append to the log", func() error { return s.engine.StoreLogs(logs) })
}

func (s latchedLogs) DeleteRange(lowest, highest uint64) error {
	return s.latch.write(fmt.Sprintf("delete log entries %d to %d", lowest, highest), func() error {
		return s.engine.DeleteRange(lowest, highest)
	})
}

// latchedStable is a stable store whose first failure is its last.
type latchedStable struct {
	engine raft.StableStore
	latch  *latch
}

func (s latchedStable) Set(key, value []byte) error {
	return s.latch.write("save "+string(key), func() error { return s.engine.Set(key, value) })
}

func (s latchedStable) Get(key []byte) (value []byte, err error) {
	err = s.latch.read("load "+string(key), func() (err error) {
		value, err = s.engine.Get(key)
		return err
	})
	return value, err
}

func (s latchedStable) SetUint64(key []byte, value uint64) error {
	return s.latch.write("save "+string(key), func() error { return s.engine.SetUint64(key, value) })
}

func (s latchedStable) GetUint64(key []byte) (value uint64, err error) {
	err = s.latch.read("load "+string(key), func() (err error) {
		value, err = s.engine.GetUint64(key)
		return err
	})
	return value, err
}
