package cluster_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/raft"

	"dormouse/agent"
	"dormouse/cluster"
	"dormouse/cluster/proposer"
)

// tally counts outcomes by code; "" is done.
type tally struct {
	mu    sync.Mutex
	codes map[agent.Code]int
	calls int
}

func (t *tally) note(_ agent.Decided, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.codes == nil {
		t.codes = map[agent.Code]int{}
	}
	t.codes[agent.CodeOf(err)]++
	t.calls++
}

func (t *tally) got(code agent.Code) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.codes[code]
}

// lone is a lone leader whose machine can be held.
func lone(t *testing.T) (*lab, *node) {
	t.Helper()
	return loneBy(t, "")
}

// loneBy is lone, reading by barrier.
func loneBy(t *testing.T, barrier string) (*lab, *node) {
	t.Helper()
	l := newLab(t)
	l.tweak = func(o *cluster.Options) { o.ReadBarrier = barrier }
	n := l.start("n1", func(o *cluster.Options) { o.Bootstrap, o.Timing = true, cluster.AloneTiming() })
	l.until("its row is there", func() bool { return len(n.machine.Members()) == 1 && n.machine.FeatureLevel() == 1 })
	return l, n
}

func TestWaitingCommitsArePackedIntoOneEntryAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, n := lone(t)
		before := len(n.machine.entries())
		release := n.machine.hold()
		var all tally
		for i := range 5000 {
			n.group.Submit(t.Context(), "", encode(command{Key: fmt.Sprint(i), Value: i}), all.note)
		}
		synctest.Wait()
		last := n.group.Raft().LastIndex()
		time.Sleep(time.Second)
		if now := n.group.Raft().LastIndex(); now != last {
			t.Errorf("%d entries were written while one was in flight", now-last)
		}
		release()
		synctest.Wait()
		if all.got("") != 5000 || all.calls != 5000 {
			t.Fatalf("outcomes %v", all.codes)
		}
		entries := n.machine.entries()[before:]
		if len(entries) > 7 {
			t.Errorf("5000 commits took %d entries", len(entries))
		}
		next := 0
		for _, e := range entries {
			if len(e.Commits) > proposer.BatchCommitsMax {
				t.Errorf("an entry of %d commits", len(e.Commits))
			}
			for _, raw := range e.Commits {
				if want := encode(command{Key: fmt.Sprint(next), Value: next}); !bytes.Equal(raw, want) {
					t.Fatalf("commit %d is %s", next, raw)
				}
				next++
			}
		}
	})
}

func TestEntriesAreBoundByBytesAndALargeCommitTravelsAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, n := lone(t)
		before := len(n.machine.entries())
		release := n.machine.hold()
		var all tally
		submit := func(size int) {
			n.group.Submit(t.Context(), "", encode(command{Key: "k", Pad: size}), all.note)
		}
		submit(1)
		synctest.Wait() // this one is in flight
		for range 8 {
			submit(100 << 10)
		}
		submit(4 << 20)
		submit(1)
		release()
		synctest.Wait()
		if all.got("") != 11 {
			t.Fatalf("outcomes %v", all.codes)
		}
		for _, e := range n.machine.entries()[before:] {
			size := 0
			for _, c := range e.Commits {
				size += len(c)
			}
			if size > proposer.BatchBytesMax && len(e.Commits) > 1 {
				t.Errorf("an entry of %d commits and %d bytes", len(e.Commits), size)
			}
		}
	})
}

func TestACommitOverTheLimitIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, n := lone(t)
		var all tally
		n.group.Submit(t.Context(), "", make([]byte, proposer.CommitBytesMax+1), all.note)
		if all.got(agent.CodeTooLarge) != 1 {
			t.Errorf("outcomes %v", all.codes)
		}
	})
}

func TestAnIdleGroupSendsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, n := lone(t)
		start := time.Now()
		if err := n.put("x", 1); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); took != 0 {
			t.Errorf("took %v of virtual time", took)
		}
	})
}

