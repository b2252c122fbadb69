package fsm

import (
	"fmt"
	"strings"

	"dormouse/fsm/kv"
	logpb "dormouse/proto/log"
)

// Claims lapse by ticks, as of the entry whose tick has come to their end.
// Whether one has lapsed is told from its row, so nothing waits for the sweep,
// which only clears rows away, and wakes those who watch.
//
// A claim's place in the queue may come too early, since neither renewing it
// nor a change of leader moves it; then it is queued anew. It never comes late.

// lapse is the tick at which a claim ends unless it is renewed.
func lapse(row *logpb.ClaimRow, o opening) uint64 {
	return later(max(row.ArmedTick, o.tick), row.TtlMs)
}

// lapsed tells whether a claim has ended, though its row may still be there.
func lapsed(row *logpb.ClaimRow, o opening, tick uint64) bool { return lapse(row, o) <= tick }

// queueClaim gives the claim a place in the queue that is not too late.
func queueClaim(b *entry, scope, name string, row *logpb.ClaimRow) {
	at := lapse(row, b.opening)
	if row.QueuedTick != 0 {
		if row.QueuedTick <= at {
			return
		}
		b.rows.Remove(kv.DueClaimKey(row.QueuedTick, scope, name))
	}
	row.QueuedTick = at
	b.rows.Set(kv.DueClaimKey(at, scope, name), nil)
	b.due.atClaim(at)
}

// sweepClaims clears away claims that have lapsed by a tick, and tells whether
// that was all of them.
func sweepClaims(b *entry, tick uint64, limit int, ended func(c *commit, claim string, epoch uint64) error) (all bool, err error) {
	if b.due.claim == 0 || b.due.claim > tick {
		return true, nil
	}
	b.due.claimSwept = true
	return b.sweepQueue(kv.KindDueClaim, tick, limit, func(when uint64, rest string) (int, error) {
		scope, name, ok := strings.Cut(rest, kv.Separator)
		if !ok {
			return 0, fmt.Errorf("the claims' queue holds %q, which names no claim", rest)
		}
		return 0, dueClaim(b, when, scope, name, tick, ended)
	})
}

// dueClaim handles a claim whose place in the queue has come. One that went,
// and one that is another now, has another place.
func dueClaim(b *entry, when uint64, scope, name string, tick uint64, ended func(c *commit, claim string, epoch uint64) error) error {
	row, err := claimRow(b, scope, name)
	if err != nil || row == nil || row.QueuedTick != when {
		return err
	}
	if !lapsed(row, b.opening, tick) {
		row.QueuedTick = 0
		queueClaim(b, scope, name, row)
		return storeClaim(b, scope, name, row)
	}
	c := &commit{entry: b, scope: scope}
	if err := c.openScope(); err != nil {
		return err
	}
	dropClaim(c, name, row)
	c.scopes[scope] = c.record
	return ended(c, name, row.Epoch)
}
