package fsm

import (
	"fmt"
	"math"
	"strings"

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

func (d *due) atTick(tick uint64)  { d.tick = earliest(d.tick, tick) }
func (d *due) atWall(wall uint64)  { d.wall = earliest(d.wall, wall) }
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

// Due is when something falls due next, in ticks and in wall time, for the
// leader to propose an entry then, empty if need be. 0 means nothing.
func (m *Machine) Due() (tick uint64, wall int64) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	tick = m.due.tick
	if m.due.claim != 0 {
		tick = earliest(tick, m.due.claim)
	}
	if m.leaseDue != 0 {
		tick = earliest(tick, m.leaseDue)
	}
	return tick, int64(min(m.due.wall, math.MaxInt64))
}

// sweep removes what has fallen due by this entry's stamps, at most sweepMax
// of each queue.
func (b *batch) sweep() error {
	if b.due.tick != 0 && b.due.tick <= b.progress.tick {
		b.due.tickSwept = true
		if _, err := b.sweepQueue(kv.KindDueTick, b.progress.tick, sweepMax, b.dueClient); err != nil {
			return err
		}
	}
	if _, err := sweepClaims(b.entry, b.progress.tick, sweepMax); err != nil {
		return err
	}
	if err := b.sweepLeases(b.progress.tick); err != nil {
		return err
	}
	if b.due.wall != 0 && b.due.wall <= uint64(b.progress.wall) {
		b.due.wallSwept = true
		_, err := b.sweepQueue(kv.KindDueWall, uint64(b.progress.wall), sweepMax, b.dueRow)
		return err
	}
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

// dueClient handles the tick queue: a client whose answers may go.
func (b *batch) dueClient(when uint64, rest string) (int, error) {
	_, scope, client, ok := kv.SplitID(kv.KindClient + rest + kv.Separator)
	if !ok {
		return 0, fmt.Errorf("the tick queue holds %q, which names no client", rest)
	}
	row, err := b.client(scope, client)
	if err != nil || !row.known || row.ReviewTick != when {
		return 0, err
	}
	return b.review(scope, client, sweepMax)
}

// dueRow handles the wall queue: data that has expired, or a tombstone, or work that is left. A row
// that was written anew since, or went with its scope, has another time.
func (b *batch) dueRow(when uint64, row string) (int, error) {
	for _, f := range backfills {
		if row == f.cursor {
			return fillIndex(b.entry, f)
		}
	}
	kind, scope, id, ok := splitDueRow(row)
	if !ok {
		return 0, fmt.Errorf("the wall queue holds %q, which names no row", row)
	}
	m, told, cost := b.rows.Begin(), len(b.changes), 0
	_, err := b.guarded(scope, func() (_ []agent.OpResult, err error) {
		cost, err = b.dueScopeRow(when, row, kind, scope, id)
		return nil, err
	})
	if agent.CodeOf(err) == agent.CodeCorrupt && b.imports[scope] != nil {
		b.rows.Rollback(m)
		b.changes = b.changes[:told]
		return 0, nil // its place in the queue goes, and what is left of it stays
	}
	return cost, err
}

// dueScopeRow is dueRow of a row of a scope.
func (b *batch) dueScopeRow(when uint64, row, kind, scope, id string) (cost int, err error) {
	c := &commit{entry: b.entry, scope: scope}
	if err := c.openScope(); err != nil {
		return 0, err
	}
	expire := expiries[kind]
	if expire == nil {
		return 0, fmt.Errorf("the wall queue holds %q, which is of no kind that expires", row)
	}
	if cost, err = expire(c, row, id, int64(when)); err != nil {
		return 0, err
	}
	if c.record.changed {
		c.scopes[scope] = c.record
	}
	return cost, nil
}

// splitDueRow takes the name of a row apart that expires. The id of a memory's
// is its agent's, a NUL and its own; that of a revision of a checkpoint is the
// key, a NUL and two numbers.
func splitDueRow(row string) (kind, scope, id string, ok bool) {
	if strings.HasPrefix(row, kv.KindCheckpointHistory) {
		scope, id, ok := strings.Cut(row[1:], kv.Separator)
		return kv.KindCheckpointHistory, scope, id, ok
	}
	if strings.HasPrefix(row, kv.KindMemory) || strings.HasPrefix(row, kv.KindMemoryTombstone) {
		scope, name, id, ok := kv.SplitMemory(row)
		return row[:1], scope, name + kv.Separator + id, ok
	}
	if strings.HasPrefix(row, kv.KindTimer) {
		scope, n, ok := kv.SplitTimer(row)
		return kv.KindTimer, scope, n.ID, ok
	}
	return kv.SplitID(row)
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
