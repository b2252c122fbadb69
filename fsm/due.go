package fsm

import (
	"fmt"
	"math"

	"dormouse/agent"
	"dormouse/fsm/kv"
	"dormouse/storage"
)

// sweepMax is how many things fall due in one entry, of each queue. What is
// left waits for the next entry, which the leader proposes at once: see Due.
const sweepMax = 64

// due says when the queues' first rows fall due: 0 means never. It may be
// early, when that row has gone, but never late.
type due struct {
	tick, wall, claim                uint64
	tickSwept, wallSwept, claimSwept bool // the queue was worked on: look anew
}

func (d *due) atTick(tick uint64) { d.tick = earliest(d.tick, tick) }

func (d *due) atWall(wall uint64) { d.wall = earliest(d.wall, wall) }

func (d *due) atClaim(tick uint64) { d.claim = earliest(d.claim, tick) }

func earliest(a, b uint64) uint64 {
	if a == 0 {
		return b
	}
	return min(a, b)
}

// readDue looks into the queues of an engine.
func readDue(r storage.Reader) (due, error) {
	tick, err := firstDue(r, kv.KindDueTick)
	if err != nil {
		return due{}, err
	}
	claim, err := firstDue(r, kv.KindDueClaim)
	if err != nil {
		return due{}, err
	}
	wall, err := firstDue(r, kv.KindDueWall)
	return due{tick: tick, wall: wall, claim: claim}, err
}

func firstDue(r storage.Reader, queue string) (uint64, error) {
	cursor, err := r.Scan([]byte(queue), []byte(kv.After(queue)))
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

// refresh looks into the queues that were worked on.
func (d *due) refresh(r storage.Reader) (err error) {
	if d.tickSwept {
		if d.tick, err = firstDue(r, kv.KindDueTick); err != nil {
			return err
		}
	}
	if d.claimSwept {
		if d.claim, err = firstDue(r, kv.KindDueClaim); err != nil {
			return err
		}
	}
	if d.wallSwept {
		if d.wall, err = firstDue(r, kv.KindDueWall); err != nil {
			return err
		}
	}
	d.tickSwept, d.wallSwept, d.claimSwept = false, false, false
	return nil
}

// sweepQueue handles a queue's rows up to now, until they have cost limit. It
// tells whether that was all of them.
func (b *entry) sweepQueue(
	queue string, now uint64, limit int, handle func(when uint64, rest string) (cost int, err error),
) (all bool, err error) {
	upper := kv.After(queue)
	if now < math.MaxUint64 {
		upper = queue + kv.EncodeNumber(now+1)
	}
	keys, more, err := b.rows.Keys(queue, upper, limit)
	if err != nil {
		return false, err
	}
	for cost := 0; len(keys) > 0 && cost < limit; keys = keys[1:] {
		when, rest, ok := kv.SplitDue(keys[0])
		if !ok {
			return false, fmt.Errorf("the queue holds a key of %d bytes", len(keys[0]))
		}
		b.rows.Remove(keys[0])
		extra, err := handle(when, rest)
		if err != nil {
			return false, err
		}
		cost += 1 + extra
	}
	return !more && len(keys) == 0, nil
}

// expireAt queues a row to go at a wall time; 0 means never.
func (b *entry) expireAt(wall int64, row string) {
	if wall == 0 {
		return
	}
	b.rows.Set(kv.DueWallKey(wall, row), nil)
	b.due.atWall(uint64(wall))
}

// unexpire takes a row's place in the queue away.
func (b *entry) unexpire(wall int64, row string) {
	if wall != 0 {
		b.rows.Remove(kv.DueWallKey(wall, row))
	}
}

// expired tells whether something that goes at a wall time has gone, though
// its rows may still be there.
func expired(at, now int64) bool { return at != 0 && at <= now }

// deadline is a ttl from now; 0 means never.
func (b *entry) deadline(ttlMS int64) int64 {
	if ttlMS <= 0 {
		return 0
	}
	ttlMS = min(ttlMS, agent.TTLMax.Milliseconds())
	return max(b.progress.wall, 0) + ttlMS
}

// later adds without running over.
func later(tick, by uint64) uint64 {
	if sum := tick + by; sum >= tick {
		return sum
	}
	return math.MaxUint64
}
