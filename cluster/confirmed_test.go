package cluster_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/cluster"
)

// barrierFor asks a leader for the index of reads on another node.
func barrierFor(t *testing.T, leader *node, name string, term uint64) (uint64, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	return leader.group.RemoteView().BarrierFor(ctx, name, term, 0)
}

// Of three voters, one that asks for an index and the leader are a majority: the leader asks no other voter. Whatever
// is no term of a voter in the leader's own confirms nothing.
func TestAVoterThatAsksConfirmsTheTerm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int64
		l := answering(t, func(node string, term uint64, err error, done func(string, uint64, error)) {
			asked.Add(1)
			done(node, term, err)
		})
		l.start("n4", func(o *cluster.Options) { o.Join, o.Self.WantVote = []string{addrOf("n1")}, false })
		leader := l.leader()
		follower := l.others(leader)[0]
		if follower.name == "n4" {
			follower = l.others(leader)[1]
		}
		if err := leader.put("x", 1); err != nil {
			t.Fatal(err)
		}
		l.until("n4 follows", func() bool { return l.nodes["n4"].machine.get("x") == 1 })
		time.Sleep(time.Second)
		term := leader.group.Raft().CurrentTerm()
		for _, c := range []struct {
			name, node string
			term       uint64
			confirms   bool
		}{
			{"a voter in the term", follower.name, follower.group.RemoteView().VotingTerm(), true},
			{"one that may not vote", follower.name, 0, false},
			{"one in an earlier term", follower.name, term - 1, false},
			{"one in a later term", follower.name, term + 1, false},
			{"a member without a vote", "n4", term, false},
			{"no member", "n9", term, false},
			{"the leader itself", leader.name, term, false},
		} {
			before, applied := asked.Load(), leader.machine.Applied()
			index, err := barrierFor(t, leader, c.node, c.term)
			if err != nil || index < applied {
				t.Errorf("%s: index %d, %v", c.name, index, err)
			}
			if alone := asked.Load() == before; alone != c.confirms {
				t.Errorf("%s: the leader asked the voters %d times", c.name, asked.Load()-before)
			}
		}
	})
}

// Of five voters, one that asks is not enough.
func TestOneOfFiveVotersConfirmsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		var names []string
		for i := 1; i <= 5; i++ {
			names = append(names, fmt.Sprintf("n%d", i))
		}
		l.found(names...)
		leader := l.leader()
		if err := leader.put("x", 1); err != nil {
			t.Fatal(err)
		}
		for _, n := range l.others(leader) {
			l.net.Block(leader.name, n.name)
			l.net.Block(n.name, leader.name)
		}
		if index, err := barrierFor(t, leader, "n2", leader.group.Raft().CurrentTerm()); err == nil {
			t.Errorf("two of five voters answer a read at %d", index)
		}
	})
}

// A leader that was deposed without noticing still answers reads that began before: the voter that asks then read its
// term before it voted for another leader. Once it has, its term confirms nothing.
func TestAVoterThatHasVotedAgainDoesNotConfirm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := trio(t, func(o *cluster.Options) {
			o.Timing = cluster.DefaultTiming()
			o.Timing.Lease = o.Timing.Heartbeat
		})
		old := l.leader()
		for _, n := range l.others(old) {
			l.net.Block(old.name, n.name)
			l.net.Block(n.name, old.name)
		}
		next := l.newRaftLeader(old)
		l.until("the new leader writes", func() bool { return next.put("x", 2) == nil })
		for _, n := range l.others(old) {
			if index, err := barrierFor(t, old, n.name, n.group.RemoteView().VotingTerm()); err == nil {
				t.Errorf("a deposed leader answers %s at %d", n.name, index)
			}
		}
	})
}
