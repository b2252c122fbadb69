package raftlog

import (
	"errors"
	"slices"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/raft"
)

// leading returns stores of a node that leads in term 1 and may write behind.
func leading(t *testing.T) (*Stores, *ailing, *ending) {
	t.Helper()
	s, engine, end := ailingStores(t)
	s.Votes.voted.Store(1)
	s.OwnEntries.Inbound, s.OwnEntries.OthersVote = NewInboundAppends(), func() bool { return true }
	return s, engine, end
}

// written reports whether the engine has an entry.
func written(engine *ailing, index uint64) bool {
	return engine.GetLog(index, new(raft.Log)) == nil
}

func TestALeadersEntriesAreReadWhileTheyAreWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, engine, _ := leading(t)
		engine.hang = make(chan struct{})
		for index := uint64(4); index <= 6; index++ {
			if err := s.Logs.StoreLogs(commands(index, index)); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		if written(engine, 4) {
			t.Fatal("the entries were written although the disk hangs")
		}
		if last, err := s.Logs.LastIndex(); last != 6 || err != nil {
			t.Errorf("the log ends at %d, %v", last, err)
		}
		for _, logs := range []raft.LogStore{s.Logs, s.uncached()} {
			var log raft.Log
			if err := logs.GetLog(5, &log); err != nil || string(log.Data) != string(commands(5, 5)[0].Data) {
				t.Errorf("entry 5 is %+v, %v", log, err)
			}
		}
		if reach := s.Mark.Reach.Load(); reach != 3 {
			t.Errorf("entries up to %d count as written", reach)
		}
		waited := make(chan error, 2)
		go func() { waited <- s.Leader.Wait(3, nil) }()
		synctest.Wait()
		if len(waited) != 1 {
			t.Error("the wait for an entry that is written did not end")
		}
		go func() { waited <- s.Leader.Wait(4, nil) }()
		synctest.Wait()
		if len(waited) != 1 {
			t.Error("the wait for an entry ended before it was written")
		}
		close(engine.hang)
		synctest.Wait()
		if len(waited) != 2 || !written(engine, 6) || s.Mark.Reach.Load() != 6 {
			t.Errorf("%d waits ended; entry 6 is written: %v; written up to %d", len(waited), written(engine, 6), s.Mark.Reach.Load())
		}
		if slices.Index(engine.order, "append") < 0 || s.Leader.bytes != 0 {
			t.Errorf("the engine was asked for %v; %d bytes are pending", engine.order, s.Leader.bytes)
		}
	})
}

func TestALeaderOfAnEmptyLogReadsWhatItWrites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine := &ailing{InmemStore: raft.NewInmemStore(), hang: make(chan struct{})}
		logs := newLeaderLogs(engine)
		if err := logs.StoreOwn(commands(8, 9)); err != nil {
			t.Fatal(err)
		}
		if first, last, err := span(logs); first != 8 || last != 9 || err != nil {
			t.Errorf("the log has entries %d to %d, %v", first, last, err)
		}
		close(engine.hang)
	})
}

// A lone voter's entry is committed once it is stored, and so is one that makes this
// node the lone voter. An entry of another leader is acknowledged once it is stored.
func TestWhatIsWrittenBeforeItIsStored(t *testing.T) {
	configuration := &raft.Log{Index: 4, Term: 1, Type: raft.LogConfiguration, Data: raft.EncodeConfiguration(raft.Configuration{})}
	for name, c := range map[string]struct {
		logs    []*raft.Log
		prepare func(*Stores, []*raft.Log)
	}{
		"a lone voter":           {commands(4, 4), func(s *Stores, _ []*raft.Log) { s.OwnEntries.OthersVote = func() bool { return false } }},
		"write first":            {commands(4, 4), func(s *Stores, _ []*raft.Log) { s.OwnEntries.first = true }},
		"before Raft has begun":  {commands(4, 4), func(s *Stores, _ []*raft.Log) { s.OwnEntries.OthersVote = nil }},
		"a configuration":        {[]*raft.Log{configuration}, func(*Stores, []*raft.Log) {}},
		"one after a command":    {append(commands(3, 3), configuration), func(*Stores, []*raft.Log) {}},
		"one before a command":   {append([]*raft.Log{configuration}, commands(5, 5)...), func(*Stores, []*raft.Log) {}},
		"another leader's entry": {commands(4, 4), func(s *Stores, logs []*raft.Log) { s.OwnEntries.Inbound.Add(&raft.AppendEntriesRequest{Entries: logs}) }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, engine, _ := leading(t)
				c.prepare(s, c.logs)
				engine.hang = make(chan struct{})
				stored := make(chan error, 1)
				go func() { stored <- s.Logs.StoreLogs(c.logs) }()
				synctest.Wait()
				if len(stored) != 0 {
					t.Error("it counts as stored before it is written")
				}
				close(engine.hang)
				if err := <-stored; err != nil || !written(engine, 4) {
					t.Errorf("stored with %v; entry 4 is written: %v", err, written(engine, 4))
				}
			})
		})
	}
}