func TestAFullQueueRefusesAtOnce(t *testing.T) {
	for _, c := range []struct {
		name string
		pad  int
		fit  int
	}{
		{"by count", 0, proposer.QueueCommitsMax},
		{"by bytes", 4 << 20, proposer.QueueBytesMax / (4 << 20)},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, n := lone(t)
				release := n.machine.hold()
				defer release()
				var held, all tally
				n.group.Submit(t.Context(), "", encode(command{Key: "first"}), held.note)
				synctest.Wait()
				cmd := encode(command{Key: "k", Pad: c.pad})
				for range c.fit + 100 {
					n.group.Submit(t.Context(), "", cmd, all.note)
				}
				if got := all.got(agent.CodeOverloaded); got < 100 || got > 110 {
					t.Fatalf("outcomes %v", all.codes)
				}
				n.group.Submit(t.Context(), "", cmd, func(_ agent.Decided, err error) {
					var e *agent.Error
					if !errors.As(err, &e) || e.RetryAfterMS < 1 {
						t.Errorf("no hint when to come back: %+v", e)
					}
				})
				release()
				synctest.Wait()
				if got := all.got(""); got > c.fit || got < c.fit-10 {
					t.Errorf("outcomes %v", all.codes)
				}
			})
		})
	}
}

func TestARefusalOfTheMachineIsAResult(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, n := lone(t)
		d, err := n.submit(command{Refuse: true})
		if err != nil || d.Err == nil || !d.Err.Final {
			t.Errorf("%+v, %v", d, err)
		}
	})
}

func TestAnEntryThatTakesTooLongIsUnknownAndWhatWaitsIsNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, n := lone(t)
		release := n.machine.hold()
		defer release()
		var flying, queued, late tally
		n.group.Submit(t.Context(), "", encode(command{Key: "x", Value: 1}), flying.note)
		synctest.Wait()
		n.group.Submit(t.Context(), "", encode(command{Key: "y", Value: 1}), queued.note)
		time.Sleep(proposer.CommitTimeout + time.Second)
		n.group.Submit(t.Context(), "", encode(command{Key: "z", Value: 1}), late.note)
		if flying.got(agent.CodeUnknown) != 1 || queued.got(agent.CodeUnavailable) != 1 || late.got(agent.CodeUnavailable) != 1 {
			t.Fatalf("in flight %v, queued %v, late %v", flying.codes, queued.codes, late.codes)
		}
		release()
		synctest.Wait()
		if n.machine.get("x") != 1 || n.machine.get("y") != 0 || flying.calls != 1 {
			t.Error("the unknown one was to apply, once, and the queued one never")
		}
		if err := n.put("w", 1); err != nil {
			t.Errorf("after it settled: %v", err)
		}
		if unknown := n.group.Stats().Unknown; unknown != 1 {
			t.Errorf("%d entries are counted as unknown", unknown)
		}
	})
}

// A commit whose caller gives up while it waits is not applied, and one in flight gets its true outcome.
func TestACommitWhoseCallerGaveUpIsNotSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, n := lone(t)
		release := n.machine.hold()
		ctx, giveUp := context.WithCancel(t.Context())
		var flying, gone, stays tally
		n.group.Submit(ctx, "", encode(command{Key: "x", Value: 1}), flying.note)
		synctest.Wait()
		n.group.Submit(ctx, "", encode(command{Key: "y", Value: 1}), gone.note)
		n.group.Submit(t.Context(), "", encode(command{Key: "z", Value: 1}), stays.note)
		giveUp()
		entries := len(n.machine.entries())
		release()
		synctest.Wait()
		if flying.got("") != 1 || gone.got(agent.CodeUnavailable) != 1 || stays.got("") != 1 {
			t.Fatalf("in flight %v, gave up %v, waited %v", flying.codes, gone.codes, stays.codes)
		}
		if n.machine.get("x") != 1 || n.machine.get("y") != 0 || n.machine.get("z") != 1 {
			t.Error("the commit whose caller gave up was not to apply, and the others were")
		}
		// If all that waits is given up, no entry is sent for it.
		release = n.machine.hold()
		n.group.Submit(t.Context(), "", encode(command{Key: "x", Value: 2}), flying.note)
		synctest.Wait()
		n.group.Submit(ctx, "", encode(command{Key: "y", Value: 2}), gone.note)
		release()
		synctest.Wait()
		if sent := len(n.machine.entries()) - entries; sent != 3 || gone.got(agent.CodeUnavailable) != 2 {
			t.Errorf("%d entries were sent, and those that gave up got %v", sent, gone.codes)
		}
	})
}

func TestOnlyTheLeaderTakesCommitsAndReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := trio(t, nil)
		for _, n := range l.others(l.leader()) {
			if err := n.put("x", 1); agent.CodeOf(err) != agent.CodeUnavailable {
				t.Errorf("put on %s: %v", n.name, err)
			}
			if _, err := n.read("x"); agent.CodeOf(err) != agent.CodeUnavailable {
				t.Errorf("read on %s: %v", n.name, err)
			}
		}
	})
}

