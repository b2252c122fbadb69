package fsm

import (
	"fmt"
	"math"
	"strings"

	"dormouse/agent"
	"dormouse/fsm/claim"
	"dormouse/fsm/command"
	"dormouse/fsm/kv"
	"dormouse/fsm/scoperow"
	"dormouse/fsm/session"
	"dormouse/fsm/txn"
	logpb "dormouse/proto/log"
)

// Due returns when something falls due next, as a tick and as a wall time. The leader then proposes
// an entry, empty if need be. 0 means that nothing falls due.
func (m *Machine) Due() (tick uint64, wall int64) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	tick = txn.Earliest(txn.Earliest(m.due.Tick, m.due.Claim), m.leaseDue)
	return tick, int64(min(m.due.Wall, math.MaxInt64))
}

// sweep removes what is due at this entry's stamps, at most txn.SweepMax rows of each queue.
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
		if _, err := b.SweepQueue(kv.KindDueTimer, uint64(b.Progress.Wall), txn.SweepMax, b.dueRow); err != nil {
			return err
		}
		_, err := b.SweepQueue(kv.KindDueWall, uint64(b.Progress.Wall), txn.SweepMax, b.dueRow)
		return err
	}
	return nil
}

// dueClient handles a row of the tick queue: a client whose answers may be removed.
func (b *batch) dueClient(when uint64, rest string) (int, error) {
	_, scope, client, ok := kv.SplitID(kv.KindClient + rest + kv.Separator)
	if !ok {
		return 0, fmt.Errorf("the tick queue holds %q, which is not a key of a client", rest)
	}
	row, err := b.client(scope, client)
	if err != nil || !row.known || row.ReviewTick != when {
		return 0, err
	}
	return b.review(scope, client, txn.SweepMax)
}

// dueRow handles a row of the wall queue: expired data, a tombstone, or a backfill or vacuum that is
// not complete. It ignores a row that was rewritten or deleted since: the queue then has another time
// for it. A refusal, as of rows of an import that contradict each other, must not stop the replicas:
// the row then stays.
func (b *batch) dueRow(when uint64, row string) (int, error) {
	for _, f := range backfills {
		if row == f.Cursor {
			return txn.AdvanceBackfill(b.Entry, f)
		}
	}
	if row == txn.VacuumKey {
		return scoperow.Vacuum(b.Entry)
	}
	kind, scope, id, ok := splitDueRow(row)
	if !ok {
		return 0, fmt.Errorf("the wall queue holds %q, which is not a key of a row", row)
	}
	m, told, deletions, cost := b.Rows.Begin(), len(b.Changes), b.Deletions, 0
	_, err := b.guarded(scope, func() (_ []agent.OpResult, err error) {
		cost, err = b.dueScopeRow(when, row, kind, scope, id)
		return nil, err
	})
	if refusal, ok := err.(*agent.Error); ok { //nolint:errorlint // as in decide
		b.Rows.Rollback(m)
		b.Changes, b.Deletions = b.Changes[:told], deletions
		b.machine.data.logger.Error("a row that is due stays: its removal was refused", "scope", scope, "kind", fmt.Sprintf("%x", kind), "id", id, "error", refusal)
		return 0, nil // the queue entry is removed
	}
	return cost, err
}

// dueScopeRow is dueRow for a row of a scope.
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

// splitDueRow splits the key of a row that expires. The id of a memory row is its agent's id, a NUL
// and its own. The id of a checkpoint revision is the key, a NUL and two numbers.
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

// openTerm records that another leader has taken over, with the tick of the entry before. It first
// clears the claims that had lapsed by then, so that the new term does not extend them. If they are
// too many for one entry, the term opens with the entry that clears the last of them.
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
	raw := command.Marshal(&logpb.Opening{Term: b.Opening.Term, Tick: b.Opening.Tick})
	b.Rows.Set(txn.TermStartKey, raw)
	return nil
}

// openSweepMax is how many lapsed claims one entry clears when a term opens. Sweeps leave few
// behind: see txn.SweepMax.
const openSweepMax = 4096
