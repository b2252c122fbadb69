package cluster_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/cluster"
	"dormouse/cluster/membership"
)

// With a target of three voters a fourth node is a spare. It replaces a voter that is dead,
// which is a spare itself when it is back.
func TestASpareReplacesADeadVoter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := trio(t, func(o *cluster.Options) { o.Voters = membership.Voters{Target: 3, DeadAfter: 20 * time.Second} })
		l.start("n4", joining("n1"))
		leader := l.leader()
		l.until("n4 follows", func() bool { return leader.suffrage("n4") != "none" })
		if err := leader.put("x", 1); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Second)
		if voters := leader.voters(); len(voters) != 3 || slices.Contains(voters, "n4") {
			t.Fatalf("%v vote, want three and n4 as a spare", voters)
		}
		dead := l.others(leader)[0]
		if dead.name == "n4" {
			dead = l.others(leader)[1]
		}
		dead.crash()
		time.Sleep(15 * time.Second)
		if voters := leader.voters(); slices.Contains(voters, "n4") {
			t.Fatalf("%v vote, before the voter counts as dead", voters)
		}
		l.until("the spare votes in its place", func() bool {
			voters := leader.voters()
			return len(voters) == 3 && slices.Contains(voters, "n4") && !slices.Contains(voters, dead.name)
		})
		if err := dead.start(joining("n1")); err != nil {
			t.Fatal(err)
		}
		time.Sleep(30 * time.Second)
		if voters := leader.voters(); len(voters) != 3 || slices.Contains(voters, dead.name) {
			t.Errorf("%v vote; the one that is back should be a spare", voters)
		}
		if err := leader.put("x", 2); err != nil {
			t.Error(err)
		}
	})
}

// An operator demotes a name. The decision stays when the node comes back with an empty directory.
func TestADemotedNodeThatLostItsDataGetsNoVote(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := trio(t, nil)
		n4 := l.start("n4", joining("n1"))
		l.until("four vote", func() bool { return len(l.leader().voters()) == 4 })
		if err := l.change("demote", "n4"); err != nil {
			t.Fatal(err)
		}
		l.until("three vote", func() bool { return len(l.leader().voters()) == 3 })
		n4.crash()
		n4.wipe()
		if err := n4.start(joining("n1")); err != nil {
			t.Fatal(err)
		}
		if err := l.leader().put("x", 1); err != nil {
			t.Fatal(err)
		}
		l.until("n4 has caught up", func() bool { return n4.machine.get("x") == 1 && n4.group.Ready() == nil })
		time.Sleep(time.Minute)
		if voters := l.leader().voters(); len(voters) != 3 {
			t.Errorf("%v vote, after n4 was demoted", voters)
		}
		if err := l.change("promote", "n4"); err != nil {
			t.Fatal(err)
		}
		l.until("n4 votes again", func() bool { return len(l.leader().voters()) == 4 })
	})
}
