package fsm

import (
	"fmt"
	"math"
	"strings"

	"dormouse/agent"
	"dormouse/fsm/command"
	"dormouse/fsm/kv"
	logpb "dormouse/proto/log"
)

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
	if _, err := sweepClaims(b.entry, b.progress.tick, sweepMax, leaseLapsed); err != nil {
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

// openTerm notes that another leader has taken over, at the log's time of the
// entry before. What had lapsed by then must go first, since it must not come
// back to life. Where that is too much for one entry, the term opens with the
// one that clears away the last of it.
func (b *batch) openTerm() error {
	before := b.machine.progress.tick
	if b.opening.term == b.progress.term {
		return nil
	}
	if err := b.sweepLeases(before); err != nil {
		return err
	}
	if all, err := sweepClaims(b.entry, before, openSweepMax, leaseLapsed); err != nil || !all {
		return err
	}
	b.opening = opening{term: b.progress.term, tick: before}
	raw, err := command.Marshal(&logpb.Opening{Term: b.opening.term, Tick: b.opening.tick})
	if err != nil {
		return fmt.Errorf("encode the term's opening: %w", err)
	}
	b.rows.Set(openingKey, raw)
	return nil
}

// openSweepMax is how many lapsed claims are cleared away at once when a term
// opens. The due entries leave few behind, if any: see sweepMax.
const openSweepMax = 4096
