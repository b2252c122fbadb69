package agenttest

import (
	"context"
	"time"

	"dormouse/agent"
)

// take takes claim c, or fails the case.
func (k *kit) take(holder string) agent.Claim {
	k.Helper()
	return apply[*agent.ClaimResult](k, &agent.TakeClaim{Claim: "c", Holder: holder}).Claim
}

func renew(c agent.Claim) *agent.RenewClaim {
	return &agent.RenewClaim{Claim: c.Name, Holder: c.Holder, Epoch: c.Epoch}
}

func release(c agent.Claim) *agent.ReleaseClaim {
	return &agent.ReleaseClaim{Claim: c.Name, Holder: c.Holder, Epoch: c.Epoch}
}

// handOver hands claim c over to another holder.
func (k *kit) handOver(c agent.Claim, to string) agent.Claim {
	k.Helper()
	op := release(c)
	op.To = to
	return apply[*agent.ClaimResult](k, op).Claim
}

// claimHeld returns claim c, which must have a holder, without its expiry, which
// changes.
func (k *kit) claimHeld() agent.Claim {
	k.Helper()
	c := *find[*agent.Claim](k, &agent.GetClaim{Claim: "c"})
	c.ExpiresAt = 0
	return c
}

// fenced sends ops under the fence of c, which must have ended; now is the current
// holding, if any.
func (k *kit) fenced(c, now agent.Claim, ops ...agent.Op) {
	k.Helper()
	_, err := k.send(agent.Commit{Fence: c.Fence(), Ops: ops})
	e := k.refused(agent.CodeFenced, -1, err)
	if e.Epoch != now.Epoch || e.Holder != now.Holder || !e.Final {
		k.Fatalf("fenced by epoch %d of %q (final: %t), want %d of %q", e.Epoch, e.Holder, e.Final, now.Epoch, now.Holder)
	}
}

// under sends ops under the fence of c, which must be current.
func (k *kit) under(c agent.Claim, ops ...agent.Op) {
	k.Helper()
	k.applied(k.send(agent.Commit{Fence: c.Fence(), Ops: ops}))
}

// watchClaim collects the states of claim c until then returns false; then may write.
func (k *kit) watchClaim(then func(seen int, c agent.Claim) (more bool)) []agent.Claim {
	k.Helper()
	ctx, cancel := context.WithCancel(k.ctx)
	defer cancel()
	var told []agent.Claim
	for event, err := range k.service.Watch(ctx, agent.Watch{Scope: k.scope, Claim: "c"}) {
		if err != nil {
			k.Fatalf("the watch failed after %d events: %v", len(told), err)
		}
		if event.Kind != agent.EventClaim || event.Claim.Name != "c" || event.Claim.Held() != (event.Claim.Holder != "") {
			k.Fatalf("a watch of a claim yields %+v", event)
		}
		if told = append(told, event.Claim); !then(len(told), event.Claim) {
			break
		}
	}
	if k.ctx.Err() != nil {
		k.Fatalf("nothing more came after %d events", len(told))
	}
	return told
}

// untilFree watches claim c until it has no holder.
func (k *kit) untilFree() {
	k.Helper()
	k.watchClaim(func(_ int, c agent.Claim) bool { return c.Held() })
}

var noHolder agent.Claim

