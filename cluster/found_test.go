package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/cluster"
	"dormouse/cluster/raftlog"
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
		if err := n.start(founding("nowhere")); err != nil { // no node needs to answer
			t.Fatal(err)
		}
		l.leader()
		if n.group.ClusterID() != id || n.group.Incarnation() != incarnation {
			t.Errorf("cluster %s became %s, life %s became %s", id, n.group.ClusterID(), incarnation, n.group.Incarnation())
		}
	})
}

// The only voter has no one to wait for: it leads as soon as it has founded its cluster, and as soon as it is started
// again, whatever Raft's timeouts are.
func TestTheOnlyVoterLeadsAtOnceSim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const atOnce = 100 * time.Millisecond
		l := newLab(t)
		l.onDisk = true
		slow := func(o *cluster.Options) {
			founding()(o)
			o.Timing.Heartbeat, o.Timing.Election, o.Timing.Lease = 5*time.Second, 5*time.Second, 3*time.Second
		}
		n := l.start("n1", slow)
		l.until("it founds a cluster", func() bool { return n.group.ClusterID() != "" })
		for starts := 1; ; starts++ {
			began := time.Now()
			l.leader()
			if took := time.Since(began); took > atOnce {
				t.Errorf("it led after %v", took)
			}
			if starts == 3 {
				return
			}
			n.crash()
			if err := n.start(slow); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// A crash between raft's term and its first entry: raft alone would neither
// found again nor ever elect anybody. A crash before the cluster's id is kept: the
// state may have been marked as the cluster's already, and refuses another id.
func TestAFoundingThatWasCutShortIsFinished(t *testing.T) {
	for _, steps := range []int{1, 2, 3} {
		synctest.Test(t, func(t *testing.T) {
			l := newLab(t)
			n := &node{lab: l, name: "n1", dir: t.TempDir()}
			n.wipe()
			n.dir = t.TempDir()
			if err := cluster.CutFounding(n.dir, n.name, "the-cluster", steps); err != nil {
				t.Fatal(err)
			}
			l.nodes["n1"], l.names = n, []string{"n1"}
			err := n.start(func(o *cluster.Options) {
				founding()(o)
				o.Claim = func(id string) error {
					if id != "the-cluster" {
						return fmt.Errorf("the state is of another cluster than %q", id)
					}
					return nil
				}
			})
			if err != nil {
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
		if !errors.Is(err, raftlog.ErrForeign) || !strings.Contains(err.Error(), ids[0]) || !strings.Contains(err.Error(), ids[1]) {
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
		if err := other.start(nil); !errors.Is(err, raftlog.ErrForeign) {
			t.Errorf("started with %v", err)
		}
	})
}

// A lone node leads its own cluster and would otherwise ask no other node.
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
		if err := stray.ended(); !errors.Is(err, raftlog.ErrForeign) {
			t.Errorf("it ended with %v", err)
		}
	})
}

// same is the one configuration of all nodes of a cluster, but for the name.
func same(expect int, names ...string) func(*cluster.Options) {
	return func(o *cluster.Options) {
		o.Bootstrap, o.Expect, o.Join = expect == 0, expect, nil
		for _, name := range names {
			o.Join = append(o.Join, addrOf(name))
		}
	}
}

// ids returns the clusters that the nodes belong to.
func (l *lab) ids() map[string]bool {
	ids := map[string]bool{}
	for _, n := range l.nodes {
		if id := n.group.ClusterID(); n.up && id != "" {
			ids[id] = true
		}
	}
	return ids
}

// The founder's directory is lost, and it starts with the configuration that it
// founded the cluster with, which names no other node. The members that dial it
// must keep it from founding a second cluster.
func TestAFounderThatLostItsDataJoinsTheClusterThatDialsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := trio(t, nil)
		l.start("n4", joining("n1"))
		l.until("four vote", func() bool { return len(l.leader().voters()) == 4 })
		id := l.leader().group.ClusterID()
		n1 := l.nodes["n1"]
		n1.crash()
		n1.wipe()
		if err := n1.start(func(o *cluster.Options) { o.Bootstrap = true }); err != nil {
			t.Fatal(err)
		}
		l.until("n1 belongs to its cluster again", func() bool { return n1.group.ClusterID() != "" })
		if n1.group.ClusterID() != id {
			t.Fatal("n1 founded a second cluster")
		}
		l.until("n1 votes again", func() bool { return len(n1.voters()) == 4 && n1.group.Ready() == nil })
	})
}

// A founder that expects no other node has lost its directory, and reaches none of the nodes to join. They may be
// the cluster that it founded.
func TestAFounderThatExpectsNoOtherNodeWaitsForThoseToJoin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		names := []string{"n1", "n2", "n3"}
		for _, name := range names {
			l.start(name, same(1, names...))
		}
		l.until("three vote", func() bool { return len(l.leader().voters()) == 3 })
		id, n1 := l.leader().group.ClusterID(), l.nodes["n1"]
		n1.crash()
		n1.wipe()
		l.net.Isolate("n1", names...)
		if err := n1.start(same(1, names...)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if n1.group.ClusterID() != "" {
			t.Fatal("n1 founded a second cluster")
		}
		l.net.HealAll()
		l.until("n1 belongs to its cluster again", func() bool { return n1.group.ClusterID() == id })
	})
}

