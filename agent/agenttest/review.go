package agenttest

import (
	"fmt"
	"time"

	"dormouse/agent"
)

// waiting puts session s into the status waiting, with reviews.
func (k *kit) waiting(drafts ...agent.ReviewDraft) agent.SessionRow {
	k.Helper()
	l := k.lease("w", "q")
	k.commit(checkpoint(l, "one"))
	return k.session(end(l, agent.SessionWaiting, drafts...))
}

var reviewClaims = []claim{
	{"a_session_waits_exactly_while_reviews_are_pending", func(k *kit) {
		k.start(func(op *agent.PutSession) { op.Thread = "t" })
		k.equal("without a review", k.waiting().Status, agent.SessionHibernated)
		k.equal("with two", k.waiting(agent.ReviewDraft{ID: "v"}, agent.ReviewDraft{InterruptID: "i", Operation: "refund"}).Status, agent.SessionWaiting)
		ids := []string{"review:i", "v"}
		k.equal("pending", k.reviews(agent.ListReviews{}), ids)
		k.equal("its own", k.reviews(agent.ListReviews{Session: "s"}), []string{"v", "review:i"})
		k.equal("pending reviews", len(k.stored().PendingReviews), 2)
		k.commit(decide("v", agent.DecideApprove))
		k.equal("status", k.stored().Status, agent.SessionWaiting)
		k.commit(decide("review:i", agent.DecideDeny))
		got := k.stored()
		k.equal("status", []any{got.Status, len(got.PendingReviews)}, []any{agent.SessionHibernated, 0})
		k.equal("entries", kinds(k.entries("t")), []string{agent.KindReviewDecision, agent.KindReviewDecision})
		k.equal("the second", string(k.entries("t")[1].Payload), `{"review_id":"review:i","status":"denied","operation":"refund","by":"ada"}`)
		k.equal("of a session", string(k.entries("t")[1].Refs), `{"session_id":"s","request_id":"q"}`)
	}},

	{"a_review_is_decided_once", func(k *kit) {
		k.start()
		k.waiting(agent.ReviewDraft{ID: "v", Arguments: agent.JSON(`{"n":1}`), Reason: "costly", Metadata: agent.JSON(`{"m":1}`), Assignee: "bob"})
		results, errs := k.atOnce(func(caller int) agent.Commit {
			op := &agent.DecideReview{Review: "v", Decision: agent.DecideEdit, By: string(rune('a' + caller)), Arguments: agent.JSON(`{"n":2}`), Note: "less"}
			return agent.Commit{Ops: []agent.Op{op}}
		})
		winner := k.oneWins(agent.CodeReviewDecided, results, errs)
		session, got := k.stored(), k.review("v")
		k.equal("review", *got, agent.Review{
			ID: "v", Incarnation: session.Incarnation, Session: "s", RequestID: "q", Arguments: agent.JSON(`{"n":1}`), Reason: "costly",
			Metadata: agent.JSON(`{"m":1}`), Assignee: "bob", Status: agent.ReviewEdited, CreatedAt: got.CreatedAt,
			DecidedBy: string(rune('a' + winner)), DecidedAt: results[winner].Time, Decided: agent.JSON(`{"n":2}`), Note: "less",
		})
		k.equal("answer", *resultOf[*agent.ReviewResult](k, results[winner], 0), agent.ReviewResult{Review: *got})
		k.refuse(agent.CodeNotFound, 0, decide("missing", agent.DecideApprove))
	}},

	{"a_review_names_its_deciders", func(k *kit) {
		k.start()
		deciders := make([]string, agent.ReviewDecidersMax)
		for i := range deciders {
			deciders[i] = fmt.Sprint("principal ", i)
		}
		l := k.lease("w", "q")
		k.refuseInvalid(agent.CodeTooLarge, 0, "reviews[0].deciders", checkpoint(l, "one", agent.ReviewDraft{ID: "w", Deciders: append(deciders, "one more")}))
		k.refuseInvalid(agent.CodeInvalid, 0, "reviews[0].deciders[0]", checkpoint(l, "one", agent.ReviewDraft{ID: "w", Deciders: []string{""}}))
		k.commit(checkpoint(l, "one", agent.ReviewDraft{ID: "v", Deciders: deciders}))
		k.equal("deciders", k.review("v").Deciders, deciders)
	}},

	{"a_review_asked_for_again_stands_as_it_is", func(k *kit) {
		k.start()
		k.waiting(agent.ReviewDraft{ID: "v", Reason: "first"})
		k.commit(decide("v", agent.DecideApprove))
		l := k.session(&agent.ResumeSession{Session: "s", Owner: "w"}).Lease
		k.commit(checkpoint(l, "two", agent.ReviewDraft{ID: "v", Reason: "again"}))
		k.equal("review", []any{k.review("v").Status, k.review("v").Reason}, []any{agent.ReviewApproved, "first"})
		k.commit(&agent.PutSession{Session: "u", Agent: "a"})
		other := k.session(&agent.ClaimSession{Session: "u", Owner: "w", Request: &agent.SessionRequest{ID: "q"}}).Lease
		op := checkpoint(other, "one", agent.ReviewDraft{ID: "v"})
		op.Session = "u"
		k.refuse(agent.CodeAlreadyExists, 0, op)
	}},

	{"a_turn_that_goes_on_withdraws_its_reviews", func(k *kit) {
		k.start()
		k.waiting(agent.ReviewDraft{ID: "v"})
		l := k.lease("w", "r") // another request
		k.equal("review", k.review("v").Status, agent.ReviewPending)
		k.commit(end(l, agent.SessionFinished))
		k.equal("review", k.review("v").Status, agent.ReviewWithdrawn)
		k.refuse(agent.CodeReviewDecided, 0, decide("v", agent.DecideApprove))
		k.equal("pending", k.reviews(agent.ListReviews{}), []string(nil))
		k.equal("withdrawn", k.reviews(agent.ListReviews{Status: agent.ReviewWithdrawn}), []string{"v"})
	}},

	{"reviews_are_listed_by_deadline", func(k *kit) {
		k.start()
		k.waiting(
			agent.ReviewDraft{ID: "never", Assignee: "ada"}, agent.ReviewDraft{ID: "late", TTL: 2 * time.Hour, Assignee: "ada"},
			agent.ReviewDraft{ID: "soon", TTL: time.Hour, Assignee: "bob"},
		)
		k.equal("pending", k.reviews(agent.ListReviews{Status: agent.ReviewPending}), []string{"soon", "late", "never"})
		late := k.review("late").ExpiresAt
		k.equal("before", k.reviews(agent.ListReviews{Before: late}), []string{"soon"})
		k.equal("before, one later", k.reviews(agent.ListReviews{Before: late + 1}), []string{"soon", "late"})
		k.equal("of ada", k.reviews(agent.ListReviews{Assignee: "ada"}), []string{"late", "never"})
		k.equal("of ada, before", k.reviews(agent.ListReviews{Assignee: "ada", Before: late + 1}), []string{"late"})
		k.commit(decide("late", agent.DecideApprove))
		k.equal("pending", k.reviews(agent.ListReviews{}), []string{"soon", "never"})
		k.equal("approved", k.reviews(agent.ListReviews{Status: agent.ReviewApproved}), []string{"late"})
		k.equal("of the session", k.reviews(agent.ListReviews{Session: "s"}), []string{"never", "late", "soon"})
		k.equal("…pending", k.reviews(agent.ListReviews{Session: "s", Status: agent.ReviewPending}), []string{"never", "soon"})
	}},

	{"reviews_expire_and_are_escalated_by_the_logs_time", func(k *kit) {
		k.start(func(op *agent.PutSession) { op.Thread = "t" })
		k.waiting(agent.ReviewDraft{ID: "v", TTL: 2 * time.Millisecond, EscalateAfter: time.Millisecond, EscalateTo: "boss"}, agent.ReviewDraft{ID: "u", EscalateAfter: time.Millisecond, EscalateTo: "boss"})
		k.whileItExpires("v")
		k.refuse(agent.CodeApprovalExpired, 0, decide("v", agent.DecideApprove))
		v, u := k.review("v"), k.review("u")
		k.equal("expired", []any{v.Status, v.DecidedBy}, []any{agent.ReviewExpired, ""})
		k.equal("escalated", []any{u.Status, u.Escalated, u.Assignee}, []any{agent.ReviewPending, true, "boss"})
		k.equal("of the boss", k.reviews(agent.ListReviews{Assignee: "boss"}), []string{"u"})
		k.equal("status", k.stored().Status, agent.SessionWaiting)
		k.commit(decide("u", agent.DecideApprove))
		k.equal("status", k.stored().Status, agent.SessionHibernated)
		k.equal("entries", kinds(k.entries("t")), []string{agent.KindReviewDecision, agent.KindReviewDecision})
	}},

	{"reviews_and_sessions_that_are_wrong_are_refused_at_the_door", func(k *kit) {
		lease := &agent.Lease{LeaseID: "lease_1", Owner: "w"}
		for _, wrong := range []struct {
			field string
			op    agent.Op
		}{
			{"session", &agent.PutSession{Agent: "a"}},
			{"agent_id", &agent.PutSession{Session: "s"}},
			{"status", &agent.PutSession{Session: "s", Agent: "a", Status: "dreaming"}},
			{"status", &agent.PutSession{Session: "s", Agent: "a", Status: agent.SessionRunning}},
			{"mode", &agent.PutSession{Session: "s", Agent: "a", Mode: "romantic"}},
			{"queue_max", &agent.PutSession{Session: "s", Agent: "a", SessionSettings: agent.SessionSettings{QueueMax: agent.SessionQueueMax + 1}}},
			{"request", &agent.PutSession{Session: "s", Agent: "a", Request: &agent.SessionRequest{ID: "q"}}},
			{"owner_id", &agent.ClaimSession{Session: "s"}},
			{"ttl", &agent.ClaimSession{Session: "s", Owner: "w", TTL: agent.ClaimTTLMin - 1}},
			{"request.id", &agent.ClaimSession{Session: "s", Owner: "w", Request: &agent.SessionRequest{}}},
			{"request.input", &agent.ClaimSession{Session: "s", Owner: "w", Request: &agent.SessionRequest{ID: "q", Input: agent.JSON(`{`)}}},
			{"snapshot.snapshot_id", checkpoint(lease, "")},
			{"snapshot.cursor.phase", &agent.CheckpointSession{Session: "s", Snapshot: agent.SessionSnapshot{ID: "one"}}},
			{"status", end(lease, agent.SessionRunning)},
			{"reviews[0].id", end(lease, agent.SessionWaiting, agent.ReviewDraft{})},
			{"reviews[0].escalate_after", end(lease, agent.SessionWaiting, agent.ReviewDraft{ID: "v", TTL: time.Second, EscalateAfter: time.Second})},
			{"arguments", decide("v", agent.DecideEdit)},
			{"by", &agent.DecideReview{Review: "v", Decision: agent.DecideDeny}},
			{"decision", decide("v", "perhaps")},
		} {
			k.refuseInvalid(agent.CodeInvalid, 0, wrong.field, wrong.op)
		}
	}},
}

func kinds(entries []agent.Entry) []string {
	all := make([]string, len(entries))
	for i, e := range entries {
		all[i] = e.Kind
	}
	return all
}
