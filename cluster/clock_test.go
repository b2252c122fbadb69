package cluster_test

import (
	"testing"
	"testing/synctest"
	"time"

	"dormouse/cluster"
)

func TestTicksGoOnFromTheLastAppliedOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := time.Now()
		c := cluster.NewClock(1000, now.UnixMilli(), now)
		for i, want := range []uint64{1000, 1250, 1500} {
			if tick, _, _ := c.Stamp(time.Now()); tick != want {
				t.Errorf("stamp %d is %d, want %d", i, tick, want)
			}
			time.Sleep(250 * time.Millisecond)
		}
	})
}

func TestWallTimeNeverRunsBackAndItsStepsAreBound(t *testing.T) {
	base := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name string
		last time.Duration // of the log's wall time, against the system's
		want time.Duration // of the stamp, against the system's
		told int           // sign of what is reported
	}{
		{"in step", 0, 0, 0},
		{"a little behind", 500 * time.Millisecond, 500 * time.Millisecond, 0},
		{"far behind", time.Hour, time.Hour, -1},
		{"after a pause", -30 * time.Minute, 0, 0},
		{"after a long pause", -30 * time.Hour, -29 * time.Hour, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := cluster.NewClock(1, base.Add(c.last).UnixMilli(), base)
			_, wall, cut := k.Stamp(base)
			if got := time.UnixMilli(wall).Sub(base); got != c.want {
				t.Errorf("stamped at %v, want %v", got, c.want)
			}
			if sign(cut) != c.told {
				t.Errorf("told %v", cut)
			}
		})
	}
	t.Run("a step is caught up with in bounded strides", func(t *testing.T) {
		k := cluster.NewClock(1, base.Add(-10*time.Hour).UnixMilli(), base)
		last := base.Add(-10 * time.Hour).UnixMilli()
		strides := 0
		for last != base.UnixMilli() {
			_, wall, _ := k.Stamp(base)
			if wall <= last || wall-last > cluster.WallStepMax.Milliseconds() {
				t.Fatalf("a stride of %v", time.Duration(wall-last)*time.Millisecond)
			}
			last, strides = wall, strides+1
		}
		if strides != 10 {
			t.Errorf("%d strides", strides)
		}
	})
}

func sign(d time.Duration) int {
	switch {
	case d > 0:
		return 1
	case d < 0:
		return -1
	}
	return 0
}

func TestWhatIsDueNextIsTheEarlierOfTheTwoClocks(t *testing.T) {
	now := time.Now()
	c := cluster.NewClock(100, now.UnixMilli(), now)
	wall := now.UnixMilli()
	for _, k := range []struct {
		tick uint64
		wall int64
		want time.Duration
		ok   bool
	}{
		{0, 0, 0, false},
		{150, 0, 50 * time.Millisecond, true},
		{50, 0, 0, true},
		{0, wall + 70, 70 * time.Millisecond, true},
		{150, wall + 70, 50 * time.Millisecond, true},
		{190, wall + 70, 70 * time.Millisecond, true},
		{1 << 60, 0, 24 * time.Hour, true},
	} {
		if d, ok := c.Until(k.tick, k.wall, now); d != k.want || ok != k.ok {
			t.Errorf("until(%d, %d) is %v, %v; want %v, %v", k.tick, k.wall-wall, d, ok, k.want, k.ok)
		}
	}
}

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

func TestADueThingSurvivesAChangeOfLeader(t *testing.T) {
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
