package raftlog

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/raft"
)

// ailing is an engine that fails or hangs when it is told to.
type ailing struct {
	*raft.InmemStore
	fail  error
	hang  chan struct{} // calls wait for it; nil does not
	calls int
	order []string // what it was asked to do
}

func (s *ailing) act(what string) error {
	s.calls++
	s.order = append(s.order, what)
	if s.hang != nil {
		<-s.hang
	}
	return s.fail
}

func (s *ailing) StoreLogs(logs []*raft.Log) error {
	if err := s.act("append"); err != nil {
		return err
	}
	return s.InmemStore.StoreLogs(logs)
}

func (s *ailing) DeleteRange(lowest, highest uint64) error {
	if err := s.act(fmt.Sprintf("delete %d-%d", lowest, highest)); err != nil {
		return err
	}
	return s.InmemStore.DeleteRange(lowest, highest)
}

func (s *ailing) Set(key, value []byte) error {
	if err := s.act("set " + string(key)); err != nil {
		return err
	}
	return s.InmemStore.Set(key, value)
}

func ailingStores(t *testing.T) (*Stores, *ailing, *ending) {
	t.Helper()
	engine, end := &ailing{InmemStore: raft.NewInmemStore()}, &ending{}
	s, err := StackStores(Options{Fatal: end.fatal, Logger: quiet}, &Engines{Logs: engine, Stable: engine})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Logs.StoreLogs(commands(1, 3)); err != nil {
		t.Fatal(err)
	}
	engine.calls = 0
	return s, engine, end
}

// docs/hazards.md, S3: bbolt goes on after EIO, and a second fsync succeeds over the hole.
func TestTheFirstFailedWriteIsTheLast(t *testing.T) {
	for name, write := range map[string]func(*Stores) error{
		"append": func(s *Stores) error { return s.Logs.StoreLogs(commands(4, 4)) },
		"delete": func(s *Stores) error { return s.Logs.DeleteRange(1, 2) },
		"set":    func(s *Stores) error { return s.Stable.Set([]byte("k"), []byte("v")) },
		"number": func(s *Stores) error { return s.Stable.SetUint64([]byte("k"), 1) },
		"term":   func(s *Stores) error { return s.Stable.SetUint64([]byte(KeyCurrentTerm), 9) },
	} {
		t.Run(name, func(t *testing.T) {
			s, engine, end := ailingStores(t)
			engine.fail = syscall.EIO
			if err := write(s); !errors.Is(err, syscall.EIO) {
				t.Errorf("the first failure: %v, want the engine's", err)
			}
			engine.fail, engine.calls = nil, 0 // the disk pretends to be well again
			for again, call := range map[string]func() error{
				"append": func() error { return s.Logs.StoreLogs(commands(4, 4)) },
				"delete": func() error { return s.Logs.DeleteRange(1, 1) },
				"set":    func() error { return s.Stable.Set([]byte("k"), []byte("v")) },
				"read":   func() error { return s.uncached().GetLog(1, new(raft.Log)) },
				"get":    func() error { _, err := s.Stable.Get([]byte("k")); return err },
				"last":   func() error { _, err := s.Logs.LastIndex(); return err },
			} {
				if err := call(); err == nil {
					t.Errorf("%s works again", again)
				}
			}
			if engine.calls > 0 {
				t.Errorf("the engine was called %d more times", engine.calls)
			}
			end.once(t, "input/output error")
			if s.MayVote() || s.MayStand() {
				t.Error("the node still votes")
			}
			if err := s.Close(); err != nil {
				t.Errorf("close: %v", err)
			}
		})
	}
}

// Two writes that are under way may fail for different reasons.
func TestTheFirstOfTwoFailuresCounts(t *testing.T) {
	s, _, end := ailingStores(t)
	first, second := errors.New("the first"), errors.New("the second")
	for _, err := range []error{first, second} {
		if got := s.FailStop.Poison(err); !errors.Is(got, first) {
			t.Errorf("%v: %v", err, got)
		}
	}
	end.once(t, "the first")
}

func TestAFullDiskIsToldApart(t *testing.T) {
	s, engine, end := ailingStores(t)
	engine.fail = fmt.Errorf("write segment: %w", syscall.ENOSPC)
	if err := s.Logs.StoreLogs(commands(4, 4)); err == nil || !strings.Contains(err.Error(), "free space") {
		t.Errorf("got %v, want what to do about a full disk", err)
	}
	end.once(t, "the disk is full")
}

// hashicorp/raft#503: a leader whose disk hangs never steps down.
func TestAWriteThatHangsEndsTheNode(t *testing.T) {
	for name, write := range map[string]func(*Stores) error{
		"append": func(s *Stores) error { return s.Logs.StoreLogs(commands(4, 4)) },
		"set":    func(s *Stores) error { return s.Stable.Set([]byte("k"), []byte("v")) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, engine, end := ailingStores(t)
				engine.hang = make(chan struct{})
				result := make(chan error, 1)
				go func() { result <- write(s) }()
				time.Sleep(hangDefault - time.Second)
				synctest.Wait()
				if errs := end.reasons(); len(errs) > 0 {
					t.Errorf("ended too early: %v", errs)
				}
				time.Sleep(2 * time.Second)
				synctest.Wait()
				end.once(t, "has not answered for 10s")
				close(engine.hang) // it lands after all
				if err := <-result; err == nil {
					t.Error("the write that was given up is reported as done")
				}
			})
		})
	}
}

func TestASlowDiskIsNoDeadDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, engine, end := ailingStores(t)
		for index := uint64(4); index < 10; index++ {
			engine.hang = make(chan struct{})
			time.AfterFunc(hangDefault-time.Second, func() { close(engine.hang) })
			if err := s.Logs.StoreLogs(commands(index, index)); err != nil {
				t.Fatal(err)
			}
		}
		if errs := end.reasons(); len(errs) > 0 {
			t.Errorf("ended: %v", errs)
		}
	})
}
