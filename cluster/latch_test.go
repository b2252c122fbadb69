package cluster

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

func ailingStores(t *testing.T) (*stores, *ailing, *ending) {
	t.Helper()
	engine, end := &ailing{InmemStore: raft.NewInmemStore()}, &ending{}
	s, err := stackStores(storesOptions{fatal: end.fatal, logger: nullLogger}, &engines{logs: engine, stable: engine})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.logs.StoreLogs(commands(1, 3)); err != nil {
		t.Fatal(err)
	}
	engine.calls = 0
	return s, engine, end
}

// HAZARDS S3: bbolt goes on after EIO, and a second fsync succeeds over the hole.
func TestTheFirstFailedWriteIsTheLast(t *testing.T) {
	for name, write := range map[string]func(*stores) error{
		"append": func(s *stores) error { return s.logs.StoreLogs(commands(4, 4)) },
		"delete": func(s *stores) error { return s.logs.DeleteRange(1, 2) },
		"set":    func(s *stores) error { return s.stable.Set([]byte("k"), []byte("v")) },
		"number": func(s *stores) error { return s.stable.SetUint64([]byte("k"), 1) },
		"term":   func(s *stores) error { return s.stable.SetUint64([]byte(keyCurrentTerm), 9) },
	} {
		t.Run(name, func(t *testing.T) {
			s, engine, end := ailingStores(t)
			engine.fail = syscall.EIO
			if err := write(s); !errors.Is(err, syscall.EIO) {
				t.Errorf("the first failure: %v, want the engine's", err)
			}
			engine.fail, engine.calls = nil, 0 // the disk pretends to be well again
			for again, call := range map[string]func() error{
				"append": func() error { return s.logs.StoreLogs(commands(4, 4)) },
				"delete": func() error { return s.logs.DeleteRange(1, 1) },
				"set":    func() error { return s.stable.Set([]byte("k"), []byte("v")) },
				"read":   func() error { return s.uncached().GetLog(1, new(raft.Log)) },
				"get":    func() error { _, err := s.stable.Get([]byte("k")); return err },
				"last":   func() error { _, err := s.logs.LastIndex(); return err },
			} {
				if err := call(); err == nil {
					t.Errorf("%s works again", again)
				}
			}
			if engine.calls > 0 {
				t.Errorf("the engine was called %d more times", engine.calls)
			}
			end.once(t, "input/output error")
			if s.mayVote() || s.mayStand() {
				t.Error("the node still votes")
			}
			if err := s.Close(); err != nil {
				t.Errorf("close: %v", err)
			}
		})
	}
}

func TestAFullDiskIsToldApart(t *testing.T) {
	s, engine, end := ailingStores(t)
	engine.fail = fmt.Errorf("write segment: %w", syscall.ENOSPC)
	if err := s.logs.StoreLogs(commands(4, 4)); err == nil || !strings.Contains(err.Error(), "free space") {
		t.Errorf("got %v, want what to do about a full disk", err)
	}
	end.once(t, "the disk is full")
}

// hashicorp/raft#503: the leader whose disk hangs is leader for ever.
func TestAWriteThatHangsEndsTheNode(t *testing.T) {
	for name, write := range map[string]func(*stores) error{
		"append": func(s *stores) error { return s.logs.StoreLogs(commands(4, 4)) },
		"set":    func(s *stores) error { return s.stable.Set([]byte("k"), []byte("v")) },
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
			if err := s.logs.StoreLogs(commands(index, index)); err != nil {
				t.Fatal(err)
			}
		}
		if errs := end.reasons(); len(errs) > 0 {
			t.Errorf("ended: %v", errs)
		}
	})
}

// The same, whole: the others elect a leader only because the process ends.
func TestALeaderWhoseDiskHangsMakesWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 3)
		disks := map[*rigNode]*ailing{}
		for _, n := range r.nodes {
			disks[n] = &ailing{InmemStore: raft.NewInmemStore()}
			n.engines.logs = disks[n]
		}
		r.start()
		old := r.leader()
		r.mustPut(old, "x", 1)
		time.Sleep(time.Second)
		disk := disks[old]
		disk.hang = make(chan struct{})
		go func() { _ = old.put("x", 2) }() // hangs with the disk
		if err := <-old.fatal; !strings.Contains(err.Error(), "has not answered") {
			t.Errorf("ended by %v", err)
		}
		// What ends a process in production: nothing more comes out of it.
		r.net.isolate(old.addr)
		leader := r.leaderOtherThan(old, 10*time.Second)
		if leader == nil {
			t.Fatal("no new leader")
		}
		r.mustPut(leader, "x", 3)
		close(disk.hang)
	})
}

// A lone voter whose log takes no writes stands again at once, and raft panics
// where its term cannot be saved: the process ended by that, not by its own word.
func TestALoneVoterWhoseDiskFailsEndsByItsOwnWord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 1)
		n := r.nodes[0]
		disk := &ailing{InmemStore: raft.NewInmemStore()}
		n.engines.logs, n.engines.stable = disk, disk
		r.start()
		r.mustPut(r.leader(), "x", 1)
		synctest.Wait()
		disk.fail = syscall.EIO
		if err := n.put("x", 2); err == nil {
			t.Error("it wrote to a disk that fails")
		}
		time.Sleep(time.Minute)
		if err := n.ended(); !errors.Is(err, syscall.EIO) {
			t.Errorf("ended by %v", err)
		}
	})
}
