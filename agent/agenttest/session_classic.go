package agenttest

import (
	"fmt"
	"time"

	"dormouse/agent"
)

// put returns an op that puts session s in classic mode, over any existing one.
func put(more ...func(*agent.PutSession)) *agent.PutSession {
	op := &agent.PutSession{Session: "s", Agent: "a", Mode: agent.SessionModeClassic}
	for _, m := range more {
		m(op)
	}
	return op
}

func classicSnapshot(id string, phase agent.CursorPhase, reviews ...agent.ReviewDraft) *agent.CheckpointSession {
	return &agent.CheckpointSession{Session: "s", Snapshot: snapshot(id, phase), Reviews: reviews}
}

func putResult(status agent.SessionStatus) *agent.CommitSession {
	op := &agent.CommitSession{Session: "s", Status: status}
	switch status {
	case agent.SessionFailed:
		op.Failure = agent.JSON(`"failed"`)
	default:
		op.Result = agent.JSON(`"done"`)
	}
	return op
}

func putRequest(id string) *agent.PutSession {
	return put(func(op *agent.PutSession) { op.Request = &agent.SessionRequest{ID: id} })
}

// Sessions in classic mode: the JS rules of docs/semantics.md.
var classicClaims = []claim{
	{"JS-1_what_is_started_is_got", func(k *kit) {
		k.start(classic, func(op *agent.PutSession) { op.Spec, op.Metadata = agent.JSON(`{"m":1}`), agent.JSON(`{"t":2}`) })
		got := k.stored()
		k.equal("got", []any{got.Status, got.Mode, string(got.Spec), string(got.Metadata)}, []any{agent.SessionNew, agent.SessionModeClassic, `{"m":1}`, `{"t":2}`})
		k.lacks(agent.CodeNotFound, &agent.GetSession{Session: "missing"})
	}},

	{"JS-2_one_of_many_claims_a_session", func(k *kit) {
		for _, mode := range []func(*agent.PutSession){classic, func(*agent.PutSession) {}} {
			k.start(mode)
			results, errs := k.atOnce(func(caller int) agent.Commit {
				return agent.Commit{Ops: []agent.Op{claiming(string(rune('a'+caller)), "q")}}
			})
			winner := k.oneWins(agent.CodeSessionAlreadyRunning, results, errs)
			k.equal("request's owner", k.stored().Requests[0].Owner, string(rune('a'+winner)))
			k.commit(&agent.DeleteSession{Session: "s"})
		}
	}},

	{"JS-3_what_runs_is_not_claimed", func(k *kit) {
		k.start(classic)
		row := k.session(claiming("w", "q"))
		k.equal("claimed", []any{row.Status, row.Lease == nil}, []any{agent.SessionRunning, true})
		k.equal("status told", k.refuse(agent.CodeSessionAlreadyRunning, 0, claiming("w", "r")).State, "running")
		k.refuse(agent.CodeSessionNotRecoverable, 0, &agent.RecoverSession{Session: "s", Owner: "w"})
		k.refuse(agent.CodeStaleSessionLease, 0, &agent.RenewSession{Session: "s", LeaseID: agent.LeaseID(1), Owner: "w"})
		k.equal("recoverable", k.sessions(agent.ListSessions{Recoverable: true}), []string(nil))
	}},

	{"JS-4_each_event_has_its_status", func(k *kit) {
		k.start(classic)
		status := func(op agent.Op) agent.SessionStatus { return k.session(op).Status }
		pendingOnes := func() int { return len(k.stored().PendingReviews) }

		k.equal("put_request", status(putRequest("q")), agent.SessionRunning)
		k.equal("put_result", status(putResult(agent.SessionFinished)), agent.SessionFinished)
		k.equal("put_request", status(putRequest("r")), agent.SessionRunning)
		k.equal("result kept", string(k.stored().Result), `"done"`)
		k.equal("put_snapshot", status(classicSnapshot("one", agent.PhaseAfterPrompt)), agent.SessionHibernated)
		k.equal("put_snapshot in review", status(classicSnapshot("two", agent.PhaseReview)), agent.SessionWaiting)
		k.equal("put_snapshot with a review", status(classicSnapshot("two", agent.PhaseWait, agent.ReviewDraft{ID: "v"})), agent.SessionWaiting)
		k.equal("pending", pendingOnes(), 1)
		k.equal("put_request", status(putRequest("z")), agent.SessionRunning)
		k.equal("pending, kept", pendingOnes(), 1)
		k.equal("put_snapshot without a review", status(classicSnapshot("three", agent.PhaseWait)), agent.SessionHibernated)
		k.equal("pending, as the snapshot says", pendingOnes(), 0)
		k.equal("put_snapshot with a review", status(classicSnapshot("four", agent.PhaseWait, agent.ReviewDraft{ID: "w"})), agent.SessionWaiting)
		k.equal("put_result", status(putResult(agent.SessionFinished)), agent.SessionFinished)
		k.equal("pending, emptied", pendingOnes(), 0)
		k.equal("put_error", status(putResult(agent.SessionFailed)), agent.SessionFailed)
		k.equal("failure", string(k.stored().Failure), `"failed"`)
		k.equal("put_request", status(putRequest("y")), agent.SessionRunning)
		k.equal("failure, cleared", k.stored().Failure, agent.JSON(nil))
	}},

	{"JS-5_an_error_keeps_the_reviews", func(k *kit) {
		k.start(classic)
		k.commit(classicSnapshot("one", agent.PhaseReview, agent.ReviewDraft{ID: "v"}))
		k.equal("status", k.session(putResult(agent.SessionFailed)).Status, agent.SessionFailed)
		k.equal("pending", k.stored().PendingReviews[0].ID, "v")
	}},

	{"JS-6_sessions_are_listed_by_id", func(k *kit) {
		for _, id := range []string{"b", "a", "c"} {
			op := put()
			op.Session = id
			k.commit(op)
		}
		k.equal("listed", k.sessions(agent.ListSessions{}), []string{"a", "b", "c"})
	}},

	{"JS-7_resuming_takes_the_newest_snapshot", func(k *kit) {
		k.start(classic)
		k.refuse(agent.CodeMissingSnapshot, 0, &agent.ResumeSession{Session: "s", Owner: "w"})
		k.commit(classicSnapshot("one", agent.PhaseWait), classicSnapshot("two", agent.PhaseWait), classicSnapshot("one", agent.PhaseReview))
		before := k.stored()
		resumed := apply[*agent.SessionResult](k, &agent.ResumeSession{Session: "s", Owner: "w"})
		k.equal("recovery", resumed.Recovery, &agent.Recovery{Resume: "one"})
		k.equal("session, which was not claimed", k.stored(), before)
	}},

	{"JS-8_a_review_is_approved_denied_or_too_late", func(k *kit) {
		k.start(classic)
		for _, c := range []struct {
			decision agent.ReviewDecision
			review   agent.ReviewStatus
			session  agent.SessionStatus
		}{
			{agent.DecideApprove, agent.ReviewApproved, agent.SessionHibernated},
			{agent.DecideEdit, agent.ReviewEdited, agent.SessionHibernated},
			{agent.DecideDeny, agent.ReviewDenied, agent.SessionFailed},
		} {
			id := string(c.decision)
			k.commit(classicSnapshot("one", agent.PhaseReview, agent.ReviewDraft{ID: id, InterruptID: "i"}))
			op := decide(id, c.decision)
			if c.decision == agent.DecideEdit {
				op.Arguments = agent.JSON(`{"n":2}`)
			}
			op.InterruptID = "j"
			k.refuse(agent.CodeApprovalMismatch, 0, op)
			op.InterruptID = "i"
			k.equal(id, apply[*agent.ReviewResult](k, op).Review.Status, c.review)
			k.equal("session", k.stored().Status, c.session)
			e := k.refuse(agent.CodeReviewDecided, 0, decide(id, agent.DecideApprove))
			k.equal("decision told", []any{e.State, e.Holder}, []any{string(c.review), "ada"})
		}
		k.commit(classicSnapshot("one", agent.PhaseReview, agent.ReviewDraft{ID: "late", TTL: time.Millisecond}))
		k.whileItExpires("late")
		k.equal("status told", k.refuse(agent.CodeApprovalExpired, 0, decide("late", agent.DecideApprove)).State, "expired")
	}},

	{"JS-9_a_schema_of_another_era_is_refused", func(k *kit) {
		of := func(version uint64, mode agent.SessionMode) *agent.PutSession {
			return put(func(op *agent.PutSession) { op.SchemaVersion, op.Mode = version, mode })
		}
		for version, want := range []uint64{1, 1} { // 0 means none
			k.commit(of(uint64(version), agent.SessionModeClassic))
			k.equal("classic", k.stored().SchemaVersion, want)
		}
		for version := uint64(2); version <= agent.SessionSchemaMax+1; version++ {
			k.refuseInvalid(agent.CodeUnsupportedSchema, 0, "schema_version", of(version, agent.SessionModeClassic))
		}
		k.refuse(agent.CodeUnsupportedSchema, 0, of(2, "")) // the mode does not change

		for version, want := range []uint64{agent.SessionSchemaMax, 1, 2, agent.SessionSchemaMax} {
			op := of(uint64(version), agent.SessionModeLease)
			op.Session = fmt.Sprintf("leased %d", version)
			k.commit(op)
			k.equal("leased", find[*agent.Session](k, &agent.GetSession{Session: op.Session}).SchemaVersion, want)
		}
		k.refuseInvalid(agent.CodeUnsupportedSchema, 0, "schema_version", of(agent.SessionSchemaMax+1, agent.SessionModeLease))
	}},

	{"JS-10_pending_reviews_are_listed_over_all_sessions", func(k *kit) {
		for _, id := range []string{"b", "a"} {
			op, snapshot := put(), classicSnapshot("one", agent.PhaseReview, agent.ReviewDraft{ID: "of " + id})
			op.Session, snapshot.Session = id, id
			failed := putResult(agent.SessionFailed)
			failed.Session = id
			k.commit(op, snapshot, failed)
		}
		k.equal("pending", k.reviews(agent.ListReviews{}), []string{"of a", "of b"})
	}},

	{"JS-11_starting_may_be_create_only", func(k *kit) {
		only := put(func(op *agent.PutSession) { op.IfRevision = ptr(uint64(0)) })
		k.commit(only)
		k.refuse(agent.CodeAlreadyExists, 0, only)
		k.commit(put(func(op *agent.PutSession) { op.Agent = "b" })) // Jidoka's start: it overwrites the session
		k.equal("agent", k.stored().Agent, "b")
		k.refuse(agent.CodeInvalid, 0, &agent.PutSession{Session: "s", Agent: "a", Mode: agent.SessionModeLease, IfRevision: ptr(uint64(9))})
		k.refuse(agent.CodeInvalid, 0, put(policy(agent.BusyEnqueue)))
	}},
}

// whileItExpires waits until a review has expired, which takes a short time: the
// expiry of a claim shows that time has passed, and commits advance log time.
func (k *kit) whileItExpires(review string) {
	k.Helper()
	expires := k.review(review).ExpiresAt
	apply[*agent.ClaimResult](k, &agent.TakeClaim{Claim: "c", Holder: "a", TTL: agent.ClaimTTLMin})
	k.untilFree()
	for k.commit(&agent.PutValue{Key: "time passes"}).Time < expires {
		if k.ctx.Err() != nil {
			k.Fatal("the log's time stands still")
		}
	}
}