// The answers to the leader are lost, its requests arrive: what it writes is
// durable and visible, and it cannot know (R6, starter H6).
func TestAWriteWithoutAKnownOutcomeIsUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := trio(t, nil)
		old := l.leader()
		if err := old.put("x", 1); err != nil {
			t.Fatal(err)
		}
		for _, n := range l.others(old) {
			l.net.Block(n.name, old.name)
		}
		if err := old.put("x", 2); agent.CodeOf(err) != agent.CodeUnknown {
			t.Fatalf("want unknown, got %v", err)
		}
		next := l.otherLeader(old)
		if v, err := next.read("x"); err != nil || v != 2 {
			t.Errorf("it was to apply after all: %d, %v", v, err)
		}
	})
}

// On an isolated leader, the entry in flight has an unknown outcome. Commits after it
// steps down were definitely not applied, and never appear.
func TestALeaderWithoutAQuorumTellsUnknownFromNotApplied(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := trio(t, nil)
		old := l.leader()
		l.net.Isolate(old.name, l.names...)
		var flying, queued, late tally
		old.group.Submit(t.Context(), "", encode(command{Key: "flying", Value: 1}), flying.note)
		synctest.Wait()
		old.group.Submit(t.Context(), "", encode(command{Key: "queued", Value: 1}), queued.note)
		next := l.otherLeader(old)
		old.group.Submit(t.Context(), "", encode(command{Key: "late", Value: 1}), late.note)
		if flying.got(agent.CodeUnknown) != 1 || queued.got(agent.CodeUnavailable) != 1 || late.got(agent.CodeUnavailable) != 1 {
			t.Errorf("in flight %v, queued %v, late %v", flying.codes, queued.codes, late.codes)
		}
		l.net.HealAll()
		if err := next.put("x", 1); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Second)
		for _, name := range l.names {
			m := l.nodes[name].machine
			if m.get("flying") != 0 || m.get("queued") != 0 || m.get("late") != 0 {
				t.Errorf("%s applied what never had a quorum", name)
			}
		}
	})
}

// R7: commits that meet a transfer are retried because they say so; none is
// lost, none is applied twice, and no call fails.
func TestATransferIsRetryable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := trio(t, nil)
		stop := make(chan struct{})
		written := make(chan int, 1)
		go func() {
			i := 1
			defer func() { written <- i - 1 }()
			for {
				select {
				case <-stop:
					return
				default:
				}
				err := l.leader().put("x", i)
				switch agent.CodeOf(err) {
				case "":
					i++
				case agent.CodeUnavailable:
				default:
					t.Errorf("put %d: %v", i, err)
					return
				}
				time.Sleep(time.Millisecond)
			}
		}()
		for range 5 {
			if err := l.change("transfer", ""); err != nil {
				t.Errorf("transfer: %v", err)
			}
			time.Sleep(500 * time.Millisecond)
		}
		close(stop)
		last := <-written
		if v, err := l.leader().read("x"); err != nil || v != last || last < 100 {
			t.Errorf("read %d, %v after %d writes", v, err, last)
		}
	})
}

func TestReadsOfAnUnavailableRaftAreUnavailableNeverUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := trio(t, nil)
		old := l.leader()
		l.net.Isolate(old.name, l.names...)
		if _, err := old.read("x"); agent.CodeOf(err) != agent.CodeUnavailable {
			t.Errorf("read: %v", err)
		}
	})
}

func TestShutdownAnswersWaitingCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, n := lone(t)
		release := n.machine.hold()
		var flying, queued tally
		n.group.Submit(t.Context(), "", encode(command{Key: "x", Value: 1}), flying.note)
		synctest.Wait()
		n.group.Submit(t.Context(), "", encode(command{Key: "y", Value: 1}), queued.note)
		time.AfterFunc(time.Second, release)
		n.stop()
		if flying.got("") != 1 || queued.got(agent.CodeUnavailable) != 1 {
			t.Errorf("in flight %v, queued %v", flying.codes, queued.codes)
		}
		var late tally
		n.group.Submit(t.Context(), "", encode(command{Key: "z"}), late.note)
		if late.got(agent.CodeUnavailable) != 1 {
			t.Errorf("after the end: %v", late.codes)
		}
		if n.group.Raft().State() != raft.Shutdown {
			t.Error("raft still runs")
		}
	})
}
