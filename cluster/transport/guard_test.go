package transport

import (
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/raft"
)

// deposeUnderASleepingLeader reproduces hashicorp/raft#695: acknowledgements that
// arrive late keep the old leader's lease, the others elect a new leader,
// only the link to the old leader heals, and then it gets one more write.
// It returns whether the old leader still led at that point, what diverged, and
// which nodes stopped themselves.
func deposeUnderASleepingLeader(t *testing.T, prepare func(*raftCluster)) (played bool, diverged string, stopped []error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := newRaftCluster(t, 3)
		prepare(r)
		r.config = func(c *raft.Config) { c.LeaderLeaseTimeout = 500 * time.Millisecond }
		r.start()
		old := r.leader()
		r.mustPut(old, "x", 1)
		var delay atomic.Int64
		delay.Store(int64(time.Millisecond))
		r.net.slow(func(l simLink) time.Duration {
			if l.to == old.addr {
				return time.Duration(delay.Load())
			}
			return time.Millisecond
		})
		for d := time.Duration(0); d <= 4*time.Second; d += 20 * time.Millisecond {
			delay.Store(int64(d))
			time.Sleep(60 * time.Millisecond)
		}
		time.Sleep(time.Second)
		others(r, old, func(n *raftNode) {
			r.net.block(old.addr, n.addr, true)
			r.net.block(n.addr, old.addr, true)
		})
		if r.leaderOtherThan(old, 10*time.Second) == nil {
			return
		}
		time.Sleep(700 * time.Millisecond)
		delay.Store(int64(time.Millisecond))
		others(r, old, func(n *raftNode) { r.net.block(n.addr, old.addr, false) })
		played = old.raft.State() == raft.Leader
		term := old.raft.CurrentTerm()
		for range 3000 {
			if old.raft.CurrentTerm() != term {
				break
			}
			time.Sleep(200 * time.Microsecond)
		}
		go func() { _ = old.put("y", 1000) }() // its outcome is what the test is about
		time.Sleep(3 * time.Second)
		r.net.heal()
		time.Sleep(15 * time.Second)
		if leader := r.leader(); leader != nil {
			for i := range 5 {
				_ = leader.put("z", i) // only to move the log on
			}
		}
		time.Sleep(5 * time.Second)
		diverged = r.diverged()
		for _, n := range r.nodes {
			if err := n.ended(); err != nil {
				stopped = append(stopped, err)
			}
		}
	})
	return played, diverged, stopped
}

func others(r *raftCluster, not *raftNode, do func(*raftNode)) {
	for _, n := range r.nodes {
		if n != not {
			do(n)
		}
	}
}

// pipelinedGuard is a guard with the pipelines of the transport below it: only
// with them do enough acknowledgements arrive late.
type pipelinedGuard struct{ *Guard }

// AppendEntriesPipeline implements raft.Transport.
func (g pipelinedGuard) AppendEntriesPipeline(id raft.ServerID, target raft.ServerAddress) (raft.AppendPipeline, error) {
	return g.Transport.AppendEntriesPipeline(id, target)
}

// The regression test of hashicorp/raft#695. The first half shows that the
// scenario still bites: should upstream fix it, the guard can go.
func TestHeartbeatsNeverMoveTheTermUnderALeader(t *testing.T) {
	bitten := 0
	for range 3 {
		if _, diverged, _ := deposeUnderASleepingLeader(t, func(r *raftCluster) { r.unguarded = true }); diverged != "" {
			bitten++
		}
	}
	if bitten == 0 {
		t.Error("logs did not diverge without the guard: this test no longer tests anything")
	}
	rounds := 20
	if testing.Short() {
		rounds = 5
	}
	played := 0
	for range rounds {
		still, diverged, stopped := deposeUnderASleepingLeader(t, func(r *raftCluster) {
			r.transport = func(g *Guard) raft.Transport { return pipelinedGuard{g} }
		})
		if diverged != "" || len(stopped) > 0 {
			t.Fatalf("although guarded, logs diverged: %q, nodes stopped: %v", diverged, stopped)
		}
		if still {
			played++
		}
	}
	if played == 0 {
		t.Error("the old leader never led still: the scenario was not played")
	}
}

// looseGuard is a guard that lets every heartbeat take the fast path.
type looseGuard struct{ pipelinedGuard }

func (g looseGuard) SetHeartbeatHandler(handle func(raft.RPC)) {
	g.Transport.SetHeartbeatHandler(handle)
}

// The second line: where the guard fails, the deposed leader stops before it
// writes.
func TestNoEntryIsWrittenInATermThatWasNotWon(t *testing.T) {
	refused := 0
	for range 5 {
		_, diverged, stopped := deposeUnderASleepingLeader(t, func(r *raftCluster) {
			r.transport = func(g *Guard) raft.Transport { return looseGuard{pipelinedGuard{g}} }
		})
		if diverged != "" {
			t.Fatalf("logs diverged: %s", diverged)
		}
		for _, err := range stopped {
			if !strings.Contains(err.Error(), "#695") {
				t.Fatalf("a node stopped for another reason: %v", err)
			}
			refused++
		}
	}
	if refused == 0 {
		t.Error("no node ever stopped itself: the scenario was not played")
	}
}

func TestSteadyHeartbeatsStayOffTheMainThread(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRaftCluster(t, 3)
		r.start()
		r.mustPut(r.leader(), "x", 1)
		time.Sleep(time.Second)
		var onBefore, offBefore int64
		for _, n := range r.nodes {
			onBefore, offBefore = onBefore+n.guard.onThread.Load(), offBefore+n.guard.offThread.Load()
		}
		time.Sleep(10 * time.Minute)
		var on, off int64
		for _, n := range r.nodes {
			on, off = on+n.guard.onThread.Load(), off+n.guard.offThread.Load()
		}
		if off-offBefore < 1000 || on != onBefore {
			t.Errorf("in 10 quiet minutes %d heartbeats went off the main thread and %d through it, want over 1000 and none", off-offBefore, on-onBefore)
		}
	})
}
