package txn

import (
	"fmt"
	"math"
	"strings"

	"dormouse/agent"
	"dormouse/fsm/kv"
	"dormouse/storage"
)

// SweepMax is how many rows one entry sweeps, of each queue. The next entry, which the leader
// proposes at once, sweeps the rest: see Due.
const SweepMax = 64

// DueTimes holds when the first row of each queue falls due; 0 means never. Wall is of two queues:
// expiries and timers. A time may be too early, if that row was removed, but never too late.
type DueTimes struct {
	Tick, Wall, Claim                uint64
	TickSwept, WallSwept, ClaimSwept bool // the queue was swept: read it again
}

// AtTick records that a row of the tick queue falls due.
func (d *DueTimes) AtTick(tick uint64) { d.Tick = Earliest(d.Tick, tick) }

func (d *DueTimes) atWall(wall uint64) { d.Wall = Earliest(d.Wall, wall) }

// AtClaim records that a claim may expire.
func (d *DueTimes) AtClaim(tick uint64) { d.Claim = Earliest(d.Claim, tick) }

// Earliest returns the earlier of two times, of which 0 means never.
func Earliest(a, b uint64) uint64 {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

// first returns a time before which no row of a queue falls due.
func (d *DueTimes) first(queue string) uint64 {
	when := d.Claim
	switch queue {
	case kv.KindDueTick:
		when = d.Tick
	case kv.KindDueWall, kv.KindDueTimer:
		when = d.Wall
	}
	if when <= 1 { // firstDue returns 1 for a row at 0
		return 0
	}
	return when
}

// ReadDue reads the first due times from an engine.
func ReadDue(r storage.Reader) (DueTimes, error) {
	tick, err := firstDue(r, kv.KindDueTick, 0)
	if err != nil {
		return DueTimes{}, err
	}
	claim, err := firstDue(r, kv.KindDueClaim, 0)
	if err != nil {
		return DueTimes{}, err
	}
	wall, err := firstDueWall(r, 0)
	return DueTimes{Tick: tick, Wall: wall, Claim: claim}, err
}

// firstDue returns when the first row of a queue falls due. None falls due before from: a scan from
// the beginning of the queue would pass all rows that were swept lately.
func firstDue(r storage.Reader, queue string, from uint64) (uint64, error) {
	cursor, err := r.Scan([]byte(queue+kv.EncodeNumber(from)), []byte(kv.After(queue)))
	if err != nil {
		return 0, err
	}
	var when uint64
	if cursor.Next() {
		when, _, _ = kv.SplitDue(string(cursor.Key()))
		when = max(when, 1)
	}
	return when, cursor.Close()
}

// firstDueWall is firstDue for the queues of wall times.
func firstDueWall(r storage.Reader, from uint64) (uint64, error) {
	expiry, err := firstDue(r, kv.KindDueWall, from)
	if err != nil {
		return 0, err
	}
	timer, err := firstDue(r, kv.KindDueTimer, from)
	return Earliest(expiry, timer), err
}

// Refresh reads the due times of the queues that were swept.
func (d *DueTimes) Refresh(r storage.Reader) (err error) {
	if d.TickSwept {
		if d.Tick, err = firstDue(r, kv.KindDueTick, d.first(kv.KindDueTick)); err != nil {
			return err
		}
	}
	if d.ClaimSwept {
		if d.Claim, err = firstDue(r, kv.KindDueClaim, d.first(kv.KindDueClaim)); err != nil {
			return err
		}
	}
	if d.WallSwept {
		if d.Wall, err = firstDueWall(r, d.first(kv.KindDueWall)); err != nil {
			return err
		}
	}
	d.TickSwept, d.WallSwept, d.ClaimSwept = false, false, false
	return nil
}

// SweepQueue handles a queue's rows up to now, until their cost reaches limit. It reports whether
// those were all.
func (b *Entry) SweepQueue(
	queue string, now uint64, limit int, handle func(when uint64, rest string) (cost int, err error),
) (all bool, err error) {
	upper := kv.After(queue)
	if now < math.MaxUint64 {
		upper = queue + kv.EncodeNumber(now+1)
	}
	keys, more, err := b.Rows.Keys(queue+kv.EncodeNumber(b.Due.first(queue)), upper, limit)
	if err != nil {
		return false, err
	}
	for cost := 0; len(keys) > 0 && cost < limit; keys = keys[1:] {
		when, rest, ok := kv.SplitDue(keys[0])
		if !ok {
			return false, fmt.Errorf("the queue holds a key of %d bytes", len(keys[0]))
		}
		b.Rows.Remove(keys[0])
		extra, err := handle(when, rest)
		if err != nil {
			return false, err
		}
		cost += 1 + extra
	}
	return !more && len(keys) == 0, nil
}

// SetExpiry queues a row for removal at a wall time, or a timer to fall due then; 0 means never.
func (b *Entry) SetExpiry(wall int64, row string) {
	if wall == 0 {
		return
	}
	if b.Level >= TimerQueueLevel && isTimer(row) {
		b.Rows.Set(kv.DueTimerKey(wall, row), nil)
	} else {
		b.Rows.Set(kv.DueWallKey(wall, row), nil)
	}
	b.Due.atWall(uint64(wall))
}

// ClearExpiry removes a row's queue entry. A timer that was queued below TimerQueueLevel is in the
// queue of expiries.
func (b *Entry) ClearExpiry(wall int64, row string) {
	if wall == 0 {
		return
	}
	b.Rows.Remove(kv.DueWallKey(wall, row))
	if b.Level >= TimerQueueLevel && isTimer(row) {
		b.Rows.Remove(kv.DueTimerKey(wall, row))
	}
}

func isTimer(row string) bool { return strings.HasPrefix(row, kv.KindTimer) }

// Expired reports whether something that expires at a wall time has expired, even if its rows still
// exist.
func Expired(at, now int64) bool { return at != 0 && at <= now }

// Deadline returns a TTL from now; 0 means never.
func (b *Entry) Deadline(ttlMS int64) int64 {
	if ttlMS <= 0 {
		return 0
	}
	ttlMS = min(ttlMS, agent.TTLMax.Milliseconds())
	return max(b.Progress.Wall, 0) + ttlMS
}

// AddTicks adds without overflow.
func AddTicks(tick, by uint64) uint64 {
	if sum := tick + by; sum >= tick {
		return sum
	}
	return math.MaxUint64
}
