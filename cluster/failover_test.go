package cluster_test

import (
	"context"
	"net"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/cluster"
	"dormouse/cluster/transport"
)

// kill ends the node as a crash of its process does: the system closes its connections, and
// its port refuses others. The returned wait waits until all of it has ended.
func (n *node) kill() (wait func()) {
	n.lab.net.Crash(n.name)
	for _, other := range n.lab.others(n) {
		n.lab.net.Heal(n.name, other.name)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		time.Sleep(2 * time.Millisecond) // the others' connections end
		n.crash()
	}()
	return func() { <-ended }
}

// The voters elect another leader as soon as the process of the leader has ended, long before a
// follower's timeout of 1 s or more.
func TestAKilledLeaderIsReplacedAtOnceSim(t *testing.T) {
	for range 10 {
		synctest.Test(t, func(t *testing.T) {
			l := trio(t, nil)
			old := l.leader()
			l.until("it writes", func() bool { return old.put("x", 1) == nil })
			began := time.Now()
			wait := old.kill()
			next := l.otherLeader(old)
			l.until("another writes", func() bool { return next.put("x", 2) == nil })
			if took := time.Since(began); took > 200*time.Millisecond {
				t.Errorf("another wrote after %v", took)
			}
			wait()
		})
	}
}

// The one with most entries stands first, whatever its name.
func TestTheVoterWithMostEntriesStandsFirstSim(t *testing.T) {
	for range 10 {
		synctest.Test(t, func(t *testing.T) {
			l := trio(t, nil)
			old := l.leader()
			behind, ahead := l.others(old)[0], l.others(old)[1]
			if behind.name > ahead.name {
				behind, ahead = ahead, behind
			}
			l.net.Block(old.name, behind.name)
			for i := range 3 {
				l.until("it writes", func() bool { return old.put("x", i) == nil })
			}
			wait := old.kill()
			if next := l.otherLeader(old); next != ahead {
				t.Errorf("%s leads, and %s has more entries", next.name, ahead.name)
			}
			wait()
		})
	}
}

// A leader whose connections break goes on leading.
func TestALeaderWhoseConnectionsBreakLeadsOnSim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := trio(t, nil)
		n := l.leader()
		term := n.group.Raft().CurrentTerm()
		for range 30 {
			n.group.Redial()
			time.Sleep(50 * time.Millisecond)
		}
		l.until("it writes", func() bool { return n.put("x", 1) == nil })
		if now := n.group.Raft().CurrentTerm(); now != term {
			t.Errorf("term %d follows %d", now, term)
		}
	})
}

// gate is the network of one node, which an address may refuse.
type gate struct {
	transport.Network
	refuses atomic.Pointer[string] // the address; nil means none
}

func (g *gate) Dial(ctx context.Context, addr string) (net.Conn, error) {
	if refuses := g.refuses.Load(); refuses != nil && *refuses == addr {
		return nil, syscall.ECONNREFUSED
	}
	return g.Network.Dial(ctx, addr)
}

// A node that alone is refused by the leader ends no term: the other voter does not agree.
func TestANodeThatAloneIsRefusedEndsNoTermSim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gates := map[string]*gate{}
		l := trio(t, func(o *cluster.Options) {
			gates[o.NodeID] = &gate{Network: o.Network}
			o.Network = gates[o.NodeID]
		})
		leader := l.leader()
		term, lone := leader.group.Raft().CurrentTerm(), l.others(leader)[0]
		addr := addrOf(leader.name)
		gates[lone.name].refuses.Store(&addr)
		lone.group.Redial() // it closes the leader's connections, and the leader makes others
		l.until("it believes that the leader's process has ended", func() bool { return lone.group.LocalStatus().LeaderEnded })
		time.Sleep(3 * time.Second)
		if now := leader.group.Raft().CurrentTerm(); now != term {
			t.Errorf("term %d follows %d", now, term)
		}
		l.until("the leader writes", func() bool { return leader.put("x", 1) == nil })
	})
}
