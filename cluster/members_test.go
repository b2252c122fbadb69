package cluster_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/raft"

	"dormouse/agent/layout"
	"dormouse/cluster"
	"dormouse/cluster/clustertest"
	"dormouse/cluster/membership"
	"dormouse/cluster/transport"
)

func joining(seed string) func(*cluster.Options) {
	return func(o *cluster.Options) { o.Join = []string{addrOf(seed)} }
}

// ended is what Run returned, once it has.
func (n *node) ended() error {
	n.lab.t.Helper()
	select {
	case err := <-n.finished:
		n.finished <- err
		return err
	case <-time.After(time.Minute):
		n.lab.t.Fatalf("%s still runs", n.name)
		return nil
	}
}

func (n *node) suffrage(of string) string {
	for _, s := range n.group.Raft().GetConfiguration().Configuration().Servers {
		if string(s.ID) == of {
			return s.Suffrage.String()
		}
	}
	return "none"
}

func TestAJoinerFollowsFirstAndVotesOnceItHasCaughtUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		l.found("n1")
		n1 := l.leader()
		n2 := l.start("n2", joining("n1"))
		release := n2.machine.hold()
		l.until("n2 is known", func() bool { return n1.suffrage("n2") != "none" })
		for i := range 200 {
			if err := n1.put("x", i); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(10 * time.Second)
		if got := n1.suffrage("n2"); got != raft.Nonvoter.String() {
			t.Errorf("n2 is a %s and has applied nothing", got)
		}
		release()
		l.until("n2 votes", func() bool { return n1.suffrage("n2") == raft.Voter.String() })
		if n2.group.ClusterID() == "" || n2.group.ClusterID() != n1.group.ClusterID() {
			t.Errorf("cluster %q and %q", n1.group.ClusterID(), n2.group.ClusterID())
		}
		if v := n2.machine.get("x"); v != 199 {
			t.Errorf("it voted with x = %d", v)
		}
	})
}

func TestAnyMemberLeadsAJoinerToTheLeader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := trio(t, nil)
		l.start("n4", joining(l.others(l.leader())[0].name))
		l.until("n4 votes", func() bool { return len(l.leader().voters()) == 4 })
	})
}

func TestANonVoterFollowsAndNeverVotes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := trio(t, nil)
		n4 := l.start("n4", func(o *cluster.Options) { o.Join, o.Self.WantVote = []string{addrOf("n1")}, false })
		if err := l.leader().put("x", 1); err != nil {
			t.Fatal(err)
		}
		l.until("n4 follows", func() bool { return n4.machine.get("x") == 1 })
		time.Sleep(time.Minute)
		if voters := l.leader().voters(); !slices.Equal(voters, []string{"n1", "n2", "n3"}) {
			t.Errorf("voters %v", voters)
		}
		if err := l.change("promote", "n4"); err != nil {
			t.Fatal(err)
		}
		l.until("n4 votes", func() bool { return len(l.leader().voters()) == 4 })
		if err := l.change("demote", "n4"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if voters := l.leader().voters(); !slices.Equal(voters, []string{"n1", "n2", "n3"}) {
			t.Errorf("voters after demoting: %v", voters)
		}
	})
}

func TestTransferMovesLeadershipToTheNamedNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := trio(t, nil)
		for _, name := range []string{"n2", "n3", "n1"} {
			if err := l.change("transfer", name); err != nil {
				t.Fatal(err)
			}
			if got := l.leader().name; got != name {
				t.Errorf("%s leads, want %s", got, name)
			}
		}
		if err := l.change("transfer", "nobody"); err == nil {
			t.Error("transferred to nobody")
		}
	})
}

// R12: a node that left learns it, stops, and is refused when it comes back.
func TestANodeThatLeftLearnsItAndMayNotReturn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		l.onDisk = true
		l.found("n1", "n2", "n3")
		gone := l.others(l.leader())[0]
		if err := l.change("leave", gone.name); err != nil {
			t.Fatal(err)
		}
		if err := gone.ended(); !errors.Is(err, transport.ErrRemoved) {
			t.Fatalf("it ended with %v", err)
		}
		if s := gone.group.LocalStatus(); !s.Removed {
			t.Error("its status does not say so")
		}
		gone.stop()
		l.until("two vote", func() bool { return len(l.leader().voters()) == 2 })
		term := l.leader().group.LocalStatus().Term
		if err := gone.start(joining("n1")); err != nil {
			t.Fatal(err)
		}
		if err := gone.ended(); !errors.Is(err, transport.ErrRemoved) {
			t.Fatalf("it ended with %v", err)
		}
		time.Sleep(10 * time.Second)
		if now := l.leader().group.LocalStatus().Term; now != term {
			t.Errorf("it disturbed the others: term %d, then %d", term, now)
		}
	})
}

