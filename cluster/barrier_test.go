package cluster_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/raft"

	"dormouse/cluster"
)

// verified is the textbook read that docs/hazards.md warns of: ask Raft whether this
// node leads, then read here.
func (n *node) verified(key string) (int, error) {
	if err := n.group.Raft().VerifyLeader().Error(); err != nil {
		return 0, err
	}
	return n.machine.get(key), nil
}

// eachBarrier runs a test with each way of reading.
func eachBarrier(t *testing.T, test func(t *testing.T, how string)) {
	t.Helper()
	for _, how := range []string{cluster.BarrierIndex, cluster.BarrierLog} {
		t.Run(how, func(t *testing.T) { test(t, how) })
	}
}

// H1: acknowledgements under way on a slow path back still count for
// VerifyLeader after another leader has committed. A barrier goes through the
// log, or asks again, so they cannot answer it.
func TestABarrierIsNotFooledByAcknowledgementsUnderWay(t *testing.T) {
	eachBarrier(t, acknowledgementsUnderWay)
}

func acknowledgementsUnderWay(t *testing.T, how string) {
	t.Helper()
	const slow = 1800 * time.Millisecond
	var verifiedStale, tries int
	for run := 0; run < 20 || verifiedStale == 0 && run < 200; run++ {
		synctest.Test(t, func(t *testing.T) {
			l := trio(t, func(o *cluster.Options) {
				o.Timing = cluster.DefaultTiming()
				o.Timing.Lease = o.Timing.Heartbeat
				o.ReadBarrier = how
			})
			old := l.leader()
			if err := old.put("x", 1); err != nil {
				t.Fatal(err)
			}
			for d := time.Duration(0); d <= slow; d += 20 * time.Millisecond {
				for _, n := range l.others(old) {
					l.net.Delay(n.name, old.name, d)
				}
				time.Sleep(60 * time.Millisecond)
			}
			time.Sleep(2 * time.Second)
			if old.group.Raft().State() != raft.Leader {
				return // the slow path cost it its lease; try again
			}
			for _, n := range l.others(old) {
				l.net.Block(old.name, n.name)
			}
			l.until("a new leader writes", func() bool { return l.newRaftLeader(old).put("x", 2) == nil })
			tries++
			var reads sync.WaitGroup
			reads.Go(func() {
				if v, err := old.read("x"); err == nil && v != 2 {
					t.Errorf("a barrier read was stale: %d", v)
				}
			})
			if v, err := old.verified("x"); err == nil && v != 2 {
				verifiedStale++
			}
			reads.Wait()
		})
	}
	if tries == 0 || verifiedStale == 0 {
		t.Errorf("the scenario is harmless: %d tries, VerifyLeader stale in %d", tries, verifiedStale)
	}
	t.Logf("VerifyLeader was stale in %d of %d", verifiedStale, tries)
}

// newRaftLeader waits for a leader other than old in raft's eyes, ready or not.
func (l *lab) newRaftLeader(old *node) *node {
	for range 20000 {
		for _, n := range l.others(old) {
			if n.up && n.group.Raft().State() == raft.Leader {
				return n
			}
		}
		time.Sleep(time.Millisecond)
	}
	l.t.Fatal("no node wins an election")
	return nil
}

// H2: non-voters count for VerifyLeader. A leader that reaches no other voter
// answers no barrier.
func TestABarrierNeedsAQuorumOfVoters(t *testing.T) { eachBarrier(t, quorumOfVoters) }

func quorumOfVoters(t *testing.T, how string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		l := trio(t, func(o *cluster.Options) {
			o.Timing = cluster.DefaultTiming()
			o.Timing.Lease = o.Timing.Heartbeat
			o.ReadBarrier = how
		})
		l.start("n4", func(o *cluster.Options) { o.Join, o.Self.WantVote = []string{addrOf("n1")}, false })
		old := l.leader()
		if err := old.put("x", 1); err != nil {
			t.Fatal(err)
		}
		l.until("n4 follows", func() bool { return l.nodes["n4"].machine.get("x") == 1 })
		for _, name := range []string{"n1", "n2", "n3"} {
			if name != old.name {
				l.net.Block(old.name, name)
				l.net.Block(name, old.name)
			}
		}
		if _, err := old.verified("x"); err != nil {
			t.Errorf("the scenario is harmless: VerifyLeader says %v", err)
		}
		if _, err := old.read("x"); err == nil {
			t.Error("a barrier succeeded with one of three voters")
		}
	})
}

// H5: a fresh leader's machine lags. VerifyLeader says nothing of that; a
// barrier answers only once it has caught up (R4).
func TestAFreshLeaderServesNothingStale(t *testing.T) { eachBarrier(t, freshLeader) }

func freshLeader(t *testing.T, how string) {
	t.Helper()
	var verifiedStale int
	for run := 0; run < 10 || verifiedStale == 0 && run < 100; run++ {
		synctest.Test(t, func(t *testing.T) {
			l := trio(t, func(o *cluster.Options) { o.ReadBarrier = how })
			for _, a := range l.names {
				for _, b := range l.names {
					l.net.Delay(a, b, 20*time.Millisecond)
				}
			}
			old := l.leader()
			for i := 1; i <= 50; i++ {
				if err := old.put("x", i); err != nil {
					t.Fatal(err)
				}
			}
			var stopped sync.WaitGroup
			stopped.Go(old.crash)
			next := l.newRaftLeader(old)
			if v, err := next.verified("x"); err == nil && v != 50 {
				verifiedStale++
			}
			l.until("a barrier answers", func() bool {
				// The current leader: the first winner may have lost again.
				v, err := l.newRaftLeader(old).read("x")
				if err == nil && v != 50 {
					t.Errorf("a barrier read was stale: %d", v)
				}
				return err == nil
			})
			stopped.Wait()
		})
	}
	if verifiedStale == 0 {
		t.Error("the scenario is harmless: VerifyLeader was never stale")
	}
}

func TestWaitingReadsShareOneEntryAndNoneJoinsOneThatWasSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, n := loneBy(t, cluster.BarrierLog)
		release := n.machine.hold()
		defer release()
		var reads sync.WaitGroup
		var served atomic.Int32
		var first, lowest atomic.Uint64
		read := func(index *atomic.Uint64) {
			reads.Go(func() {
				i, err := n.group.Barrier(t.Context())
				if err != nil {
					t.Error(err)
				}
				index.Store(i)
				served.Add(1)
			})
		}
		read(&first)
		synctest.Wait() // its entry is in flight
		for range 1000 {
			read(&lowest)
		}
		synctest.Wait()
		if served.Load() != 0 {
			t.Error("a read was served by an entry that is not applied")
		}
		before := n.group.Stats().Entries
		release()
		reads.Wait()
		if got := n.group.Stats().Entries - before; got != 1 {
			t.Errorf("1000 reads took %d entries", got)
		}
		if lowest.Load() <= first.Load() {
			t.Errorf("a read joined an entry that was sent before it: %d after %d", lowest.Load(), first.Load())
		}
	})
}

func TestAReadGivesUpWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, n := loneBy(t, cluster.BarrierLog)
		release := n.machine.hold()
		defer release()
		start := time.Now()
		if _, err := n.read("x"); err == nil || time.Since(start) > 6*time.Second {
			t.Errorf("%v after %v", err, time.Since(start))
		}
		_ = l
	})
}
