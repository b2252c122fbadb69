package fsm

import (
	"fmt"
	"math"
	"strings"

	"dormouse/agent"
	"dormouse/fsm/claim"
	"dormouse/fsm/command"
	"dormouse/fsm/kv"
	"dormouse/fsm/session"
	"dormouse/fsm/txn"
	logpb "dormouse/proto/log"
)

// Due is when something falls due next, in ticks and in wall time, for the
// leader to propose an entry then, empty if need be. 0 means nothing.
func (m *Machine) Due() (tick uint64, wall int64) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	tick = m.due.Tick
	if m.due.Claim != 0 {
		tick = txn.Earliest(tick, m.due.Claim)
	}
	if m.leaseDue != 0 {
		tick = txn.Earliest(tick, m.leaseDue)
	}
	return tick, int64(min(m.due.Wall, math.MaxInt64))
}

// sweep removes what has fallen due by this entry's stamps, at most txn.SweepMax
// of each queue.
func (b *batch) sweep() error {
	if b.Due.Tick != 0 && b.Due.Tick <= b.Progress.Tick {
		b.Due.TickSwept = true
		if _, err := b.SweepQueue(kv.KindDueTick, b.Progress.Tick, txn.SweepMax, b.dueClient); err != nil {
			return err
		}
	}
	if _, err := claim.Sweep(b.Entry, b.Progress.Tick, txn.SweepMax, session.LeaseLapsed); err != nil {
		return err
	}
	if err := b.sweepLeases(b.Progress.Tick); err != nil {
		return err
	}
	if b.Due.Wall != 0 && b.Due.Wall <= uint64(b.Progress.Wall) {
		b.Due.WallSwept = true
		_, err := b.SweepQueue(kv.KindDueWall, uint64(b.Progress.Wall), txn.SweepMax, b.dueRow)
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
	return b.review(scope, client, txn.SweepMax)
}

// dueRow handles the wall queue: data that has expired, or a tombstone, or work that is left. A row
// that was written again since, or went with its scope, has another time.
func (b *batch) dueRow(when uint64, row string) (int, error) {
	for _, f := range backfills {
		if row == f.Cursor {
			return txn.AdvanceBackfill(b.Entry, f)
		}
	}
	kind, scope, id, ok := splitDueRow(row)
	if !ok {
		return 0, fmt.Errorf("the wall queue holds %q, which names no row", row)
	}
	m, told, cost := b.Rows.Begin(), len(b.Changes), 0
	_, err := b.guarded(scope, func() (_ []agent.OpResult, err error) {
		cost, err = b.dueScopeRow(when, row, kind, scope, id)
		return nil, err
	})
	if agent.CodeOf(err) == agent.CodeCorrupt && b.imports[scope] != nil {
		b.Rows.Rollback(m)
		b.Changes = b.Changes[:told]
		return 0, nil // its place in the queue goes, and what is left of it stays
	}
	return cost, err
}

// dueScopeRow is dueRow of a row of a scope.
func (b *batch) dueScopeRow(when uint64, row, kind, scope, id string) (cost int, err error) {
	c := &txn.Tx{Entry: b.Entry, Scope: scope}
	if err := c.OpenScope(); err != nil {
		return 0, err
	}
	expire := expiries[kind]
	if expire == nil {
		return 0, fmt.Errorf("the wall queue holds %q, which is of no kind that expires", row)
	}
	if cost, err = expire(c, row, id, int64(when)); err != nil {
		return 0, err
	}
	if c.Record.Changed {
		c.Scopes[scope] = c.Record
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
	before := b.machine.progress.Tick
	if b.Opening.Term == b.Progress.Term {
		return nil
	}
	if err := b.sweepLeases(before); err != nil {
		return err
	}
	if all, err := claim.Sweep(b.Entry, before, openSweepMax, session.LeaseLapsed); err != nil || !all {
		return err
	}
	b.Opening = txn.TermStart{Term: b.Progress.Term, Tick: before}
	raw, err := command.Marshal(&logpb.Opening{Term: b.Opening.Term, Tick: b.Opening.Tick})
	if err != nil {
		return fmt.Errorf("encode the term's opening: %w", err)
	}
	b.Rows.Set(txn.TermStartKey, raw)
	return nil
}

// openSweepMax is how many lapsed claims are cleared away at once when a term
// opens. The due entries leave few behind, if any: see txn.SweepMax.
const openSweepMax = 4096