// A node that was down when it was removed, and lost the news of it.
func TestANodeThatWasRemovedWhileDownLearnsItFromTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		l.onDisk = true
		l.found("n1", "n2", "n3")
		gone := l.others(l.leader())[0]
		gone.crash()
		if err := l.change("leave", gone.name); err != nil {
			t.Fatal(err)
		}
		if err := gone.start(nil); err != nil { // no join address: it knows the members
			t.Fatal(err)
		}
		if err := gone.ended(); !errors.Is(err, transport.ErrRemoved) {
			t.Fatalf("it ended with %v", err)
		}
	})
}

func TestRemovingTheLeaderHandsLeadershipOverFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := trio(t, nil)
		old := l.leader()
		if err := old.put("x", 1); err != nil {
			t.Fatal(err)
		}
		if err := l.change("leave", old.name); err != nil {
			t.Fatal(err)
		}
		if err := old.ended(); !errors.Is(err, transport.ErrRemoved) {
			t.Errorf("it ended with %v", err)
		}
		next := l.otherLeader(old)
		if v, err := next.read("x"); err != nil || v != 1 {
			t.Errorf("read %d, %v", v, err)
		}
		if slices.Contains(next.voters(), old.name) {
			t.Errorf("voters %v", next.voters())
		}
	})
}

func TestAChangeThatWouldLoseTheQuorumIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := trio(t, nil)
		leader := l.leader()
		dead, alive := l.others(leader)[0], l.others(leader)[1]
		dead.crash()
		for _, kind := range []string{"leave", "demote"} {
			err := l.change(kind, alive.name)
			if err == nil || !strings.Contains(err.Error(), "are needed") {
				t.Errorf("%s: %v", kind, err)
			}
		}
		if err := l.change("leave", dead.name); err != nil {
			t.Errorf("removing the dead one: %v", err)
		}
		if err := l.change("leave", "nobody"); err == nil {
			t.Error("removed nobody")
		}
		if err := l.change("dance", alive.name); err == nil {
			t.Error("danced")
		}
	})
}

// A voter that goes while the partitions of another one drain leaves no majority without that one: its
// removal is refused then.
func TestTheQuorumIsLookedAtAgainAfterTheDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := trio(t, nil)
		leader := l.leader()
		dies, leaves := l.others(leader)[0], l.others(leader)[1]
		leader.group.Vacating(func(context.Context, string) func() {
			dies.crash()
			return func() {}
		})
		if err := l.change("leave", leaves.name); err == nil || !strings.Contains(err.Error(), "are needed") {
			t.Errorf("leave: %v", err)
		}
		if !slices.Contains(leader.voters(), leaves.name) {
			t.Errorf("voters %v", leader.voters())
		}
		if err := leader.put("x", 1); err != nil {
			t.Errorf("a write by the two that are left: %v", err)
		}
	})
}

func TestTheLastVoterStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		l.found("n1")
		for _, kind := range []string{"leave", "demote"} {
			if err := l.change(kind, "n1"); err == nil || !strings.Contains(err.Error(), "last voter") {
				t.Errorf("%s: %v", kind, err)
			}
		}
	})
}

