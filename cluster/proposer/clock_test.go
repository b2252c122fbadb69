package proposer

import (
	"testing"
	"testing/synctest"
	"time"
)

func newClock(tick uint64, wall int64, now time.Time) *Clock {
	return NewClock(tick, wall, now, NewMetrics())
}

func TestTicksGoOnFromTheLastAppliedOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := time.Now()
		c := newClock(1000, now.UnixMilli(), now)
		for i, want := range []uint64{1000, 1250, 1500} {
			if tick, _, _ := c.stamp(time.Now()); tick != want {
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
			k := newClock(1, base.Add(c.last).UnixMilli(), base)
			_, wall, cut := k.stamp(base)
			if got := time.UnixMilli(wall).Sub(base); got != c.want {
				t.Errorf("stamped at %v, want %v", got, c.want)
			}
			if sign(cut) != c.told {
				t.Errorf("told %v", cut)
			}
		})
	}
	t.Run("a step is caught up with in bounded strides", func(t *testing.T) {
		k := newClock(1, base.Add(-10*time.Hour).UnixMilli(), base)
		last := base.Add(-10 * time.Hour).UnixMilli()
		strides := 0
		for last != base.UnixMilli() {
			_, wall, _ := k.stamp(base)
			if wall <= last || wall-last > wallStepMax.Milliseconds() {
				t.Fatalf("a stride of %v", time.Duration(wall-last)*time.Millisecond)
			}
			last, strides = wall, strides+1
		}
		if strides != 10 {
			t.Errorf("%d strides", strides)
		}
	})
}

func TestTimeThatWasHeldBackIsNotCurrentUntilTheLogHasCaughtUp(t *testing.T) {
	base := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name    string
		clock   func() *Clock
		now     time.Time
		strides int // until the log's time is current
	}{
		{"after a short downtime", func() *Clock { return newClock(1, base.UnixMilli(), base.Add(time.Hour)) }, base.Add(time.Hour), 0},
		{"after a long downtime", func() *Clock { return newClock(1, base.UnixMilli(), base.Add(72*time.Hour)) }, base.Add(72 * time.Hour), 72},
		{"after an idle day of the same term", func() *Clock { return newClock(1, base.UnixMilli(), base) }, base.Add(24 * time.Hour), 0},
		{"after a pause of the machine, which its monotonic clock does not show", func() *Clock {
			k := newClock(1, base.UnixMilli(), base)
			k.stamp(base)
			k.at = base.Add(5 * time.Hour)
			k.stamp(base.Add(5 * time.Hour))
			return k
		}, base.Add(5 * time.Hour), 4},
		{"after a wrong clock was set back", func() *Clock {
			k := newClock(1, base.UnixMilli(), base)
			k.at = base.Add(5 * time.Hour)
			k.stamp(base.Add(5 * time.Hour))
			return k
		}, base, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := c.clock()
			strides := 0
			for !k.current(k.wall) {
				if d, ok := k.until(0, 0, c.now); d != 0 || !ok {
					t.Fatalf("after %d strides the next entry is due in %v, %v: a caller waits for it", strides, d, ok)
				}
				k.stamp(c.now)
				if strides++; strides > c.strides {
					t.Fatalf("not current after %d strides", strides)
				}
			}
			if strides != c.strides {
				t.Errorf("current after %d strides, want %d", strides, c.strides)
			}
			k.stamp(c.now)
			if d, ok := k.until(0, 0, c.now); ok {
				t.Errorf("an entry is due in %v: no caller waits for it", d)
			}
		})
	}
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
	c := newClock(100, now.UnixMilli(), now)
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
		if d, ok := c.until(k.tick, k.wall, now); d != k.want || ok != k.ok {
			t.Errorf("until(%d, %d) is %v, %v; want %v, %v", k.tick, k.wall-wall, d, ok, k.want, k.ok)
		}
	}
}

// Wall time that the log has reached counts, though the system clock is behind it.
func TestWhatFallsDueByWallTimeFollowsTheLog(t *testing.T) {
	now := time.Now()
	log := now.Add(time.Hour).UnixMilli()
	c := newClock(100, log, now)
	for _, k := range []struct {
		wall    int64
		want    time.Duration
		overdue bool
	}{
		{now.Add(30 * time.Minute).UnixMilli(), 0, true},
		{log, 0, true},
		{log + 5, 5 * time.Millisecond, false},
	} {
		d, ok := c.until(0, k.wall, now)
		if overdue := c.overdue(0, k.wall); d != k.want || !ok || overdue != k.overdue {
			t.Errorf("%d ms after the log's time: due in %v, %v; overdue %v", k.wall-log, d, ok, overdue)
		}
	}
	if !c.overdue(100, 0) || c.overdue(101, 0) || c.overdue(0, 0) {
		t.Error("what was due by tick at the last stamp is overdue, and nothing else")
	}
}
