package proposer

import (
	"sync/atomic"
	"time"

	"dormouse/internal/seededbug"
)

// wallStepMax bounds how far one entry may take wall time ahead of where the
// leader's own monotonic clock says it should be. A larger step, such as after
// a long downtime or with a wrong clock, takes several entries and is reported.
const wallStepMax = time.Hour

// wallBackMin is how far the system clock must be behind the log to be reported.
const wallBackMin = time.Second

// Clock stamps the entries of one term. It starts when all entries of earlier
// terms have been applied, so its ticks never run back: they are the last
// applied tick and the milliseconds since.
type Clock struct {
	base  uint64    // the last tick of earlier terms
	start time.Time // with its monotonic reading

	// Of the last stamp; only the proposer uses them.
	tick uint64
	wall int64
	at   time.Time

	held   atomic.Int64 // the newest wall time that was held back; 0: none was
	wanted atomic.Bool  // a caller waits for a wall time that is not held back

	steps *atomic.Uint64 // forward steps that were limited
	backs *atomic.Uint64 // stamps that found the system clock behind the log
}

// NewClock starts a term's clock from the last applied stamps.
func NewClock(tick uint64, wall int64, now time.Time, m *Metrics) *Clock {
	c := &Clock{base: tick, start: now, tick: tick, wall: wall, at: now, steps: &m.wallSteps, backs: &m.wallBacks}
	if wall != 0 && now.UnixMilli() > wall+wallStepMax.Milliseconds() {
		c.held.Store(wall) // the first stamp will be
	}
	return c
}

// current reports whether a wall time of the log was not held back, and no later one was. It may be
// called concurrently. If it returns false, entries are due until the log has such a time.
func (c *Clock) current(wall int64) bool {
	if wall > c.held.Load() {
		return true
	}
	c.wanted.Store(true)
	return false
}

// Began returns the last tick of earlier terms, and when the term began. It may be called concurrently.
func (c *Clock) Began() (tick uint64, at time.Time) { return c.base, c.start }

// Tick returns now in ticks. It may be called concurrently.
func (c *Clock) Tick(now time.Time) uint64 {
	if seededbug.Is(seededbug.WallClockTicks) {
		return c.base + uint64(max(now.UnixMilli()-c.start.UnixMilli(), 0))
	}
	return c.base + uint64(max(now.Sub(c.start), 0).Milliseconds())
}

// stamp returns the time of an entry. cut is how far wall time was held back
// (positive), or how far the system clock is behind the log (negative).
func (c *Clock) stamp(now time.Time) (tick uint64, wall int64, cut time.Duration) {
	system := now.UnixMilli()
	expected := c.wall + max(now.Sub(c.at), 0).Milliseconds()
	switch limit := expected + wallStepMax.Milliseconds(); {
	case c.wall != 0 && system > limit:
		wall, cut = limit, time.Duration(system-limit)*time.Millisecond
		c.steps.Add(1)
		c.held.Store(wall)
	case system < c.wall:
		wall = c.wall
		if behind := time.Duration(c.wall-system) * time.Millisecond; behind >= wallBackMin {
			cut = -behind
			c.backs.Add(1)
		}
	default:
		wall = system
	}
	if cut <= 0 {
		// Also if the system clock was set back to before the time that was held back.
		c.held.Store(min(c.held.Load(), wall-1))
		c.wanted.Store(false)
	}
	c.tick, c.wall, c.at = c.Tick(now), wall, now
	return c.tick, wall, cut
}

// until returns how long it takes until something falls due at tick or wall,
// where 0 means never. ok is false if neither is set. While a caller waits for
// a wall time that is not held back, an entry is due at once.
func (c *Clock) until(tick uint64, wall int64, now time.Time) (d time.Duration, ok bool) {
	if c.wanted.Load() && c.held.Load() >= c.wall {
		return 0, true
	}
	if tick != 0 {
		d, ok = ms(int64(tick)-int64(c.Tick(now))), true
	}
	if wall != 0 {
		if left := ms(wall - max(now.UnixMilli(), c.wall)); !ok || left < d {
			d, ok = left, true
		}
	}
	return max(d, 0), ok
}

// overdue reports whether what falls due at tick or wall was due at the last
// stamp: its entry did not sweep all.
func (c *Clock) overdue(tick uint64, wall int64) bool {
	return tick != 0 && tick <= c.tick || wall != 0 && wall <= c.wall
}

// ms returns n milliseconds, at most a day: timers are set again by then.
func ms(n int64) time.Duration {
	return time.Duration(min(n, 24*time.Hour.Milliseconds())) * time.Millisecond
}
