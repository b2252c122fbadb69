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

// errClosed refuses calls after Close. It does not end the process.
var errClosed = errors.New("the log stores are closed")

// FailStop ends the node at the first failure of a disk.
//
// An fsync that fails may drop the pages that it was to write, and a second fsync
// then succeeds without them (docs/hazards.md, S3). So nothing is retried: the
// first write that fails or does not return, and the first entry that cannot be
// read as it was written, close the stores for good and end the process.
type FailStop struct {
	fatal  func(error)
	hang   time.Duration // see watch
	logger hclog.Logger
	pace   pace // of writes

	mu      sync.Mutex
	err     error // guarded by mu; why every call fails, once set
	opening bool  // guarded by mu; Open returns errors, so fatal is not called
}

// opened makes later errors call fatal.
func (l *FailStop) opened() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.opening = false
}

// Failed returns why all calls fail, or nil.
func (l *FailStop) Failed() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// Poison closes the stores because of err, and calls fatal once. It returns the
// error that the caller must return.
func (l *FailStop) Poison(err error) error {
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

// close makes every later call fail without ending the process.
func (l *FailStop) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil {
		l.err = errClosed
	}
}

// write runs one write under the watchdog. An error ends the node.
func (l *FailStop) write(what string, mutate func() error) error {
	if err := l.Failed(); err != nil {
		return err
	}
	defer l.watch(what)()
	began := time.Now()
	if err := mutate(); err != nil {
		return l.Poison(fmt.Errorf("%s: %w", what, err))
	}
	l.pace.note(time.Since(began))
	return l.Failed() // a write that came back after the watchdog gave it up has failed
}

// read runs one lookup under the watchdog. An absent key or entry is no failure.
// read returns that error as it is, since Raft compares its text.
func (l *FailStop) read(what string, look func() error) error {
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

// Absent reports whether err says that a key or an entry does not exist. The
// stable stores have no common sentinel, and Raft itself compares the text.
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

// failStopLogs is a log store that ends the node at its first failure.
type failStopLogs struct {
	engine   raft.LogStore
	place    string // of the log, for errors
	failStop *FailStop
}

func (s failStopLogs) FirstIndex() (index uint64, err error) {
	err = s.failStop.read("read the first index of the log", func() (err error) {
		index, err = s.engine.FirstIndex()
		return err
	})
	return index, err
}

func (s failStopLogs) LastIndex() (index uint64, err error) {
	err = s.failStop.read("read the last index of the log", func() (err error) {
		index, err = s.engine.LastIndex()
		return err
	})
	return index, err
}

// GetLog also turns a panic of the engine into an error: both engines decode what
// they read without checks.
func (s failStopLogs) GetLog(index uint64, log *raft.Log) error {
	return s.failStop.read(fmt.Sprintf("read log entry %d", index), func() (err error) {
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

func (s failStopLogs) StoreLog(log *raft.Log) error { return s.StoreLogs([]*raft.Log{log}) }

func (s failStopLogs) StoreLogs(logs []*raft.Log) error {
	return s.failStop.write("append to the log", func() error { return s.engine.StoreLogs(logs) })
}

func (s failStopLogs) DeleteRange(lowest, highest uint64) error {
	return s.failStop.write(fmt.Sprintf("delete log entries %d to %d", lowest, highest), func() error {
		return s.engine.DeleteRange(lowest, highest)
	})
}

// failStopStable is a stable store that ends the node at its first failure.
type failStopStable struct {
	engine   raft.StableStore
	failStop *FailStop
}

func (s failStopStable) Set(key, value []byte) error {
	return s.failStop.write("save "+string(key), func() error { return s.engine.Set(key, value) })
}

func (s failStopStable) Get(key []byte) (value []byte, err error) {
	err = s.failStop.read("load "+string(key), func() (err error) {
		value, err = s.engine.Get(key)
		return err
	})
	return value, err
}

func (s failStopStable) SetUint64(key []byte, value uint64) error {
	return s.failStop.write("save "+string(key), func() error { return s.engine.SetUint64(key, value) })
}

func (s failStopStable) GetUint64(key []byte) (value uint64, err error) {
	err = s.failStop.read("load "+string(key), func() (err error) {
		value, err = s.engine.GetUint64(key)
		return err
	})
	return value, err
}
