package claim

import (
	"fmt"
	"strings"

	"dormouse/fsm/kv"
	"dormouse/fsm/txn"
	logpb "dormouse/proto/log"
)

// A claim expires at the entry whose tick reaches its end. Whether it has expired is computed from
// its row, so correctness does not depend on the sweep. The sweep removes rows and notifies
// watchers.
//
// A claim's queue entry may be too early, because neither a renewal nor a change of leader moves
// it; the sweep then queues it again. It is never too late.

// lapse returns the tick at which a claim ends unless it is renewed.
func lapse(row *logpb.ClaimRow, o txn.TermStart) uint64 {
	return txn.AddTicks(max(row.ArmedTick, o.Tick), row.TtlMs)
}

// Lapsed reports whether a claim has expired, even if its row still exists.
func Lapsed(row *logpb.ClaimRow, o txn.TermStart, tick uint64) bool { return lapse(row, o) <= tick }

// queueClaim gives the claim a queue entry that is not too late.
func queueClaim(b *txn.Entry, scope, name string, row *logpb.ClaimRow) {
	at := lapse(row, b.Opening)
	if row.QueuedTick != 0 {
		if row.QueuedTick <= at {
			return
		}
		b.Rows.Remove(kv.DueClaimKey(row.QueuedTick, scope, name))
	}
	row.QueuedTick = at
	b.Rows.Set(kv.DueClaimKey(at, scope, name), nil)
	b.Due.AtClaim(at)
}

// Sweep removes claims that have expired by a tick, and reports whether those were all.
func Sweep(b *txn.Entry, tick uint64, limit int, ended func(c *txn.Tx, claim string, epoch uint64) error) (all bool, err error) {
	if b.Due.Claim == 0 || b.Due.Claim > tick {
		return true, nil
	}
	b.Due.ClaimSwept = true
	return b.SweepQueue(kv.KindDueClaim, tick, limit, func(when uint64, rest string) (int, error) {
		scope, name, ok := strings.Cut(rest, kv.Separator)
		if !ok {
			return 0, fmt.Errorf("the claims' queue holds %q, which is not a key of a claim", rest)
		}
		return 0, dueClaim(b, when, scope, name, tick, ended)
	})
}

// dueClaim handles a due queue entry. It ignores one of a claim that was removed, or that has
// another queue entry now.
func dueClaim(b *txn.Entry, when uint64, scope, name string, tick uint64, ended func(c *txn.Tx, claim string, epoch uint64) error) error {
	row, err := Load(b, scope, name)
	if err != nil || row == nil || row.QueuedTick != when {
		return err
	}
	if !Lapsed(row, b.Opening, tick) {
		row.QueuedTick = 0
		queueClaim(b, scope, name, row)
		return storeClaim(b, scope, name, row)
	}
	c := &txn.Tx{Entry: b, Scope: scope}
	if err := c.OpenScope(); err != nil {
		return err
	}
	Drop(c, name, row)
	c.Scopes[scope] = c.Record
	return ended(c, name, row.Epoch)
}
