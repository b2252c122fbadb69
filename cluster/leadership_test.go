package cluster_test

import (
	"testing"
	"testing/synctest"
	"time"

	"dormouse/agent"
	"dormouse/cluster"
)

// R9: raft blocks until an announcement of leadership is taken. Here leaders
// win and lose while no machine applies, so no term's work ever gets done in
// time; it must not stand in the way of the next announcement.
func TestFlappingLeadershipCausesNoDeadlock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := trio(t, nil)
		for i := range 20 {
			var releases []func()
			for _, name := range l.names {
				releases = append(releases, l.nodes[name].machine.hold())
			}
			old := l.newRaftLeader(nil)
			l.net.Isolate(old.name, l.names...)
			next := l.newRaftLeader(old)
			time.Sleep(time.Duration(i%7) * 300 * time.Millisecond)
			l.net.HealAll()
			l.net.Isolate(next.name, l.names...)
			time.Sleep(time.Duration(i%5) * 400 * time.Millisecond)
			l.net.HealAll()
			for _, release := range releases {
				release()
			}
		}
		n := l.leader()
		l.until("it writes again", func() bool { return n.put("x", 1) == nil })
		l.until("all have it", func() bool {
			for _, name := range l.names {
				if l.nodes[name].machine.get("x") != 1 {
					return false
				}
			}
			return true
		})
	})
}

// R4: between winning and being ready, a leader proposes and serves nothing.
func TestALeaderIsReadyOnlyAfterABarrierOfItsTerm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := trio(t, nil)
		old := l.leader()
		if err := old.put("x", 1); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		var releases []func()
		for _, n := range l.others(old) {
			releases = append(releases, n.machine.hold())
		}
		if err := old.put("x", 2); err != nil { // the others have it in their logs, not applied
			t.Fatal(err)
		}
		l.net.Isolate(old.name, l.names...)
		next := l.newRaftLeader(old)
		time.Sleep(5 * time.Second)
		if next.group.IsLeader() || next.group.Ready() == nil {
			t.Error("ready before it applied what came before its term")
		}
		if err := next.put("x", 3); agent.CodeOf(err) != agent.CodeUnavailable {
			t.Errorf("it took a commit: %v", err)
		}
		if _, err := next.read("x"); agent.CodeOf(err) != agent.CodeUnavailable {
			t.Errorf("it took a read: %v", err)
		}
		for _, release := range releases {
			release()
		}
		if v, err := l.otherLeader(old).read("x"); err != nil || v != 2 {
			t.Errorf("read %d, %v", v, err)
		}
	})
}

func TestAWatcherLearnsOfANewLeader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := trio(t, nil)
		old := l.leader()
		follower := l.others(old)[0]
		time.Sleep(5 * time.Second)
		changed := follower.group.LeaderChanged()
		select {
		case <-changed:
			t.Fatal("changed without a change")
		default:
		}
		l.net.Isolate(old.name, l.names...)
		l.otherLeader(old)
		time.Sleep(time.Second)
		select {
		case <-changed:
		default:
			t.Error("not told")
		}
		if id, addr := follower.group.Leader(); id == old.name || addr != addrOf(id) {
			t.Errorf("leader %q at %q", id, addr)
		}
	})
}

func TestReadinessFollowsContact(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := trio(t, nil)
		old := l.leader()
		time.Sleep(2 * time.Second)
		for _, name := range l.names {
			if err := l.nodes[name].group.Ready(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		follower := l.others(old)[0]
		l.net.Isolate(follower.name, l.names...)
		time.Sleep(10 * time.Second)
		if follower.group.Ready() == nil {
			t.Error("ready though cut off")
		}
	})
}

// An orderly stop hands leadership over at once: no election timeout passes.
func TestShutdownHandsLeadershipOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := trio(t, func(o *cluster.Options) {
			o.Timing = cluster.Timing{Heartbeat: 10 * time.Second, Election: 10 * time.Second, Lease: 5 * time.Second}
		})
		old := l.leader()
		start := time.Now()
		old.stop()
		l.otherLeader(old)
		if took := time.Since(start); took > 2*time.Second {
			t.Errorf("took %v", took)
		}
	})
}

func TestShutdownClosesEveryConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := trio(t, nil)
		n := l.others(l.leader())[0]
		if l.net.Open(n.name) == 0 {
			t.Fatal("it had no connection")
		}
		n.stop()
		if open := l.net.Open(n.name); open != 0 {
			t.Errorf("%d connections are open", open)
		}
	})
}

// A term whose work takes until leadership was lost is not opened, though the node may lead again by then.
func TestATermThatHasEndedIsNotOpened(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, n := lone(t)
		if n.group.OpenEarlier(t.Context()) {
			t.Error("a term is opened after a later notification of Raft")
		}
		if !n.group.IsLeader() {
			t.Error("the attempt ended the term that is open")
		}
	})
}
