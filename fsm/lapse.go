package fsm

import (
	"fmt"
	"strings"

	"dormouse/agent"
	"dormouse/fsm/command"
	"dormouse/fsm/kv"
	logpb "dormouse/proto/log"
	"dormouse/storage"
)

// Claims lapse by ticks, as of the entry whose tick has come to their end.
// Whether one has lapsed is told from its row, so nothing waits for the sweep,
// which only clears rows away, and wakes those who watch.
//
// A claim's place in the queue may come too early, since neither renewing it
// nor a change of leader moves it; then it is queued anew. It never comes late.

// opening is the log's time when the leader of a term took over. All claims
// that stood then have their full ttl from there on: their holders could not
// renew them while nobody led.
type opening struct {
	term uint64
	tick uint64
}

// openSweepMax is how many lapsed claims are cleared away at once when a term
// opens. The due entries leave few behind, if any: see sweepMax.
const openSweepMax = 4096

const openingKey = kv.KindSystem + "opening"

// lapse is the tick at which a claim ends unless it is renewed.
func lapse(row *logpb.ClaimRow, o opening) uint64 {
	return later(max(row.ArmedTick, o.tick), row.TtlMs)
}

// lapsed tells whether a claim has ended, though its row may still be there.
func lapsed(row *logpb.ClaimRow, o opening, tick uint64) bool { return lapse(row, o) <= tick }

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
	if all, err := sweepClaims(b.entry, before, openSweepMax); err != nil || !all {
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

// readOpening is the newest opening in an engine.
func readOpening(r storage.Reader) (opening, error) {
	raw, ok, err := r.Get([]byte(openingKey))
	if err != nil || !ok {
		return opening{}, err
	}
	var p logpb.Opening
	if err := command.Unmarshal(raw, &p); err != nil {
		return opening{}, fmt.Errorf("decode the term's opening: %w", err)
	}
	return opening{term: p.Term, tick: p.Tick}, nil
}

// forgetClaims ends all claims. Who took one over after the backup was made is
// not in it, so whoever held it then must not be let in again.
func forgetClaims(r storage.Reader, b *storage.Batch) error {
	held := map[string]int64{} // :: the scope's row → claims
	err := eachRow(r, kv.KindClaim, func(name string, _ []byte) error {
		scope, claim, _ := strings.Cut(name, kv.Separator)
		held[kv.ScopeKey(kv.KindScope, scope)]++
		b.Delete([]byte(kv.KindClaim + name))
		if session, ok := agent.ClaimedSession(strings.TrimSuffix(claim, kv.Separator)); ok { // its turn is to be recovered
			b.Set([]byte(kv.IDKey(kv.KindSessionRecoverable, scope, session)), lapsedAt(0))
		}
		return nil
	})
	if err != nil {
		return err
	}
	b.DeleteRange([]byte(kv.KindDueClaim), []byte(kv.After(kv.KindDueClaim)))
	b.Delete([]byte(openingKey))
	for _, key := range sortedKeys(held) {
		raw, ok, err := r.Get([]byte(key))
		if err != nil {
			return err
		}
		if !ok {
			return fmt.Errorf("claims are in a scope that is not there: %q", key)
		}
		var record logpb.ScopeRecord
		if err := command.Unmarshal(raw, &record); err != nil {
			return fmt.Errorf("decode scope %q: %w", key, err)
		}
		record.Keys = saturate(record.Keys, -held[key])
		if raw, err = command.Marshal(&record); err != nil {
			return fmt.Errorf("encode scope %q: %w", key, err)
		}
		b.Set([]byte(key), raw)
	}
	return nil
}

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
func sweepClaims(b *entry, tick uint64, limit int) (all bool, err error) {
	if b.due.claim == 0 || b.due.claim > tick {
		return true, nil
	}
	b.due.claimSwept = true
	return b.sweepQueue(kv.KindDueClaim, tick, limit, func(when uint64, rest string) (int, error) {
		scope, name, ok := strings.Cut(rest, kv.Separator)
		if !ok {
			return 0, fmt.Errorf("the claims' queue holds %q, which names no claim", rest)
		}
		return 0, dueClaim(b, when, scope, name, tick)
	})
}

// dueClaim handles a claim whose place in the queue has come. One that went,
// and one that is another now, has another place.
func dueClaim(b *entry, when uint64, scope, name string, tick uint64) error {
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
	return leaseLapsed(c, name, row.Epoch)
}
