package cluster_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/cluster"
)

func founding(joins ...string) func(*cluster.Options) {
	return func(o *cluster.Options) {
		o.Bootstrap = true
		for _, j := range joins {
			o.Join = append(o.Join, addrOf(j))
		}
	}
}

func TestFoundingWaitsUntilEveryJoinAddressHasAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		n1 := l.start("n1", founding("n1", "n2", "n3"))
		l.start("n2", joining("n1"))
		time.Sleep(5 * time.Minute)
		if n1.group.ClusterID() != "" || n1.group.Ready() == nil {
			t.Fatal("founded a cluster though n3 has not answered")
		}
		l.start("n3", joining("n1"))
		l.until("three vote", func() bool { return n1.group.IsLeader() && len(n1.voters()) == 3 })
	})
}

func TestFoundingIsCalledOffWhereAClusterIsKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := trio(t, nil)
		id := l.leader().group.ClusterID()
		n4 := l.start("n4", founding("n2", "n3"))
		l.until("n4 joins instead", func() bool { return n4.group.ClusterID() == id })
	})
}

func TestBootstrapIsIgnoredOnceStateExists(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		l.onDisk = true
		n := l.start("n1", founding())
		l.leader()
		id, incarnation := n.group.ClusterID(), n.group.Incarnation()
		n.crash()
		if err := n.start(founding("nowhere")); err != nil { // nobody needs to answer
			t.Fatal(err)
		}
		l.leader()
		if n.group.ClusterID() != id || n.group.Incarnation() != incarnation {
			t.Errorf("cluster %s became %s, life %s became %s", id, n.group.ClusterID(), incarnation, n.group.Incarnation())
		}
	})
}

// A crash between raft's term and its first entry: raft alone would neither
// found again nor ever elect anybody.
func TestAFoundingThatWasCutShortIsFinished(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		n := &node{lab: l, name: "n1", dir: t.TempDir()}
		n.wipe()
		n.dir = t.TempDir()
		if err := cluster.CutFounding(n.dir, "the-cluster"); err != nil {
			t.Fatal(err)
		}
		l.nodes["n1"], l.names = n, []string{"n1"}
		if err := n.start(founding()); err != nil {
			t.Fatal(err)
		}
		if got := l.leader().group.ClusterID(); got != "the-cluster" {
			t.Errorf("cluster %q", got)
		}
		if err := n.put("x", 1); err != nil {
			t.Error(err)
		}
	})
}

func TestAFoundingNodeThatLeavesNobodyBehindJoinsNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		n := l.start("n1", nil) // neither bootstrap nor anybody to join
		time.Sleep(time.Minute)
		if n.group.ClusterID() != "" || n.group.Ready() == nil {
			t.Error("it belongs to a cluster")
		}
		if err := n.put("x", 1); err == nil {
			t.Error("it took a commit")
		}
	})
}

// Two clusters on one network, and a node of one that is told to join the other.
func TestANodeOfAnotherClusterIsRefusedInPlainWords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		l.onDisk = true
		l.found("n1")
		stray := l.start("m1", founding())
		l.until("m1 leads its own", func() bool { return stray.group.IsLeader() && len(stray.machine.Members()) == 1 })
		ids := []string{l.nodes["n1"].group.ClusterID(), stray.group.ClusterID()}
		n2 := l.start("m2", joining("m1"))
		l.until("m2 votes", func() bool { return len(stray.voters()) == 2 && len(n2.voters()) == 2 })
		stray.crash()
		n2.crash()
		if err := n2.start(joining("n1")); err != nil {
			t.Fatal(err)
		}
		err := n2.ended()
		if !errors.Is(err, cluster.ErrForeign) || !strings.Contains(err.Error(), ids[0]) || !strings.Contains(err.Error(), ids[1]) {
			t.Errorf("it ended with %v", err)
		}
		if got := len(l.nodes["n1"].machine.Members()); got != 1 {
			t.Errorf("n1 has %d members", got)
		}
	})
}

func TestADataDirectoryBelongsToOneName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		l.onDisk = true
		n := l.start("n1", founding())
		l.leader()
		n.crash()
		other := &node{lab: l, name: "n2", dir: n.dir, machine: n.machine, snaps: n.snaps}
		if err := other.start(nil); !errors.Is(err, cluster.ErrForeign) {
			t.Errorf("started with %v", err)
		}
	})
}

// A lone node leads its own cluster and would otherwise ask nobody.
func TestALoneNodeOfAnotherClusterFindsOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		l.onDisk = true
		l.found("n1")
		stray := l.start("m1", founding())
		l.until("m1 leads its own", func() bool { return stray.group.IsLeader() && len(stray.machine.Members()) == 1 })
		stray.crash()
		if err := stray.start(joining("n1")); err != nil {
			t.Fatal(err)
		}
		if err := stray.ended(); !errors.Is(err, cluster.ErrForeign) {
			t.Errorf("it ended with %v", err)
		}
	})
}