// R15: a node that lost its disk has forgotten how it voted. It comes back
// without a vote and gets one only after it has caught up.
func TestAWipedNodeCannotVote(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := trio(t, nil)
		leader := l.leader()
		wiped, other := l.others(leader)[0], l.others(leader)[1]
		if err := leader.put("x", 1); err != nil {
			t.Fatal(err)
		}
		old := wiped.group.Incarnation()
		wiped.crash()
		wiped.wipe()
		release := wiped.machine.hold() // it will not catch up yet
		if err := wiped.start(func(o *cluster.Options) { o.Join, o.Bootstrap = []string{addrOf(leader.name)}, true }); err != nil {
			t.Fatal(err)
		}
		l.until("its new life is known", func() bool {
			i := slices.IndexFunc(leader.machine.Members(), func(m layout.Member) bool { return m.ID == wiped.name })
			return i >= 0 && leader.machine.Members()[i].Incarnation == wiped.group.Incarnation()
		})
		if got := leader.suffrage(wiped.name); got != raft.Nonvoter.String() {
			t.Fatalf("it is a %s", got)
		}
		if !leader.machine.Removed(old) {
			t.Error("its earlier life may come back")
		}
		time.Sleep(5 * time.Second)
		l.net.Isolate(leader.name, l.names...)
		time.Sleep(30 * time.Second)
		if other.group.Raft().State() == raft.Leader || wiped.group.Raft().State() == raft.Leader {
			t.Error("a leader was elected with the wiped node's vote")
		}
		l.net.HealAll()
		release()
		l.until("it votes again", func() bool { return len(l.leader().voters()) == 3 })
		if wiped.machine.get("x") != 1 {
			t.Error("it votes and has not caught up")
		}
	})
}

func TestNamesAndAddressesBelongToOneNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := trio(t, nil)
		refused := func(what, name, address, want string) {
			t.Helper()
			g, err := cluster.Open(cluster.Options{
				NodeID: name, Keys: clustertest.Keys, Network: l.net.Host("ghost"), Listen: "ghost:raft", Advertise: address,
				Machine: newMachine(), Snapshots: raft.NewInmemSnapshotStore(), Join: []string{addrOf("n1")},
				Peers: &peers{}, Self: layout.Member{FeatureLevelMax: 1},
			})
			if err != nil {
				t.Fatal(err)
			}
			answer := l.leader().group.RemoteView().HandleJoin(t.Context(), membership.JoinRequest{
				Node: name, Incarnation: g.Incarnation(), RaftAddr: address, Empty: true, FeatureLevelMax: 1,
			})
			if answer.Accepted || !strings.Contains(answer.Refused, want) {
				t.Errorf("%s: %+v", what, answer)
			}
			if err := g.Shutdown(t.Context()); err != nil {
				t.Error(err)
			}
		}
		refused("the address of another", "n4", "n2:raft", "that of node n2")
		refused("the name of a live node", l.others(l.leader())[0].name, "ghost:raft", "in use")
		refused("the leader's name", l.leader().name, "ghost:raft", "leader")
		answer := l.leader().group.RemoteView().HandleJoin(t.Context(), membership.JoinRequest{
			Node: "n2", Incarnation: "copied", RaftAddr: "n2:raft", ClusterID: l.leader().group.ClusterID(), FeatureLevelMax: 1,
		})
		if answer.Refused == "" {
			t.Error("two data directories of one name")
		}
		answer = l.leader().group.RemoteView().HandleJoin(t.Context(), membership.JoinRequest{Node: "n5", Incarnation: "i", RaftAddr: "n5:raft", ClusterID: "other"})
		if !strings.Contains(answer.Refused, "other") {
			t.Errorf("another cluster's node: %+v", answer)
		}
	})
}

func TestARestartedNodeTellsItsNewAddress(t *testing.T) {
	if raceDetector {
		t.Skip("raft 1.7.3 itself races when an address changes: pipelineSend logs followerReplication.peer without its lock (replication.go:521, raft.go:624)")
	}
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		l.onDisk = true
		l.found("n1", "n2", "n3")
		moved := l.others(l.leader())[0]
		moved.crash()
		if err := moved.start(func(o *cluster.Options) { o.Listen = moved.name + ":elsewhere"; o.Self.HTTPAddr = "h:1" }); err != nil {
			t.Fatal(err)
		}
		address := moved.name + ":elsewhere"
		l.until("its row and raft know", func() bool {
			leader := l.leader()
			for _, m := range leader.group.Members() {
				if m.ID == moved.name && (m.RaftAddr != address || m.HTTPAddr != "h:1") {
					return false
				}
			}
			for _, s := range leader.group.Raft().GetConfiguration().Configuration().Servers {
				if string(s.ID) == moved.name && string(s.Address) != address {
					return false
				}
			}
			return leader.suffrage(moved.name) == raft.Voter.String()
		})
		if err := l.leader().put("x", 1); err != nil {
			t.Fatal(err)
		}
		l.until("it follows", func() bool { return moved.machine.get("x") == 1 })
	})
}

