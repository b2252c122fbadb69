package cluster_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// A leader that vanishes without a word, its connections open and its port silent, is replaced within
// a second and a half, from then to the next acknowledged write.
func TestASilentLeaderIsReplacedSim(t *testing.T) {
	var all []time.Duration
	for range 50 {
		synctest.Test(t, func(t *testing.T) {
			l := trio(t, nil)
			old := l.leader()
			l.until("it writes", func() bool { return old.put("x", 1) == nil })
			time.Sleep(rand.N(2 * time.Second)) // any phase of the timers
			began := time.Now()
			l.net.Isolate(old.name, l.names...)
			next := l.otherLeader(old)
			l.until("another writes", func() bool { return next.put("x", 2) == nil })
			took := time.Since(began)
			if all = append(all, took); took > 1500*time.Millisecond {
				t.Errorf("another wrote after %v", took)
			}
		})
	}
	slices.Sort(all)
	t.Logf("median %v, slowest %v", all[len(all)/2], all[len(all)-1])
}

// Nodes that stop for 300 ms, one at a time or all together, hold no election: neither does the leader
// step down, nor do the voters replace it.
func TestPausesOf300MsHoldNoElectionSim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := trio(t, nil)
		leader := l.leader()
		l.until("it writes", func() bool { return leader.put("x", 0) == nil })
		term := leader.group.Raft().CurrentTerm()
		for began := time.Now(); time.Since(began) < time.Hour; {
			time.Sleep(rand.N(4 * time.Second))
			stopped := []string{l.names[rand.N(len(l.names))]}
			if rand.N(4) == 0 {
				stopped = l.names
			}
			for _, name := range stopped {
				l.net.Isolate(name, l.names...)
			}
			time.Sleep(300 * time.Millisecond)
			l.net.HealAll()
			if now := leader.group.Raft().CurrentTerm(); now != term || !leader.group.IsLeader() {
				t.Fatalf("term %d follows %d after %v, when %v stopped", now, term, time.Since(began), stopped)
			}
		}
		l.until("the leader writes", func() bool { return leader.put("x", 1) == nil })
	})
}

// A node that alone hears nothing of the leader ends no term: the other voter does not agree.
func TestANodeThatAloneHearsNothingEndsNoTermSim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := trio(t, nil)
		leader := l.leader()
		lone := l.others(leader)[0]
		term := leader.group.Raft().CurrentTerm()
		l.net.Isolate(leader.name, lone.name)
		l.until("it believes that the leader is lost", func() bool { return lone.group.LocalStatus().LeaderEnded })
		time.Sleep(5 * time.Second)
		if now := leader.group.Raft().CurrentTerm(); now != term {
			t.Errorf("term %d follows %d", now, term)
		}
		l.until("the leader writes", func() bool { return leader.put("x", 1) == nil })
	})
}

// A voter that has heard of the leader again does not count as one that lost it.
func TestALeaderThatIsHeardAgainIsNotLostSim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := trio(t, nil)
		leader := l.leader()
		lone := l.others(leader)[0]
		l.net.Isolate(leader.name, lone.name)
		l.until("it believes that the leader is lost", func() bool { return lone.group.LocalStatus().LeaderEnded })
		l.net.HealAll()
		l.until("it hears of the leader again", func() bool { return !lone.group.LocalStatus().LeaderEnded })
	})
}
