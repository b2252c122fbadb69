package cluster_test

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestTimeOnlyGrowsAcrossLeaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := trio(t, nil)
		for i := range 4 {
			old := l.leader()
			for j := range 5 {
				if err := old.put("x", 10*i+j); err != nil {
					t.Fatal(err)
				}
				time.Sleep(70 * time.Millisecond)
			}
			before := old.group.Tick()
			l.net.Isolate(old.name, l.names...)
			next := l.otherLeader(old)
			if tick := next.group.Tick(); tick+2000 < before {
				t.Errorf("the new leader begins at tick %d, the old one was at %d", tick, before)
			}
			l.net.HealAll()
		}
		time.Sleep(5 * time.Second)
		for _, name := range l.names {
			var last logEntry
			for _, e := range l.nodes[name].machine.entries() {
				if e.Tick < last.Tick || e.Wall < last.Wall {
					t.Fatalf("on %s, %d/%d after %d/%d", name, e.Tick, e.Wall, last.Tick, last.Wall)
				}
				last = e
			}
		}
	})
}

func TestAnEmptyEntryIsProposedWhenSomethingFallsDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, n := lone(t)
		if _, err := n.submit(command{DueIn: 5000}); err != nil {
			t.Fatal(err)
		}
		before, set := n.group.Stats().Entries, n.group.Tick()
		time.Sleep(4900 * time.Millisecond)
		if got := n.group.Stats().Entries - before; got != 0 {
			t.Errorf("%d entries before anything is due", got)
		}
		time.Sleep(200 * time.Millisecond)
		fired := n.machine.fired()
		if len(fired) != 1 || fired[0] < set+5000 || fired[0] > set+5100 {
			t.Errorf("set at %d, fired at %v", set, fired)
		}
		if got := n.group.Stats().Entries - before; got != 1 {
			t.Errorf("%d entries for one thing", got)
		}
		time.Sleep(time.Hour)
		if got := n.group.Stats().Entries - before; got != 1 {
			t.Errorf("%d entries in an idle hour", got)
		}
	})
}

func TestAnExpirySurvivesAChangeOfLeader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := trio(t, nil)
		old := l.leader()
		if _, err := old.submit(command{DueIn: 5000}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		l.net.Isolate(old.name, l.names...)
		next := l.otherLeader(old)
		time.Sleep(6 * time.Second)
		if fired := next.machine.fired(); len(fired) != 1 {
			t.Errorf("fired %v", fired)
		}
	})
}

// A machine that has more to expire than one entry takes has the rest at once. The leader rests
// between two such entries for as long as the first one took, so that commits have half of its time.
func TestABacklogOfExpiriesIsSweptWithoutPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, n := lone(t)
		const backlog = 100
		if _, err := n.submit(command{DueIn: 1, Backlog: backlog}); err != nil {
			t.Fatal(err)
		}
		n.machine.slow(2 * time.Millisecond)
		began := time.Now()
		l.until("all is swept", func() bool { return len(n.machine.fired()) == backlog })
		if took := time.Since(began); took < backlog*4*time.Millisecond || took > backlog*6*time.Millisecond {
			t.Errorf("%d entries of 2 ms each took %v", backlog, took)
		}
	})
}
