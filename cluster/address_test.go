package cluster_test

import (
	"errors"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/raft"

	"dormouse/cluster"
	"dormouse/cluster/membership"
)

// copied stops a node, copies its data directory, and starts it again.
func (n *node) copied() (dir string) {
	n.lab.t.Helper()
	n.stop()
	dir = n.lab.t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(n.dir)); err != nil {
		n.lab.t.Fatal(err)
	}
	n.machine = newMachine() // it replays its log
	if err := n.start(nil); err != nil {
		n.lab.t.Fatal(err)
	}
	n.lab.until(n.name+" follows", func() bool { id, _ := n.group.Leader(); return id != "" })
	return dir
}

// twin starts another node of n's name, with a copy of its data, on host ghost.
func (n *node) twin(dir string) *node {
	return n.lab.start("ghost", func(o *cluster.Options) { o.NodeID, o.Dir = n.name, dir })
}

func diskTrio(t *testing.T) *lab {
	t.Helper()
	l := newLab(t)
	l.onDisk = true
	l.found("n1", "n2", "n3")
	return l
}

func (n *node) refused() {
	n.lab.t.Helper()
	if err := n.ended(); !errors.Is(err, membership.ErrRefused) || !strings.Contains(err.Error(), "copy of the same data directory") {
		n.lab.t.Errorf("%s ended with %v", n.name, err)
	}
}

// at is the address by which this node's raft knows another.
func (n *node) at(of string) string {
	for _, s := range n.group.Raft().GetConfiguration().Configuration().Servers {
		if string(s.ID) == of {
			return string(s.Address)
		}
	}
	return ""
}

func TestACopyOfADataDirectoryIsRefusedWhileItsNodeRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := diskTrio(t)
		n2 := l.others(l.leader())[0]
		ghost := n2.twin(n2.copied())
		ghost.refused()
		if at := l.leader().at(n2.name); at != addrOf(n2.name) {
			t.Errorf("it is known at %s", at)
		}
		if voters := l.leader().voters(); len(voters) != 3 {
			t.Errorf("voters %v", voters)
		}
	})
}

// The leader asks, too: a copy that does not reach the first one is no less one.
func TestALeaderRefusesACopyThatDoesNotSeeItsFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := diskTrio(t)
		n2 := l.others(l.leader())[0]
		dir := n2.copied()
		l.net.Isolate("ghost", n2.name)
		n2.twin(dir).refused()
	})
}

func TestACopyOfTheOnlyVoterNeverLeads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		l.onDisk = true
		l.tweak = func(o *cluster.Options) { o.Timing = cluster.AloneTiming() }
		l.found("n1")
		ghost := l.nodes["n1"].twin(l.nodes["n1"].copied())
		ghost.refused()
		if ghost.group.Raft().State() == raft.Leader {
			t.Error("it leads")
		}
	})
}

// A voter that cannot be asked may still run, and vote. It loses its vote
// before the copy has it; and once it hears of that, it ends.
func TestAMoveTakesTheVoteFromTheProcessAtTheOldAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := diskTrio(t)
		leader := l.leader()
		n2 := l.others(leader)[0]
		dir := n2.copied()
		l.net.Isolate(n2.name, append(l.names, "ghost")...)
		var release func()
		ghost := l.start("ghost", func(o *cluster.Options) {
			o.NodeID, o.Dir = n2.name, dir
			release = o.Machine.(*machine).hold() // it will not catch up yet
		})
		l.until("the move is noted", func() bool { return leader.at(n2.name) == addrOf("ghost") })
		for i := range 200 {
			if err := leader.put("x", i); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(10 * time.Second)
		if got := leader.suffrage(n2.name); got != raft.Nonvoter.String() {
			t.Errorf("it is a %s, and whoever is at the old address may vote, too", got)
		}
		release()
		l.until("it votes again", func() bool { return leader.suffrage(n2.name) == raft.Voter.String() })
		l.net.HealAll()
		n2.refused()
		if v, err := leader.read("x"); err != nil || v != 199 || ghost.machine.get("x") != 199 {
			t.Errorf("read %d, %v; the copy has %d", v, err, ghost.machine.get("x"))
		}
	})
}

// There is no leader, and a node that may be a duplicate must not elect one: n3
// could have the vote of the other copy in the same term.
func TestANodeThatMayRunTwiceTakesNoPartInElections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := diskTrio(t)
		leader := l.leader()
		n2, n3 := l.others(leader)[0], l.others(leader)[1]
		dir := n2.copied()
		l.net.Isolate(n2.name, append(l.names, "ghost")...)
		leader.crash()
		l.net.Isolate(n2.name, append(l.names, "ghost")...) // crash heals
		ghost := n2.twin(dir)
		time.Sleep(30 * time.Second)
		if n3.group.Raft().State() == raft.Leader || ghost.group.Raft().State() == raft.Leader {
			t.Error("a leader was elected with the copy's vote")
		}
		if term := ghost.group.RemoteView().VotingTerm(); term != 0 {
			t.Errorf("the copy confirms leaders of term %d, and the first one may have voted in a later one", term)
		}
		l.net.HealAll()
		l.until("the first two have a leader", func() bool { return n2.group.IsLeader() || n3.group.IsLeader() })
		ghost.refused()
	})
}

// Two of three are left, and one of them has moved: the other cannot reach it,
// so it must be able to stand.
func TestAVoterThatMovedAwayIsElectedWhereItIsNeeded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := diskTrio(t)
		leader := l.leader()
		moved, left := l.others(leader)[0], l.others(leader)[1]
		leader.crash()
		moved.crash()
		if err := moved.start(func(o *cluster.Options) { o.Listen = moved.name + ":elsewhere" }); err != nil {
			t.Fatal(err)
		}
		l.until("it leads", moved.group.IsLeader)
		l.until("the other knows where it is", func() bool { return left.at(moved.name) == moved.name+":elsewhere" })
	})
}
