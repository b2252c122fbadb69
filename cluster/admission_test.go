package cluster_test

import (
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/raft"

	"dormouse/cluster"
)

// A founder that comes back with an empty directory reads first of the time when
// it was the only voter. Cut off in the midst of that, it must not elect itself.
func TestAWipedFounderDoesNotElectItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := trio(t, nil)
		founder := l.nodes["n1"]
		if l.leader() == founder {
			if err := l.change("transfer", ""); err != nil {
				t.Fatal(err)
			}
		}
		leader := l.otherLeader(founder)
		for i := range 300 {
			if err := leader.put("k"+strconv.Itoa(i), i); err != nil {
				t.Fatal(err)
			}
		}
		founder.crash()
		founder.wipe()
		l.net.Delay(leader.name, founder.name, 50*time.Millisecond)
		rejoin := func(o *cluster.Options) { o.Join = []string{addrOf(leader.name)} }
		if err := founder.start(rejoin); err != nil {
			t.Fatal(err)
		}
		for founder.group.Raft().LastIndex() == 0 {
			time.Sleep(time.Millisecond)
		}
		l.net.Isolate(founder.name, l.names...)
		if last := founder.group.Raft().LastIndex(); last > 250 {
			t.Fatalf("the scenario is harmless: it has read up to %d at once", last)
		}
		if !founder.group.LocalStatus().CatchingUp {
			t.Error("it does not say that it may not vote")
		}
		for range 3000 {
			if founder.group.Raft().State() == raft.Leader {
				t.Fatal("it has elected itself")
			}
			time.Sleep(10 * time.Millisecond)
		}
		if err := l.leader().put("x", 1); err != nil {
			t.Error(err)
		}
		l.net.HealAll()
		l.until("it votes again", func() bool { return len(l.leader().voters()) == 3 })
		if founder.machine.get("k299") != 299 || founder.group.LocalStatus().CatchingUp {
			t.Error("it votes and has not caught up")
		}
		founder.crash()
		if err := founder.start(rejoin); err != nil {
			t.Fatal(err)
		}
		l.until("it is there after a restart", func() bool { return !founder.group.LocalStatus().CatchingUp })
	})
}