var holdingClaims = []claim{
	{"CL-1_a_claim_has_one_holder", func(k *kit) {
		k.lacks(agent.CodeNotFound, &agent.GetClaim{Claim: "c"})
		result := k.commit(&agent.TakeClaim{Claim: "c", Holder: "a", TTL: time.Hour})
		a := resultOf[*agent.ClaimResult](k, result, 0).Claim
		if a.Epoch == 0 || a.ExpiresAt != result.Time+time.Hour.Milliseconds() {
			k.Fatalf("taken at %d: %+v", result.Time, a)
		}
		e := k.refuse(agent.CodeAlreadyClaimed, 0, &agent.TakeClaim{Claim: "c", Holder: "b", TTL: time.Hour})
		if e.Epoch != a.Epoch || e.Holder != "a" || e.ExpiresAt < result.Time {
			k.Fatalf("refused with %+v", e)
		}
		k.equal("claim", k.claimHeld(), agent.Claim{Name: "c", Holder: "a", Epoch: a.Epoch, TTL: time.Hour, ClaimedAt: result.Time})
		apply[*agent.ClaimResult](k, &agent.TakeClaim{Claim: "d", Holder: "b"})
	}},

	{"claims_taken_at_once_have_one_winner", func(k *kit) {
		for range 3 {
			results, errs := k.atOnce(func(caller int) agent.Commit {
				return agent.Commit{Ops: []agent.Op{&agent.TakeClaim{Claim: "c", Holder: string(rune('a' + caller))}}}
			})
			winner := k.oneWins(agent.CodeAlreadyClaimed, results, errs)
			won := resultOf[*agent.ClaimResult](k, results[winner], 0).Claim
			k.equal("holder", k.claimHeld().Holder, string(rune('a'+winner)))
			k.commit(release(won))
		}
	}},

	{"epochs_only_grow", func(k *kit) {
		last := k.take("a")
		for _, next := range []func() agent.Claim{
			func() agent.Claim { return k.take("a") }, // its own holder takes it again
			func() agent.Claim { return k.handOver(last, "b") },
			func() agent.Claim { k.commit(release(last)); return k.take("b") },
			func() agent.Claim { k.commit(&agent.DeleteScope{}); return k.take("b") },
		} {
			now := next()
			if now.Epoch <= last.Epoch {
				k.Fatalf("epoch %d follows %d", now.Epoch, last.Epoch)
			}
			k.fenced(last, now, &agent.PutValue{Key: "v"})
			k.under(now, &agent.PutValue{Key: "v"})
			last = now
		}
	}},

	{"renewing_keeps_the_epoch", func(k *kit) {
		a := k.take("a")
		k.equal("ttl where none is named", a.TTL, agent.ClaimTTLDefault)
		longer := renew(a)
		longer.TTL = time.Hour
		result := k.commit(longer)
		renewed := resultOf[*agent.ClaimResult](k, result, 0).Claim
		a.TTL, a.ExpiresAt = time.Hour, result.Time+time.Hour.Milliseconds()
		k.equal("renewed", renewed, a)
		k.equal("ttl as it was", apply[*agent.ClaimResult](k, renew(a)).Claim.TTL, time.Hour)
		k.under(a, &agent.PutValue{Key: "v"})
	}},

	{"only_its_holder_renews_and_releases_a_claim", func(k *kit) {
		before, a := k.take("a"), k.take("a")
		for _, other := range []agent.Claim{
			{Name: "c", Holder: "b", Epoch: a.Epoch}, {Name: "c", Holder: "a", Epoch: a.Epoch + 1}, before,
		} {
			for _, op := range []agent.Op{renew(other), release(other)} {
				e := k.refuse(agent.CodeFenced, 0, op)
				k.equal("who holds it", []any{e.Epoch, e.Holder}, []any{a.Epoch, "a"})
			}
		}
		e := k.refuse(agent.CodeFenced, 0, renew(agent.Claim{Name: "d", Holder: "a", Epoch: a.Epoch}))
		k.equal("who holds the other", []any{e.Epoch, e.Holder}, []any{uint64(0), ""})
		k.equal("holder", k.claimHeld().Holder, "a")
	}},

	{"a_released_claim_has_no_holder", func(k *kit) {
		a := k.take("a")
		k.equal("released", apply[*agent.ClaimResult](k, release(a)).Claim, agent.Claim{Name: "c"})
		k.lacks(agent.CodeNotFound, &agent.GetClaim{Claim: "c"})
		k.fenced(a, noHolder, &agent.PutValue{Key: "v"})
		k.refuse(agent.CodeFenced, 0, release(a))
		k.refuse(agent.CodeFenced, 0, renew(a))
		k.take("b")
	}},

	{"handing_over_leaves_no_gap", func(k *kit) {
		a := k.take("a")
		over := release(a)
		over.To, over.TTL = "b", time.Hour
		result := k.commit(over)
		b := resultOf[*agent.ClaimResult](k, result, 0).Claim
		k.equal("handed over", b, agent.Claim{
			Name: "c", Holder: "b", Epoch: b.Epoch, TTL: time.Hour, ClaimedAt: result.Time, ExpiresAt: result.Time + time.Hour.Milliseconds(),
		})
		k.refuse(agent.CodeAlreadyClaimed, 0, &agent.TakeClaim{Claim: "c", Holder: "a"})
		k.equal("ttl as it was", k.handOver(b, "c").TTL, time.Hour)
	}},

	{"an_expired_claim_has_no_holder", func(k *kit) {
		short := &agent.TakeClaim{Claim: "c", Holder: "a", TTL: agent.ClaimTTLMin}
		a := apply[*agent.ClaimResult](k, short).Claim
		k.untilFree()
		k.lacks(agent.CodeNotFound, &agent.GetClaim{Claim: "c"})
		k.equal("claims held", k.pages(agent.Page{}, func(p agent.Page) agent.Read { return &agent.ListClaims{Page: p} }), []string(nil))
		k.fenced(a, noHolder, &agent.PutValue{Key: "v"})
		k.refuse(agent.CodeFenced, 0, renew(a))
		b := k.take("b")
		if b.Epoch <= a.Epoch {
			k.Fatalf("epoch %d follows %d", b.Epoch, a.Epoch)
		}
		k.fenced(a, b, &agent.PutValue{Key: "v"})
	}},

	{"a_commit_takes_a_claim_and_writes_or_neither", func(k *kit) {
		k.refuse(agent.CodeNotFound, 1, &agent.TakeClaim{Claim: "c", Holder: "a"}, &agent.PatchCheckpoint{Key: "p", Patch: agent.JSON(`{}`)})
		k.lacks(agent.CodeNotFound, &agent.GetClaim{Claim: "c"})
		k.take("a")
		k.refuse(agent.CodeAlreadyClaimed, 1, &agent.PutValue{Key: "v"}, &agent.TakeClaim{Claim: "c", Holder: "b"})
		k.lacks(agent.CodeNotFound, &agent.GetValue{Key: "v"})
	}},

	{"claims_count_as_keys", func(k *kit) {
		a := k.take("a")
		k.take("a")
		k.equal("keys", k.counters().Keys, uint64(1))
		k.refuse(agent.CodeFenced, 0, release(a))
		k.commit(release(k.claimHeld()))
		k.equal("keys", k.counters().Keys, uint64(0))
	}},

	{"claims_that_are_wrong_are_refused_at_the_door", func(k *kit) {
		for _, wrong := range []struct {
			field string
			op    agent.Op
		}{
			{"claim", &agent.TakeClaim{Holder: "a"}},
			{"holder", &agent.TakeClaim{Claim: "c"}},
			{"ttl", &agent.TakeClaim{Claim: "c", Holder: "a", TTL: agent.ClaimTTLMin - 1}},
			{"ttl", &agent.TakeClaim{Claim: "c", Holder: "a", TTL: agent.ClaimTTLMax + 1}},
			{"epoch", &agent.RenewClaim{Claim: "c", Holder: "a"}},
			{"ttl", &agent.RenewClaim{Claim: "c", Holder: "a", Epoch: 1, TTL: 1}},
			{"epoch", &agent.ReleaseClaim{Claim: "c", Holder: "a"}},
			{"to", &agent.ReleaseClaim{Claim: "c", Holder: "a", Epoch: 1, To: ".."}},
			{"ttl", &agent.ReleaseClaim{Claim: "c", Holder: "a", Epoch: 1, TTL: time.Minute}},
		} {
			k.refuseInvalid(agent.CodeInvalid, 0, wrong.field, wrong.op)
		}
	}},

	{"a_watch_tells_who_holds_a_claim", func(k *kit) {
		var a, b agent.Claim
		told := k.watchClaim(func(seen int, _ agent.Claim) bool {
			switch seen {
			case 1:
				a = k.take("a")
			case 2:
				k.commit(renew(a)) // a renewal is not a change
				b = k.handOver(a, "b")
			case 3:
				k.commit(release(b))
			case 4:
				b = apply[*agent.ClaimResult](k, &agent.TakeClaim{Claim: "c", Holder: "b", TTL: agent.ClaimTTLMin}).Claim
			}
			return seen < 6 // until it expires
		})
		holders := make([]string, len(told))
		for i, c := range told {
			holders[i] = c.Holder
		}
		k.equal("holders", holders, []string{"", "a", "b", "", "b", ""})
		k.equal("the last holding", []any{told[4].Epoch, told[4].TTL, told[4].ClaimedAt}, []any{b.Epoch, b.TTL, b.ClaimedAt})
	}},

	{"a_watch_of_a_claim_and_a_thread_is_refused", func(k *kit) {
		var last error
		for _, err := range k.service.Watch(k.ctx, agent.Watch{Scope: k.scope, Claim: "c", Thread: "t"}) {
			last = err
		}
		k.equal("field", k.failure(agent.CodeInvalid, last).Field, "claim")
	}},
}