// What changes the log waits for the entries that are pending.
func TestWhatFollowsALeadersEntriesIsWrittenAfterThem(t *testing.T) {
	for name, c := range map[string]struct {
		call  func(*Stores) error
		order []string
	}{
		"another leader's entries": {func(s *Stores) error {
			s.OwnEntries.OthersVote = nil
			return s.Logs.StoreLogs(commands(5, 5))
		}, []string{"append", "append"}},
		"a new end":          {func(s *Stores) error { return s.Logs.DeleteRange(4, 4) }, []string{"append", "delete 4-4"}},
		"an end before them": {func(s *Stores) error { return s.Logs.DeleteRange(2, 4) }, []string{"append", "delete 2-4"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, engine, _ := leading(t)
				engine.hang, engine.order = make(chan struct{}), nil
				if err := s.Logs.StoreLogs(commands(4, 4)); err != nil {
					t.Fatal(err)
				}
				time.AfterFunc(time.Second, func() { close(engine.hang) })
				if err := c.call(s); err != nil {
					t.Fatal(err)
				}
				if order := slices.DeleteFunc(slices.Clone(engine.order), func(what string) bool { return what == "set "+string(keyHighWater) }); !slices.Equal(order, c.order) {
					t.Errorf("the engine was asked for %v, want %v", order, c.order)
				}
			})
		})
	}
	t.Run("not a new beginning", func(t *testing.T) { // a snapshot ends before them
		synctest.Test(t, func(t *testing.T) {
			disk := &ailing{InmemStore: raft.NewInmemStore()}
			logs := newLeaderLogs(disk)
			if err := logs.StoreLogs(commands(1, 3)); err != nil {
				t.Fatal(err)
			}
			logs.pending = commands(4, 4) // and no write is under way
			if err := logs.DeleteRange(1, 2); err != nil {
				t.Error(err)
			}
		})
	})
}

func TestALeadersWriteThatFailsStopsTheNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, engine, end := leading(t)
		engine.fail = syscall.EIO
		if err := s.Logs.StoreLogs(commands(4, 4)); err != nil {
			t.Fatal(err)
		}
		if err := s.Leader.Wait(4, nil); !errors.Is(err, syscall.EIO) {
			t.Errorf("the wait ended with %v", err)
		}
		end.once(t, "input/output error")
		engine.fail = nil
		if err := s.Logs.StoreLogs(commands(5, 5)); !errors.Is(err, syscall.EIO) {
			t.Errorf("the next entry was stored with %v", err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestPendingEntriesAreBoundedInBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine := &ailing{InmemStore: raft.NewInmemStore(), hang: make(chan struct{})}
		logs := newLeaderLogs(engine)
		var stored uint64
		go func() {
			for index := uint64(1); index <= 40; index++ {
				if err := logs.StoreOwn([]*raft.Log{{Index: index, Data: make([]byte, 1<<20)}}); err != nil {
					t.Error(err)
				}
				stored = index
			}
		}()
		synctest.Wait()
		if stored != pendingBytesMax>>20-1 { // each has entryOverhead more than 1 MiB
			t.Errorf("%d MiB wait to be written, the bound is %d", stored, pendingBytesMax>>20)
		}
		close(engine.hang)
		synctest.Wait()
		if stored != 40 || !written(engine, 40) {
			t.Errorf("%d entries were stored; the last is written: %v", stored, written(engine, 40))
		}
	})
}

func TestACallOverTheBoundIsStoredAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine := &ailing{InmemStore: raft.NewInmemStore(), hang: make(chan struct{})}
		logs := newLeaderLogs(engine)
		stored := make(chan error, 1)
		go func() {
			stored <- logs.StoreOwn([]*raft.Log{{Index: 1, Data: make([]byte, pendingBytesMax+1)}})
		}()
		synctest.Wait()
		if len(stored) != 1 {
			t.Error("it waits for others, and none are pending")
		}
		close(engine.hang)
	})
}

func TestTheWaitEndsWithTheTransport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine := &ailing{InmemStore: raft.NewInmemStore(), hang: make(chan struct{})}
		logs, stop := newLeaderLogs(engine), make(chan struct{})
		if err := logs.StoreOwn(commands(1, 1)); err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(time.Second, func() { close(stop) })
		if err := logs.Wait(1, stop); !errors.Is(err, errNotWritten) {
			t.Errorf("it ended with %v", err)
		}
		close(engine.hang)
	})
}

// A process must be able to end although its disk hangs.
func TestCloseDoesNotWaitForADiskThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, engine, end := leading(t)
		engine.hang = make(chan struct{})
		if err := s.Logs.StoreLogs(commands(4, 4)); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if err := s.Close(); !errors.Is(err, errNotWritten) {
			t.Errorf("closed with %v", err)
		}
		if took := time.Since(began); took > hangDefault+time.Second {
			t.Errorf("it took %v", took)
		}
		time.Sleep(time.Second)
		if errs := end.reasons(); len(errs) > 1 {
			t.Errorf("ended by %v", errs)
		}
		close(engine.hang)
	})
}

func TestCloseWaitsForALeadersEntries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, engine, _ := leading(t)
		engine.hang = make(chan struct{})
		if err := s.Logs.StoreLogs(commands(4, 4)); err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(time.Second, func() { close(engine.hang) })
		if err := s.Close(); err != nil || !written(engine, 4) || s.Mark.Mark.Load() != 4 {
			t.Errorf("closed with %v; entry 4 is written: %v; the mark is at %d", err, written(engine, 4), s.Mark.Mark.Load())
		}
	})
}