// A connection without a proof can name any addresses. They do not keep a node waiting.
func TestUnprovedAddressesDelayNoJoin(t *testing.T) {
	for _, edit := range []func(*cluster.Options){joining("n1"), founding("n1")} {
		synctest.Test(t, func(t *testing.T) {
			l := trio(t, nil)
			id := l.leader().group.ClusterID()
			l.net.Isolate("n4", "n1", "n2", "n3")
			n4 := l.start("n4", edit)
			for i := range 40 {
				silent := fmt.Sprint("a", i)
				l.net.Block("n4", silent)
				n4.group.NoteDialer(addrOf(silent))
			}
			time.Sleep(time.Minute)
			for _, name := range []string{"n1", "n2", "n3"} {
				l.net.Heal("n4", name)
				l.net.Heal(name, "n4")
			}
			healed := time.Now()
			l.until("n4 joins", func() bool { return n4.group.ClusterID() == id })
			if took := time.Since(healed); took > 20*time.Second {
				t.Errorf("n4 has joined after %v", took)
			}
		})
	}
}

// All nodes start with one configuration, in any order: one of them founds.
func TestExactlyOneOfTheNodesThatExpectEachOtherFounds(t *testing.T) {
	names := []string{"n1", "n2", "n3"}
	for _, expect := range []int{0, 3} { // 0: bootstrap
		for pauses := range 8 {
			synctest.Test(t, func(t *testing.T) {
				l := newLab(t)
				for i, name := range names {
					l.start(name, same(expect, names...))
					if pauses>>i&1 == 1 {
						time.Sleep(7 * time.Second)
					}
				}
				l.until("three vote", func() bool { return len(l.nodes["n1"].voters()) == 3 && len(l.nodes["n3"].voters()) == 3 })
				if ids := l.ids(); len(ids) != 1 {
					t.Errorf("the nodes belong to %v", ids)
				}
			})
		}
	}
}

func TestFewerNodesThanAreExpectedFoundNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		for _, name := range []string{"n1", "n2"} {
			l.start(name, same(3, "n1", "n2", "n3"))
		}
		time.Sleep(5 * time.Minute)
		if ids := l.ids(); len(ids) != 0 {
			t.Fatalf("two nodes of three founded %v", ids)
		}
		l.start("n3", same(3, "n1", "n2", "n3"))
		l.until("three vote", func() bool { return len(l.nodes["n2"].voters()) == 3 })
	})
}

// Each node in turn loses its data while the others cannot be reached, and comes
// back with the configuration that the cluster was founded with.
func TestANodeThatLostItsDataFoundsNothingWhileTheOthersAreSilent(t *testing.T) {
	names := []string{"n1", "n2", "n3"}
	for _, expect := range []int{0, 3} {
		for _, name := range names {
			synctest.Test(t, func(t *testing.T) {
				l := newLab(t)
				for _, name := range names {
					l.start(name, same(expect, names...))
				}
				l.until("three vote", func() bool { return len(l.nodes["n1"].voters()) == 3 && len(l.nodes["n3"].voters()) == 3 })
				n, ids := l.nodes[name], l.ids()
				n.crash()
				n.wipe()
				l.net.Isolate(name, names...)
				if err := n.start(same(expect, names...)); err != nil {
					t.Fatal(err)
				}
				time.Sleep(5 * time.Minute)
				if id := n.group.ClusterID(); id != "" {
					t.Fatalf("%s founded cluster %s", name, id)
				}
				l.net.HealAll()
				l.until(name+" votes again", func() bool { return n.group.Ready() == nil && len(n.voters()) == 3 })
				if got := l.ids(); len(got) != 1 || !ids[n.group.ClusterID()] {
					t.Errorf("the nodes belong to %v, they did to %v", got, ids)
				}
			})
		}
	}
}

// Two sets of three overlap in two nodes, and the two that are in one set only
// do not reach each other.
func TestOverlappingSetsOfExpectedNodesFoundOneCluster(t *testing.T) {
	for swap := range 2 {
		synctest.Test(t, func(t *testing.T) {
			names := []string{"n1", "n2", "n3", "n4"}
			l := newLab(t)
			outer := [2]string{"n1", "n2"}
			if swap == 1 {
				outer = [2]string{"n1", "n4"}
			}
			l.net.Block(outer[0], outer[1])
			l.net.Block(outer[1], outer[0])
			for _, name := range names {
				l.start(name, same(3, names...))
			}
			time.Sleep(3 * time.Minute)
			if ids := l.ids(); len(ids) != 1 {
				t.Fatalf("the nodes belong to %v", ids)
			}
			l.net.HealAll()
			l.until("four vote", func() bool { return len(l.leader().voters()) == 4 })
		})
	}
}

// A host name with several addresses stands for all of the nodes there.
func TestANameWithSeveralAddressesIsAllOfThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		l.tweak = func(o *cluster.Options) {
			o.Expect, o.Join = 3, []string{"nodes:raft"}
			o.Lookup = func(context.Context, string) ([]string, error) { return []string{"n1", "n2", "n3"}, nil }
		}
		for _, name := range []string{"n1", "n2", "n3"} {
			l.start(name, nil)
		}
		l.until("three vote", func() bool { return len(l.nodes["n1"].voters()) == 3 })
	})
}
