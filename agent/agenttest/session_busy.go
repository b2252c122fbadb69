package agenttest

import "dormouse/agent"

var busyClaims = []claim{
	{"a_busy_session_lets_requests_wait_in_order", func(k *kit) {
		k.start(policy(agent.BusyEnqueue), func(op *agent.PutSession) { op.QueueMax = 2 })
		l := k.lease("w", "q1")
		queued := func(owner, request string) uint64 {
			result := apply[*agent.SessionResult](k, claiming(owner, request))
			if result.Session.Lease != nil {
				k.Fatalf("a queued claim has a lease: %+v", result.Session.Lease)
			}
			return result.Queued
		}
		k.equal("places", []uint64{queued("x", "q2"), queued("y", "q3")}, []uint64{1, 2})
		_, err := k.send(agent.Commit{Ops: []agent.Op{claiming("z", "q4")}})
		full := k.refused(agent.CodeOverloaded, 0, err)
		k.equal("limit", full.Limit, "queue_max=2")
		k.refuse(agent.CodeSessionAlreadyRunning, 0, &agent.ClaimSession{Session: "s", Owner: "z"})
		k.equal("queue", len(k.stored().Queue), 2)
		k.commit(end(l, agent.SessionFinished))

		next := apply[*agent.SessionResult](k, claiming("z", "q4")) // after the queued requests
		k.equal("next", []any{next.Session.RequestID, next.Session.Lease.Owner, next.Queued, next.Session.QueueLength}, []any{"q2", "z", uint64(2), uint64(2)})
		for _, request := range []string{"q3", "q4"} {
			k.commit(end(next.Session.Lease, agent.SessionFinished))
			next = apply[*agent.SessionResult](k, &agent.ClaimSession{Session: "s", Owner: "z"})
			k.equal("next", next.Session.RequestID, request)
		}
		k.commit(end(next.Session.Lease, agent.SessionFinished))
		k.refuse(agent.CodeSessionQueueEmpty, 0, &agent.ClaimSession{Session: "s", Owner: "z"})
	}},

	{"a_request_is_one_entry_of_the_queue", func(k *kit) {
		k.start(policy(agent.BusyEnqueue))
		l := k.lease("w", "q1")
		k.equal("place", apply[*agent.SessionResult](k, claiming("x", "q2")).Queued, uint64(1))
		k.equal("place", apply[*agent.SessionResult](k, claiming("x", "q3")).Queued, uint64(2))
		before := k.stored()
		for _, owner := range []string{"x", "y"} { // it is queued
			again := apply[*agent.SessionResult](k, claiming(owner, "q2"))
			k.equal("again", []any{again.Queued, again.Session.QueueLength, again.Session.Lease == nil}, []any{uint64(1), uint64(2), true})
		}
		other := claiming("x", "q2")
		other.Request.Input = agent.JSON(`"another"`)
		k.refuse(agent.CodeIdempotencyMismatch, 0, other)
		k.refuse(agent.CodeSessionAlreadyRunning, 0, claiming("x", "q1")) // it is running
		after := k.stored()
		k.equal("session", []any{after.Revision, after.Queue}, []any{before.Revision, before.Queue})

		k.commit(end(l, agent.SessionFinished))
		k.refuse(agent.CodeIdempotencyMismatch, 0, other)           // also once its turn has come
		next := apply[*agent.SessionResult](k, claiming("x", "q2")) // its own turn
		k.equal("next", []any{next.Session.RequestID, next.Queued, next.Session.QueueLength}, []any{"q2", uint64(0), uint64(1)})
		k.commit(end(next.Session.Lease, agent.SessionFinished))
		k.equal("place", apply[*agent.SessionResult](k, claiming("z", "q4")).Queued, uint64(1))
		k.refuse(agent.CodeSessionAlreadyRunning, 0, claiming("z", "q3"))
	}},

	{"a_busy_session_is_interrupted", func(k *kit) {
		k.start(policy(agent.BusyInterrupt))
		l := k.lease("w", "q1")
		k.commit(checkpoint(l, "one"))
		next := k.lease("x", "q2")
		if next.Epoch <= l.Epoch {
			k.Fatalf("epoch %d follows %d", next.Epoch, l.Epoch)
		}
		k.refuse(agent.CodeStaleSessionLease, 0, checkpoint(l, "two"))
		k.fenced(agent.Claim{Name: agent.SessionClaim("s"), Epoch: l.Epoch}, agent.Claim{Epoch: next.Epoch, Holder: "x"}, &agent.PutValue{Key: "v"})
		got := k.stored()
		k.equal("requests", []agent.RequestOutcome{got.Requests[0].Outcome, got.Requests[1].Outcome}, []agent.RequestOutcome{agent.RequestInterrupted, agent.RequestOpen})
		k.equal("snapshots", len(got.Snapshots), 1)
		k.commit(end(next, agent.SessionFinished))
	}},

	{"a_busy_session_is_rolled_back", func(k *kit) {
		k.start(policy(agent.BusyRollback))
		l := k.lease("w", "q0")
		k.commit(checkpoint(l, "zero"), &agent.PutCheckpoint{Key: "k", State: agent.JSON(`{"n":0}`)}, &agent.AppendThread{Thread: "t", Entries: messages("m", 0, 2)})
		k.commit(end(l, agent.SessionFinished))

		l = k.lease("w", "q1")
		k.commit(checkpoint(l, "one", agent.ReviewDraft{ID: "v"}), checkpoint(l, "zero"),
			&agent.PutCheckpoint{Key: "k", State: agent.JSON(`{"n":1}`)}, &agent.AppendThread{Thread: "t", Entries: messages("m", 2, 3)})
		k.commit(&agent.PatchCheckpoint{Key: "k", Patch: agent.JSON(`{"n":2}`)})
		next := k.lease("x", "q2")
		k.refuse(agent.CodeStaleSessionLease, 0, checkpoint(l, "two"))

		got := k.stored()
		k.equal("request", got.Requests[1].Outcome, agent.RequestRolledBack)
		k.equal("snapshots", []any{len(got.Snapshots), got.Snapshots[0].ID, got.Snapshots[0].RequestID}, []any{1, "zero", "q0"})
		k.equal("review", k.review("v").Status, agent.ReviewWithdrawn)
		k.equal("checkpoint", string(find[*agent.Checkpoint](k, &agent.GetCheckpoint{Key: "k"}).State), `{"n":0}`)
		entries := k.entries("t")
		k.equal("entries", len(entries), 6)
		k.equal("the last", []any{entries[5].Kind, string(entries[5].Payload), string(entries[5].Refs)},
			[]any{agent.KindTurnRolledBack, `{"from_seq":2,"to_seq":4}`, `{"session_id":"s","request_id":"q1"}`})
		k.commit(end(next, agent.SessionFinished))
		k.equal("snapshots", len(k.stored().Snapshots), 1)
	}},

	{"what_was_not_there_before_the_turn_is_not_after_its_rollback", func(k *kit) {
		k.start(policy(agent.BusyRollback))
		l := k.lease("w", "q1")
		k.commit(checkpoint(l, "one"), &agent.PutCheckpoint{Key: "k"})
		k.lease("x", "q2")
		k.equal("snapshots", len(k.stored().Snapshots), 0)
		k.lacks(agent.CodeNotFound, &agent.GetCheckpoint{Key: "k"})
		k.lacks(agent.CodeNotFound, &agent.GetThread{Thread: "t"})
	}},

	{"a_turn_that_cannot_be_rolled_back_goes_on", func(k *kit) {
		k.start(policy(agent.BusyRollback))
		k.commit(&agent.PutScope{Policy: agent.Policy{History: 2}}, &agent.PutCheckpoint{Key: "k"})
		l := k.lease("w", "q1")
		for range 3 {
			k.commit(&agent.PutCheckpoint{Key: "k"})
		}
		k.refuse(agent.CodeConflict, 0, claiming("x", "q2"))
		k.commit(checkpoint(l, "one"))
		k.commit(&agent.CancelSession{Session: "s"})
		k.lease("x", "q2")
	}},
}
