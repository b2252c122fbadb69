package agenttest

import (
	"time"

	"dormouse/agent"
)

// Sessions with leases: the JL rules of docs/semantics.md.
var sessionClaims = []claim{
	{"JL-1_a_put_is_create_only_or_names_a_revision", func(k *kit) {
		first := k.start(func(op *agent.PutSession) {
			op.Spec, op.Metadata = agent.JSON(`{"model":"m"}`), agent.JSON(`{"tenant":"acme"}`)
			op.Conversation = &agent.Conversation{AgentState: agent.JSON(`{"n":1}`), TurnCount: 1}
		})
		got := k.stored()
		k.equal("session", *got, agent.Session{
			SessionRow: agent.SessionRow{
				ID: "s", Incarnation: first.Incarnation, Revision: 1, Mode: agent.SessionModeLease,
				SessionSettings: agent.SessionSettings{Busy: agent.BusyReject, QueueMax: agent.SessionQueueDefault, SchemaVersion: agent.SessionSchemaMax},

				Agent: "a", Status: agent.SessionNew, CreatedAt: first.CreatedAt, UpdatedAt: first.UpdatedAt,
			},
			Spec: agent.JSON(`{"model":"m"}`), Metadata: agent.JSON(`{"tenant":"acme"}`), Environment: agent.JSON(`{}`),
			Conversation: agent.Conversation{AgentState: agent.JSON(`{"n":1}`), TurnCount: 1, ContextState: agent.JSON(`{}`)},
		})
		e := k.refuse(agent.CodeAlreadyExists, 0, &agent.PutSession{Session: "s", Agent: "b"})
		k.equal("revision told", e.Revision, uint64(1))
		k.refuse(agent.CodeAlreadyExists, 0, &agent.PutSession{Session: "s", Agent: "b", IfRevision: ptr(uint64(0))})
		later := k.session(&agent.PutSession{Session: "s", Agent: "b", Status: agent.SessionFinished, IfRevision: ptr(uint64(7))})
		k.equal("put over it", []any{later.Revision, later.Agent, later.Status}, []any{uint64(8), "b", agent.SessionFinished})
		k.equal("conversation", k.stored().Conversation.TurnCount, uint64(1))
	}},

	{"JL-2_a_claim_begins_a_turn", func(k *kit) {
		first := k.start(func(op *agent.PutSession) { op.Conversation = &agent.Conversation{ContinuationRevision: 4} })
		stale := claiming("w", "q1")
		stale.ConversationRevision = ptr(uint64(3))
		k.equal("revision told", k.refuse(agent.CodeStaleConversationRevision, 0, stale).Revision, uint64(4))
		op := claiming("w", "q1")
		op.ConversationRevision, op.TTL = ptr(uint64(4)), time.Hour
		result := k.commit(op)
		row := resultOf[*agent.SessionResult](k, result, 0).Session
		k.equal("claimed", row.Lease, &agent.Lease{
			LeaseID: agent.LeaseID(row.Lease.Epoch), Owner: "w", RequestID: "q1", Epoch: row.Lease.Epoch,
			AcquiredAt: result.Time, ExpiresAt: result.Time + time.Hour.Milliseconds(),
		})
		k.equal("row", []any{row.Status, row.Revision, row.RequestID}, []any{agent.SessionRunning, first.Revision + 1, "q1"})
		e := k.refuse(agent.CodeSessionAlreadyRunning, 0, claiming("x", "q2"))
		k.equal("who runs it", []any{e.Holder, e.Epoch, e.State}, []any{"w", row.Lease.Epoch, "running"})
		k.equal("requests", k.stored().Requests, []agent.SessionRequest{{
			ID: "q1", Input: agent.JSON(`"hi"`), Owner: "w", At: result.Time,
		}})
	}},

	{"JL-3_what_hibernates_or_waits_is_resumed", func(k *kit) {
		k.start()
		k.equal("status told", k.refuse(agent.CodeSessionNotResumable, 0, &agent.ResumeSession{Session: "s", Owner: "w"}).State, "new")
		for _, reviews := range [][]agent.ReviewDraft{nil, {{ID: "v"}}} {
			l := k.lease("w", "q")
			k.commit(checkpoint(l, "one"), checkpoint(l, "two"))
			paused := k.session(end(l, agent.SessionHibernated, reviews...))
			resumed := apply[*agent.SessionResult](k, &agent.ResumeSession{Session: "s", Owner: "x"})
			k.equal("recovery", resumed.Recovery, &agent.Recovery{Resume: "two"})
			k.equal("resumed", []any{resumed.Session.Status, resumed.Session.Revision, resumed.Session.RequestID, resumed.Session.Lease.Owner},
				[]any{agent.SessionRunning, paused.Revision + 1, "q", "x"})
			k.refuse(agent.CodeStaleSessionLease, 0, end(l, agent.SessionFinished))
			k.commit(end(resumed.Session.Lease, agent.SessionFinished))
		}
		k.equal("status told", k.refuse(agent.CodeSessionNotResumable, 0, &agent.ResumeSession{Session: "s", Owner: "w"}).State, "finished")
		revision := k.stored().Revision
		k.commit(&agent.PutSession{Session: "s", Agent: "a", Status: agent.SessionHibernated, IfRevision: &revision})
		k.commit(&agent.PutSession{Session: "u", Agent: "a", Status: agent.SessionHibernated})
		k.refuse(agent.CodeMissingSnapshot, 0, &agent.ResumeSession{Session: "u", Owner: "w"})
	}},

	{"JL-4_a_lapsed_turn_is_recovered", func(k *kit) {
		k.start()
		k.refuse(agent.CodeSessionNotRecoverable, 0, &agent.RecoverSession{Session: "s", Owner: "x"})
		l := k.lease("w", "q")
		e := k.refuse(agent.CodeSessionLeaseActive, 0, &agent.RecoverSession{Session: "s", Owner: "x"})
		k.equal("who runs it", []any{e.Holder, e.Epoch}, []any{"w", l.Epoch})
		k.equal("recoverable", k.sessions(agent.ListSessions{Recoverable: true}), []string(nil))
		k.commit(end(l, agent.SessionFinished))

		l = k.lapsing("w", "r")
		k.equal("recoverable", k.sessions(agent.ListSessions{Recoverable: true}), []string{"s"})
		if got := k.stored(); !got.Recoverable || got.Status != agent.SessionRunning || got.Lease.Epoch != l.Epoch {
			k.Fatalf("lapsed: %+v, %+v", got.SessionRow, got.Lease)
		}
		before := k.stored().Revision
		recovered := apply[*agent.SessionResult](k, &agent.RecoverSession{Session: "s", Owner: "x"})
		k.equal("recovery", recovered.Recovery, &agent.Recovery{Restart: "r"})
		k.equal("recovered", []any{recovered.Session.Revision, recovered.Session.Lease.Owner, recovered.Session.Recoverable}, []any{before + 1, "x", false})
		k.equal("recoverable", k.sessions(agent.ListSessions{Recoverable: true}), []string(nil))
		k.refuse(agent.CodeStaleSessionLease, 0, renewLease(l))
	}},

	{"JL-5_a_checkpoint_keeps_a_snapshot_and_the_lease", func(k *kit) {
		k.start()
		l := k.lease("w", "q")
		for _, wrong := range []func(*agent.SessionSnapshot){
			func(s *agent.SessionSnapshot) { s.Agent = "b" }, func(s *agent.SessionSnapshot) { s.RequestID = "r" },
		} {
			op := checkpoint(l, "one")
			wrong(&op.Snapshot)
			k.refuse(agent.CodeCheckpointMismatch, 0, op)
		}
		before := k.stored().Revision
		k.commit(checkpoint(l, "one"))
		again := checkpoint(l, "one")
		again.TTL, again.Snapshot.TurnState = time.Hour, agent.JSON(`{"of":"it again"}`)
		result := k.commit(checkpoint(l, "two"), again)
		row := resultOf[*agent.SessionResult](k, result, 1).Session
		k.equal("row", []any{row.Revision, row.Lease.ExpiresAt, row.SnapshotCount}, []any{before + 3, result.Time + time.Hour.Milliseconds(), uint64(2)})
		want := snapshot("one", agent.PhaseAfterPrompt)
		want.Agent, want.RequestID, want.At, want.TurnState = "a", "q", result.Time, again.Snapshot.TurnState
		k.equal("newest snapshot", k.stored().Snapshots[1], want)
	}},

	{"JL-6_a_commit_ends_the_turn", func(k *kit) {
		k.start(func(op *agent.PutSession) { op.Conversation = &agent.Conversation{ContinuationRevision: 2} })
		l := k.lease("w", "q")
		for _, wrong := range []func(*agent.CommitSession){
			func(o *agent.CommitSession) { o.Agent = "b" }, func(o *agent.CommitSession) { o.RequestID = "r" },
			func(o *agent.CommitSession) {
				o.Snapshots = []agent.SessionSnapshot{{ID: "one", Agent: "b", Cursor: agent.Cursor{Phase: agent.PhaseWait}}}
			},
		} {
			op := end(l, agent.SessionFinished)
			wrong(op)
			k.refuse(agent.CodeCommitMismatch, 0, op)
		}
		k.refuse(agent.CodeMissingSnapshot, 0, end(l, agent.SessionHibernated))
		for status, revision := range map[agent.SessionStatus]uint64{agent.SessionFinished: 4, agent.SessionFailed: 3} {
			op := end(l, status)
			op.Conversation = &agent.Conversation{ContinuationRevision: revision}
			k.equal("revision told", k.refuse(agent.CodeInvalidConversation, 0, op).Revision, uint64(2))
		}
		op := end(l, agent.SessionFinished)
		op.Conversation = &agent.Conversation{ContinuationRevision: 3, TurnCount: 1, LastCompletedRequestID: "q"}
		op.Result, op.Snapshots = agent.JSON(`"done"`), []agent.SessionSnapshot{snapshot("one", agent.PhaseWait)}
		before := k.stored().Revision
		row := k.session(op)
		k.equal("row", []any{row.Status, row.Revision, row.Lease == nil}, []any{agent.SessionFinished, before + 1, true})
		got := k.stored()
		k.equal("contents", []any{string(got.Result), got.Conversation.ContinuationRevision, got.Snapshots[0].ID, got.Requests[0].Outcome},
			[]any{`"done"`, uint64(3), "one", agent.RequestFinished})
		k.refuse(agent.CodeStaleSessionLease, 0, op)
		k.fenced(agent.Claim{Name: agent.SessionClaim("s"), Epoch: l.Epoch}, noHolder, &agent.PutValue{Key: "v"})

		op = end(k.lease("w", "r"), agent.SessionFailed)
		op.Failure = agent.JSON(`{"why":"no"}`)
		k.commit(op)
		k.equal("failure", string(k.stored().Failure), `{"why":"no"}`)
		k.lease("w", "z")
		k.equal("failure of a session that runs", k.stored().Failure, agent.JSON(nil))
	}},

	{"JL-7_renewing_counts_as_a_write", func(k *kit) {
		k.start()
		l := k.lease("w", "q")
		before := k.stored().Revision
		op := renewLease(l)
		op.TTL = time.Hour
		result := k.commit(op)
		row := resultOf[*agent.SessionResult](k, result, 0).Session
		k.equal("row", []any{row.Revision, row.Lease.Epoch, row.Lease.ExpiresAt}, []any{before + 1, l.Epoch, result.Time + time.Hour.Milliseconds()})
		for _, wrong := range []*agent.Lease{{LeaseID: l.LeaseID, Owner: "x"}, {LeaseID: agent.LeaseID(l.Epoch + 1), Owner: "w"}, {LeaseID: "mine", Owner: "w"}, {Owner: "w"}} {
			e := k.refuse(agent.CodeStaleSessionLease, 0, renewLease(wrong))
			k.equal("who holds it", []any{e.Holder, e.Epoch}, []any{"w", l.Epoch})
		}
	}},

	{"JL-8_the_worked_clock", func(k *kit) {
		start := k.start().Revision
		l := k.lapsingAfterCheckpoint("w", "q")
		k.equal("recoverable", k.sessions(agent.ListSessions{Recoverable: true}), []string{"s"})
		k.equal("revision", k.stored().Revision, start+2)
		recovered := k.session(&agent.RecoverSession{Session: "s", Owner: "x"})
		k.equal("revision", recovered.Revision, start+3)
		k.refuse(agent.CodeStaleSessionLease, 0, end(l, agent.SessionFinished))
		ended := k.session(end(recovered.Lease, agent.SessionFinished))
		k.equal("ended", []any{ended.Revision, ended.Lease == nil}, []any{start + 4, true})
	}},

	{"JL-10_a_stale_put_and_one_under_a_lease_are_refused", func(k *kit) {
		k.start()
		k.commit(&agent.PutSession{Session: "s", Agent: "a", IfRevision: ptr(uint64(1))})
		k.equal("revision told", k.refuse(agent.CodeStaleSessionRevision, 0, &agent.PutSession{Session: "s", Agent: "a", IfRevision: ptr(uint64(1))}).Revision, uint64(2))
		l := k.lease("w", "q")
		over := &agent.PutSession{Session: "s", Agent: "a", IfRevision: ptr(uint64(9))}
		k.equal("who has it", k.refuse(agent.CodeSessionLeaseRequired, 0, over).Holder, "w")
		k.commit(end(l, agent.SessionFinished))
		k.commit(over)
	}},

	{"JL-11_a_lapsed_lease_is_good_for_nothing", func(k *kit) {
		k.start()
		l := k.lapsing("w", "q")
		for _, op := range []agent.Op{checkpoint(l, "one"), end(l, agent.SessionFinished), renewLease(l), &agent.CancelSession{Session: "s", LeaseID: l.LeaseID, Owner: "w"}} {
			k.equal("epoch told", k.refuse(agent.CodeSessionLeaseExpired, 0, op).Epoch, l.Epoch)
		}
		bad := checkpoint(l, "one") // the lease is validated first
		bad.Snapshot.Agent = "b"
		k.refuse(agent.CodeSessionLeaseExpired, 0, bad)
		k.refuse(agent.CodeSessionAlreadyRunning, 0, claiming("x", "r"))
		k.fenced(agent.Claim{Name: agent.SessionClaim("s"), Epoch: l.Epoch}, noHolder, &agent.PutValue{Key: "v"})
	}},

	{"JL-12_a_recovery_has_one_winner", func(k *kit) {
		k.start()
		k.lapsing("w", "q")
		results, errs := k.atOnce(func(caller int) agent.Commit {
			return agent.Commit{Ops: []agent.Op{&agent.RecoverSession{Session: "s", Owner: string(rune('a' + caller))}}}
		})
		winner := k.oneWins(agent.CodeSessionLeaseActive, results, errs)
		k.equal("owner", k.stored().Lease.Owner, string(rune('a'+winner)))
	}},

	{"a_lease_fences_any_commit", func(k *kit) {
		k.start()
		l := k.lease("w", "q")
		held := agent.Claim{Name: agent.SessionClaim("s"), Epoch: l.Epoch}
		k.under(held, &agent.AppendThread{Thread: "t", Entries: messages("m", 0, 1)}, checkpoint(l, "one"))
		k.refuseInvalid(agent.CodeInvalid, 0, "claim", &agent.TakeClaim{Claim: held.Name, Holder: "x"})
		k.refuseInvalid(agent.CodeInvalid, 0, "claim", &agent.RenewClaim{Claim: held.Name, Holder: "w", Epoch: l.Epoch})
		k.refuseInvalid(agent.CodeInvalid, 0, "claim", &agent.ReleaseClaim{Claim: held.Name, Holder: "w", Epoch: l.Epoch})
		k.refuseInvalid(agent.CodeInvalid, 0, "claim", &agent.TakeClaim{Claim: "partition:7", Holder: "x"})
		k.under(held, end(l, agent.SessionFinished), &agent.PutValue{Key: "v"})
		k.fenced(held, noHolder, &agent.PutValue{Key: "v"})
	}},

	{"a_cancelled_session_is_free_and_fenced", func(k *kit) {
		k.start()
		l := k.lease("w", "q")
		k.commit(checkpoint(l, "one", agent.ReviewDraft{ID: "v"}))
		row := k.session(&agent.CancelSession{Session: "s", Reason: agent.JSON(`"enough"`)})
		k.equal("row", []any{row.Status, row.Lease == nil}, []any{agent.SessionCancelled, true})
		got := k.stored()
		k.equal("why", []any{string(got.Failure), got.Requests[0].Outcome}, []any{`"enough"`, agent.RequestCancelled})
		k.equal("review", k.review("v").Status, agent.ReviewWithdrawn)
		k.refuse(agent.CodeStaleSessionLease, 0, end(l, agent.SessionFinished))
		k.refuse(agent.CodeStaleSessionRevision, 0, &agent.CancelSession{Session: "s", IfRevision: ptr(row.Revision - 1)})
		k.lease("x", "r")
	}},

	{"a_fork_leaves_its_source", func(k *kit) {
		k.start()
		l := k.lease("w", "q")
		k.commit(checkpoint(l, "one"))
		fork := &agent.ForkSession{Session: "s", NewSession: "f"}
		k.refuse(agent.CodeSessionAlreadyRunning, 0, fork)
		source := k.session(end(l, agent.SessionHibernated))
		made := k.session(fork)
		k.equal("made", []any{made.ID, made.Status, made.Revision, made.SnapshotCount}, []any{"f", agent.SessionHibernated, uint64(1), uint64(1)})
		got := find[*agent.Session](k, &agent.GetSession{Session: "f"})
		k.equal("lineage", got.Lineage, &agent.Lineage{Session: "s", Incarnation: source.Incarnation, Revision: source.Revision, Snapshot: "one"})
		k.refuse(agent.CodeAlreadyExists, 0, fork)
		k.refuse(agent.CodeMissingSnapshot, 0, &agent.ForkSession{Session: "s", NewSession: "g", Snapshot: "none"})
		k.refuse(agent.CodeNotFound, 0, &agent.ForkSession{Session: "missing", NewSession: "g"})
		k.refuseInvalid(agent.CodeInvalid, 0, "new_session", &agent.ForkSession{Session: "s", NewSession: "s"})
		k.session(&agent.ResumeSession{Session: "f", Owner: "x"})
		k.equal("source", k.stored().Status, agent.SessionHibernated)
	}},

	{"a_deleted_session_stays_deleted", func(k *kit) {
		k.commit(&agent.PutScope{})
		before := k.counters()
		first := k.start()
		l := k.lease("w", "q")
		k.commit(checkpoint(l, "one", agent.ReviewDraft{ID: "v"}))
		deleted := apply[*agent.DeleteResult](k, &agent.DeleteSession{Session: "s", Seal: time.Hour})
		k.equal("deleted", *deleted, agent.DeleteResult{Existed: true, Incarnation: first.Incarnation})
		k.equal("again", apply[*agent.DeleteResult](k, &agent.DeleteSession{Session: "s"}).Existed, false)
		k.lacks(agent.CodeNotFound, &agent.GetSession{Session: "s"})
		k.lacks(agent.CodeNotFound, &agent.GetReview{Review: "v"})
		k.refuse(agent.CodeNotFound, 0, checkpoint(l, "two"))
		k.refuse(agent.CodeDeleted, 0, &agent.PutSession{Session: "s", Agent: "a"})
		after := k.counters()
		k.equal("keys and bytes", []uint64{after.Keys, after.Bytes}, []uint64{before.Keys, before.Bytes})
	}},

	{"sessions_are_listed_by_one_thing_at_a_time", func(k *kit) {
		for _, id := range []string{"s", "r", "q", "p"} {
			k.commit(&agent.PutSession{Session: id, Agent: "agent of " + id})
		}
		l := k.lease("w", "one")
		k.commit(&agent.ClaimSession{Session: "q", Owner: "w", Request: &agent.SessionRequest{ID: "two"}})
		k.commit(&agent.ClaimSession{Session: "p", Owner: "x", Request: &agent.SessionRequest{ID: "two"}})
		k.equal("all", k.sessions(agent.ListSessions{}), []string{"p", "q", "r", "s"})
		k.equal("running", k.sessions(agent.ListSessions{Status: agent.SessionRunning}), []string{"p", "q", "s"})
		k.equal("of w", k.sessions(agent.ListSessions{Owner: "w"}), []string{"q", "s"})
		k.equal("of an agent", k.sessions(agent.ListSessions{Agent: "agent of r"}), []string{"r"})
		k.commit(end(l, agent.SessionFinished))
		k.equal("running", k.sessions(agent.ListSessions{Status: agent.SessionRunning}), []string{"p", "q"})
		k.equal("finished", k.sessions(agent.ListSessions{Status: agent.SessionFinished}), []string{"s"})
		k.equal("of w", k.sessions(agent.ListSessions{Owner: "w"}), []string{"q"})
	}},
}

// lapsingAfterCheckpoint is lapsing with a checkpoint in between, whose ttl is then
// the lease's.
func (k *kit) lapsingAfterCheckpoint(owner, request string) *agent.Lease {
	k.Helper()
	lease := k.lease(owner, request)
	op := checkpoint(lease, "one")
	op.TTL = agent.ClaimTTLMin
	k.commit(op)
	k.lapse()
	return lease
}