func TestAClusterSurvivesTheRestartOfAll(t *testing.T) {
	for _, kind := range []string{"wal", "bolt"} {
		t.Run(kind, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLab(t)
				l.onDisk = true
				l.tweak = func(o *cluster.Options) { o.LogStore = kind }
				l.found("n1", "n2", "n3")
				if err := l.leader().put("x", 1); err != nil {
					t.Fatal(err)
				}
				id := l.leader().group.ClusterID()
				for _, name := range l.names {
					l.nodes[name].crash()
				}
				for _, name := range l.names {
					if err := l.nodes[name].start(func(o *cluster.Options) { o.Bootstrap = true }); err != nil {
						t.Fatal(err)
					}
				}
				if v, err := l.leader().read("x"); err != nil || v != 1 {
					t.Errorf("read %d, %v", v, err)
				}
				if got := l.leader().group.ClusterID(); got != id {
					t.Errorf("cluster %s became %s", id, got)
				}
			})
		})
	}
}

func TestTheFeatureLevelRisesOnceAllCan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		level := func(n uint32) func(*cluster.Options) {
			return func(o *cluster.Options) {
				o.Self.FeatureLevelMax, o.Join, o.Bootstrap = n, []string{addrOf("n1")}, true
			}
		}
		l.start("n1", level(3))
		l.leader()
		l.until("alone it is 3", func() bool { return l.nodes["n1"].machine.FeatureLevel() == 3 })
		n2 := l.start("n2", level(2))
		if err := n2.ended(); !errors.Is(err, membership.ErrRefused) || !strings.Contains(err.Error(), "newer version") {
			t.Errorf("an old node: %v", err)
		}
	})
}

func TestTheFeatureLevelWaitsForTheLastMember(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		l.onDisk = true
		l.found("n1")
		l.tweak = func(o *cluster.Options) { o.Self.FeatureLevelMax = 2 }
		n2 := l.start("n2", joining("n1"))
		time.Sleep(10 * time.Second)
		if got := n2.machine.FeatureLevel(); got != 1 {
			t.Fatalf("level %d", got)
		}
		l.nodes["n1"].crash()
		if err := l.nodes["n1"].start(nil); err != nil {
			t.Fatal(err)
		}
		l.until("all can, so it is 2", func() bool { return n2.machine.FeatureLevel() == 2 })
	})
}

func TestHandleChangeElsewhereNamesTheLeader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := trio(t, nil)
		leader := l.leader()
		time.Sleep(time.Second)
		answer := l.others(leader)[0].group.HandleChange(context.Background(), "leave", "n1")
		if answer.Done || answer.Refused != "" || answer.Leader != leader.name || answer.LeaderAddr != addrOf(leader.name) {
			t.Errorf("%+v", answer)
		}
	})
}

// A host is a member until its lease lapses, which takes seconds if it has died. A node that starts at its address, or
// under its name, meanwhile asks again.
func TestANodeInThePlaceOfADeadHostJoinsOnceTheHostIsGone(t *testing.T) {
	for what, host := range map[string]layout.Member{
		"address": {ID: "h1", Incarnation: "i1", RaftAddr: addrOf("n4"), Host: true},
		"name":    {ID: "n4", Incarnation: "i1", RaftAddr: addrOf("h1"), Host: true},
	} {
		synctest.Test(t, func(t *testing.T) {
			l := trio(t, nil)
			leader := l.leader()
			if _, err := leader.submit(command{Put: &host}); err != nil {
				t.Fatal(err)
			}
			n4 := l.start("n4", joining("n1"))
			time.Sleep(10 * time.Second)
			select {
			case err := <-n4.finished:
				t.Fatalf("with the %s of a host it has ended: %v", what, err)
			default:
			}
			if leader.suffrage("n4") != "none" {
				t.Errorf("it was admitted with the %s of a host", what)
			}
			if _, err := leader.submit(command{Remove: &host}); err != nil {
				t.Fatal(err)
			}
			l.until("it votes", func() bool { return len(l.leader().voters()) == 4 })
		})
	}
}

func TestANodeAtTheAddressOfAnotherIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := trio(t, nil)
		at := layout.Member{ID: "n5", Incarnation: "i5", RaftAddr: addrOf("n6")}
		if _, err := l.leader().submit(command{Put: &at}); err != nil {
			t.Fatal(err)
		}
		n6 := l.start("n6", joining("n1"))
		if err := n6.ended(); !errors.Is(err, membership.ErrRefused) {
			t.Errorf("a node at the address of another ended with %v", err)
		}
	})
}
