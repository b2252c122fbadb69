package agenttest

import (
	"dormouse/agent"
)

// fencedOps returns one op of each type, each of which applies after those before it,
// in a scope that holds claims c and held. RenewSession and RecoverSession are left
// out: they need a valid and an expired lease.
func fencedOps(held agent.Claim) []agent.Op {
	next := release(held)
	next.To = "z"
	return []agent.Op{
		&agent.PutValue{Key: "v"}, &agent.DeleteValue{Key: "v"},
		&agent.AppendThread{Thread: "t", Entries: messages("m", 0, 3)},
		&agent.HibernateThread{Thread: "t", FromSeq: 2, Rev: 4, Entries: messages("m", 2, 2)},
		&agent.PutCheckpoint{Key: "k", Thread: &agent.Pointer{Thread: "t", Rev: 4}},
		&agent.PatchCheckpoint{Key: "k", Patch: agent.JSON(`{"a":1}`)},
		&agent.CompactThread{Thread: "t", BeforeSeq: 2},
		&agent.ForkThread{Thread: "t", NewThread: "u"},
		&agent.DeleteCheckpoint{Key: "k"}, &agent.DeleteThread{Thread: "u"}, &agent.DeleteThread{Thread: "t"},
		&agent.PutScope{Policy: agent.Policy{History: 2}},
		&agent.WriteMemory{Agent: "a", ID: "m", Content: "x"}, &agent.DeleteMemory{Agent: "a", ID: "m"},
		documents("m"), &agent.DeleteManager{Name: "m"}, &agent.AnswerSignal{Reply: agent.JSON(`{}`)},
		&agent.TakeClaim{Claim: "new", Holder: "z"}, renew(held), next,
		put(), classicSnapshot("one", agent.PhaseReview, agent.ReviewDraft{ID: "r"}), decide("r", agent.DecideApprove),
		&agent.ResumeSession{Session: "s", Owner: "w"}, &agent.ForkSession{Session: "s", NewSession: "f"},
		claiming("w", "q"), putResult(agent.SessionFinished), &agent.CancelSession{Session: "s"}, &agent.DeleteSession{Session: "s"},
		&agent.DeleteScope{},
	}
}

var fenceClaims = []claim{
	{"CL-6_a_stale_fence_stops_every_op", func(k *kit) {
		held := apply[*agent.ClaimResult](k, &agent.TakeClaim{Claim: "held", Holder: "h"}).Claim
		stale := k.take("a")
		a := k.handOver(stale, "b")
		for _, op := range fencedOps(held) {
			before := k.counters()
			k.fenced(stale, a, op)
			k.equal("the scope", k.counters(), before)
			k.under(a, op)
		}
		k.fenced(a, noHolder, &agent.PutValue{Key: "v"}) // its scope was deleted
	}},

	{"a_fence_holds_in_its_scope_only", func(k *kit) {
		a := k.take("a")
		k.in(newName("scope")).fenced(a, noHolder, &agent.PutValue{Key: "v"})
	}},

	{"a_fence_is_judged_before_the_ops", func(k *kit) {
		a := k.take("a")
		k.under(a, &agent.PutValue{Key: "v"}, release(a), &agent.PutValue{Key: "w"})
		k.fenced(a, noHolder, &agent.TakeClaim{Claim: "c", Holder: "a"})
		k.lacks(agent.CodeNotFound, &agent.GetClaim{Claim: "c"})
	}},

	{"a_retry_is_answered_before_its_fence_is_judged", func(k *kit) {
		request := agent.Request{Client: newName("client"), Seq: 1}
		a := k.take("a")
		c := agent.Commit{Request: request, Fence: a.Fence(), Ops: []agent.Op{&agent.PutValue{Key: "v"}}}
		first := k.applied(k.send(c))
		b := k.handOver(a, "b")
		k.equal("answer to the retry", k.applied(k.send(c)), first)

		c.Request.Seq = 2
		for range 2 { // the refusal is a stored answer too
			_, err := k.send(c)
			k.equal("holder told", k.refused(agent.CodeFenced, -1, err).Holder, "b")
			if k.claimHeld().Epoch == b.Epoch {
				k.commit(release(b))
				k.take("z")
			}
		}
	}},

	{"reads_need_no_fence", func(k *kit) {
		k.under(k.take("a"), &agent.PutValue{Key: "v"})
		k.take("a")
		find[*agent.Value](k, &agent.GetValue{Key: "v"})
	}},
}
