package fsm_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"dormouse/agent"
	"dormouse/fsm/kv"
	"dormouse/fsm/txn"
)

// start creates session s; more may change the op.
func (r *subject) start(more ...func(*agent.PutSession)) agent.SessionRow {
	r.tb.Helper()
	op := &agent.PutSession{Session: "s", Agent: "agent"}
	for _, m := range more {
		m(op)
	}
	return do[*agent.SessionResult](r, op).Session
}

func busy(policy agent.BusyPolicy) func(*agent.PutSession) {
	return func(op *agent.PutSession) { op.Busy = policy }
}

func asking(id string) *agent.SessionRequest {
	return &agent.SessionRequest{ID: id, Input: agent.JSON(`"hello"`)}
}

func claiming(owner, request string, ttl time.Duration) *agent.ClaimSession {
	return &agent.ClaimSession{Session: "s", Owner: owner, Request: asking(request), TTL: ttl}
}

func (r *subject) claim(owner, request string, ttl time.Duration) *agent.SessionResult {
	r.tb.Helper()
	return do[*agent.SessionResult](r, claiming(owner, request, ttl))
}

func snapshot(id string) agent.SessionSnapshot {
	return agent.SessionSnapshot{ID: id, Cursor: agent.Cursor{Phase: agent.PhaseAfterPrompt}, TurnState: agent.JSON(`{"id":"` + id + `"}`)}
}

func checkpointing(l *agent.Lease, id string, reviews ...agent.ReviewDraft) *agent.CheckpointSession {
	return &agent.CheckpointSession{Session: "s", LeaseID: l.LeaseID, Owner: l.Owner, Snapshot: snapshot(id), Reviews: reviews}
}

func ending(l *agent.Lease, status agent.SessionStatus, reviews ...agent.ReviewDraft) *agent.CommitSession {
	return &agent.CommitSession{Session: "s", LeaseID: l.LeaseID, Owner: l.Owner, Status: status, Reviews: reviews}
}

func renewingSession(l *agent.Lease) *agent.RenewSession {
	return &agent.RenewSession{Session: "s", LeaseID: l.LeaseID, Owner: l.Owner}
}

func (r *subject) session() *agent.Session {
	r.tb.Helper()
	return read[*agent.Session](r, &agent.GetSession{Session: "s"})
}

// listed lists the ids of sessions.
func (r *subject) listed(q agent.ListSessions) string {
	r.tb.Helper()
	var ids []string
	for {
		list := read[*agent.SessionList](r, &q)
		for _, s := range list.Items {
			ids = append(ids, s.ID)
		}
		if list.Next == "" {
			return strings.Join(ids, " ")
		}
		q.After = list.Next
	}
}

// The worked example of docs/semantics.md JL-8, with seconds in place of milliseconds.
func TestTheWorkedClockOfSessions(t *testing.T) {
	r := newSubject(t)
	r.start(func(op *agent.PutSession) { op.Session = "other" })
	revision := r.start().Revision
	at100 := r.wall
	claimed := r.claim("a", "q", 50*time.Second).Session
	lease := claimed.Lease
	if lease.ExpiresAt != at100+50_000 || claimed.Revision != revision+1 || claimed.Status != agent.SessionRunning || lease.RequestID != "q" {
		t.Fatalf("claimed at 100: %+v, %+v", claimed, lease)
	}
	r.after(10 * time.Second)
	kept := do[*agent.SessionResult](r, checkpointing(lease, "one")).Session
	if kept.Lease.ExpiresAt != at100+60_000 || kept.Revision != revision+2 || kept.Lease.Epoch != lease.Epoch {
		t.Fatalf("checkpointed at 110: %+v, %+v", kept, kept.Lease)
	}

	r.after(50*time.Second - time.Millisecond).pass()
	if got := r.listed(agent.ListSessions{Recoverable: true}); got != "" {
		t.Fatalf("recoverable at 159: %q", got)
	}
	active := r.refusal(agent.CodeSessionLeaseActive, &agent.RecoverSession{Session: "s", Owner: "b"})
	if active.Holder != "a" || active.ExpiresAt != at100+60_000 {
		t.Fatalf("refused with %+v", active)
	}
	r.after(time.Millisecond).pass()
	if got := r.listed(agent.ListSessions{Recoverable: true}); got != "s" {
		t.Fatalf("recoverable at 160: %q", got)
	}
	r.refuse(agent.CodeSessionLeaseExpired, checkpointing(lease, "two"))
	r.refuse(agent.CodeSessionLeaseExpired, renewingSession(lease))
	r.refuse(agent.CodeSessionAlreadyRunning, claiming("b", "r", time.Minute))

	recovered := do[*agent.SessionResult](r, &agent.RecoverSession{Session: "s", Owner: "b"})
	if recovered.Session.Revision != revision+3 || recovered.Session.Lease.Epoch <= lease.Epoch || recovered.Recovery.Resume != "one" {
		t.Fatalf("recovered: %+v, %+v", recovered.Session, recovered.Recovery)
	}
	stale := r.refusal(agent.CodeStaleSessionLease, ending(lease, agent.SessionFinished))
	if stale.Holder != "b" || stale.Epoch != recovered.Session.Lease.Epoch {
		t.Fatalf("refused with %+v", stale)
	}
	ended := do[*agent.SessionResult](r, ending(recovered.Session.Lease, agent.SessionFinished)).Session
	if ended.Revision != revision+4 || ended.Lease != nil || ended.Status != agent.SessionFinished {
		t.Fatalf("committed: %+v", ended)
	}
	if n := r.rows(kv.KindClaim) + r.rows(kv.KindDueClaim) + r.rows(kv.KindSessionRecoverable) + r.rows(kv.KindSessionOwner); n > 0 {
		t.Fatalf("%d rows are left behind", n)
	}
}

// An expired lease that has not been swept is listed as recoverable.
func TestALapsedLeaseIsListedBeforeItIsSwept(t *testing.T) {
	r := newSubject(t)
	const sessions = txn.SweepMax + 10
	var want []string
	for i := range sessions {
		id := fmt.Sprintf("s%03d", i)
		want = append(want, id)
		do[*agent.SessionResult](r, &agent.PutSession{Session: id, Agent: "agent"},
			&agent.ClaimSession{Session: id, Owner: "a", Request: asking("q"), TTL: time.Second})
	}
	r.after(time.Second).pass()
	for _, limit := range []uint64{0, 7, sessions} {
		if got := r.listed(agent.ListSessions{Page: agent.Page{Limit: limit}, Recoverable: true}); got != strings.Join(want, " ") {
			t.Fatalf("recoverable, by pages of %d: %q", limit, got)
		}
	}
	if got := r.listed(agent.ListSessions{Page: agent.Page{Prefix: "s00"}, Recoverable: true}); got != strings.Join(want[:10], " ") {
		t.Fatalf("recoverable from s00 on: %q", got)
	}
	do[*agent.DeleteResult](r, &agent.DeleteSession{Session: want[sessions-1]})
	r.pass()
	r.pass()
	if got := r.listed(agent.ListSessions{Recoverable: true}); got != strings.Join(want[:sessions-1], " ") {
		t.Fatalf("recoverable once swept: %q", got)
	}
	if got := r.rows(kv.KindClaim); got > 0 {
		t.Fatalf("%d claims are left", got)
	}
}

func TestARecoveryHasOneWinner(t *testing.T) {
	r := newSubject(t)
	r.start()
	r.claim("a", "q", time.Second)
	r.after(time.Second)
	decided := r.batch(
		agent.Commit{Ops: []agent.Op{&agent.RecoverSession{Session: "s", Owner: "b"}}},
		agent.Commit{Ops: []agent.Op{&agent.RecoverSession{Session: "s", Owner: "c"}}},
	)
	if decided[0].Err != nil || decided[1].Err == nil || decided[1].Err.Code != agent.CodeSessionLeaseActive {
		t.Fatalf("%v, %v", decided[0].Err, decided[1].Err)
	}
	if got := decided[0].Result.Results[0].(*agent.SessionResult).Recovery; got.Restart != "q" {
		t.Fatalf("without a snapshot it is to go on by %+v", got)
	}
}

func TestASessionSurvivesAChangeOfLeader(t *testing.T) {
	r := newSubject(t)
	r.start()
	lease := r.claim("a", "q", 10*time.Second).Session.Lease
	r.after(9 * time.Second).pass()
	r.lead().after(9 * time.Second).pass()
	do[*agent.SessionResult](r, checkpointing(lease, "one"))
}

func TestRequestsAndSnapshotsAreBounded(t *testing.T) {
	r := newSubject(t)
	r.start()
	for i := range agent.SessionRequestsMax + 1 {
		lease := r.claim("a", fmt.Sprintf("q%03d", i), time.Minute).Session.Lease
		do[*agent.SessionResult](r, ending(lease, agent.SessionFinished))
	}
	if got := r.session(); len(got.Requests) != agent.SessionRequestsMax || got.Requests[0].ID != "q001" || got.Requests[0].Outcome != agent.RequestFinished {
		t.Fatalf("%d requests from %+v on", len(got.Requests), got.Requests[0])
	}
	lease := r.claim("a", "q", time.Minute).Session.Lease
	for i := range agent.SessionSnapshotsMax + 1 {
		do[*agent.SessionResult](r, checkpointing(lease, fmt.Sprintf("n%02d", i)))
	}
	do[*agent.SessionResult](r, checkpointing(lease, "n05")) // replaces the existing checkpoint
	got := r.session()
	if n := len(got.Snapshots); n != agent.SessionSnapshotsMax || got.Snapshots[0].ID != "n01" || got.Snapshots[n-1].ID != "n05" {
		t.Fatalf("%d snapshots, from %q to %q", n, got.Snapshots[0].ID, got.Snapshots[n-1].ID)
	}
	if n := r.rows(kv.KindSessionSnapshot) + r.rows(kv.KindSessionRequest); n != agent.SessionSnapshotsMax+agent.SessionRequestsMax {
		t.Fatalf("%d rows", n)
	}
}

func TestKeptBytesAreBounded(t *testing.T) {
	r := newSubject(t)
	r.start()
	lease := r.claim("a", "q", time.Minute).Session.Lease
	large := agent.JSON(`{"x":"` + strings.Repeat("x", agent.SessionSnapshotBytesMax-8) + `"}`)
	for _, id := range []string{"one", "two", "three"} {
		op := checkpointing(lease, id)
		op.Snapshot.TurnState = large
		do[*agent.SessionResult](r, op)
	}
	if got := r.session(); len(got.Snapshots) != 1 || got.Snapshots[0].ID != "three" || len(got.Requests) != 1 {
		t.Fatalf("%d snapshots, %d requests", len(got.Snapshots), len(got.Requests))
	}
	do[*agent.DeleteResult](r, &agent.DeleteSession{Session: "s"})
	if scope := read[*agent.Scope](r, &agent.GetScope{}); scope.Keys != 0 || scope.Bytes != 0 {
		t.Fatalf("%d keys and %d bytes are left", scope.Keys, scope.Bytes)
	}
}

func TestABodyIsBoundedThoughItIsWrittenInParts(t *testing.T) {
	r := newSubject(t)
	half := agent.JSON(`"` + strings.Repeat("x", agent.SessionBytesMax/2) + `"`)
	r.start(func(op *agent.PutSession) { op.Result = half })
	lease := r.claim("a", "q", time.Minute).Session.Lease
	op := ending(lease, agent.SessionFailed)
	op.Failure = half
	r.refuse(agent.CodeTooLarge, op)
	op.Result = agent.JSON(`1`)
	do[*agent.SessionResult](r, op)
}

// A deleted session leaves a tombstone, which a seal keeps.
func TestADeletedSessionStaysDeleted(t *testing.T) {
	r := newSubject(t)
	first := r.start()
	lease := r.claim("a", "q", time.Minute).Session.Lease
	do[*agent.SessionResult](r, checkpointing(lease, "one", agent.ReviewDraft{ID: "v", TTL: time.Minute}))
	fence := &agent.Fence{Claim: agent.SessionClaim("s"), Epoch: lease.Epoch}
	r.admitted(fence)
	if got := do[*agent.DeleteResult](r, &agent.DeleteSession{Session: "s", Seal: time.Minute}); !got.Existed || got.Incarnation != first.Incarnation {
		t.Fatalf("deleted: %+v", got)
	}
	r.fenced(fence, 0, "")
	r.missing(agent.CodeNotFound, &agent.GetSession{Session: "s"})
	r.missing(agent.CodeNotFound, &agent.GetReview{Review: "v"})
	r.refuse(agent.CodeNotFound, checkpointing(lease, "one"))
	r.refuse(agent.CodeDeleted, &agent.PutSession{Session: "s", Agent: "agent"})
	r.after(time.Minute)
	r.refuse(agent.CodeDeleted, &agent.PutSession{Session: "s", Agent: "agent", IfIncarnation: first.Incarnation})
	second := r.start()
	if second.Incarnation <= first.Incarnation {
		t.Fatalf("incarnation %d follows %d", second.Incarnation, first.Incarnation)
	}
	r.refuse(agent.CodeStaleSessionLease, checkpointing(lease, "one"))
	r.after(time.Minute).pass() // the review's queue entry is stale
	for _, kind := range []string{kv.KindReview, kv.KindSessionRequest, kv.KindSessionSnapshot, kv.KindClaim} {
		if n := r.rows(kind); n > 0 {
			t.Fatalf("%d rows of kind %q are left", n, kind)
		}
	}
}

func TestTheLastOfAnIDIsALeasesToo(t *testing.T) {
	r := newSubject(t)
	id := strings.Repeat("x", agent.SessionIDBytesMax)
	lease := do[*agent.SessionResult](r, &agent.PutSession{Session: id, Agent: "agent"},
		&agent.ClaimSession{Session: id, Owner: "a", Request: asking("q")}).Session.Lease
	r.admitted(&agent.Fence{Claim: agent.SessionClaim(id), Epoch: lease.Epoch})
	c := agent.Commit{Ops: []agent.Op{&agent.PutSession{Session: id + "x", Agent: "agent"}}}
	if err := c.Validate(); agent.CodeOf(err) != agent.CodeTooLarge {
		t.Fatalf("an id that is longer: %v", err)
	}
}

func TestAForkIsASessionOfItsOwn(t *testing.T) {
	r := newSubject(t)
	r.start(func(op *agent.PutSession) {
		op.Spec, op.Conversation = agent.JSON(`{"m":1}`), &agent.Conversation{ContinuationRevision: 7}
		op.Thread, op.Checkpoint = "t", "k"
	})
	lease := r.claim("a", "q", time.Minute).Session.Lease
	do[*agent.SessionResult](r, checkpointing(lease, "one"))
	forking := &agent.ForkSession{Session: "s", NewSession: "f", Snapshot: "one"}
	r.refuse(agent.CodeSessionAlreadyRunning, forking)
	op := ending(lease, agent.SessionHibernated)
	op.Snapshots = []agent.SessionSnapshot{snapshot("two")}
	source := do[*agent.SessionResult](r, op).Session
	r.refuse(agent.CodeMissingSnapshot, &agent.ForkSession{Session: "s", NewSession: "f", Snapshot: "three"})
	r.refuse(agent.CodeStaleSessionRevision, &agent.ForkSession{Session: "s", NewSession: "f", IfRevision: ptr(source.Revision - 1)})
	do[*agent.SessionResult](r, forking)
	r.refuse(agent.CodeAlreadyExists, forking)
	do[*agent.DeleteResult](r, &agent.DeleteSession{Session: "s"})

	fork := read[*agent.Session](r, &agent.GetSession{Session: "f"})
	want := &agent.Session{
		SessionRow: agent.SessionRow{
			ID: "f", Incarnation: fork.Incarnation, Revision: 1, Mode: agent.SessionModeLease,
			SessionSettings: agent.SessionSettings{Busy: agent.BusyReject, QueueMax: agent.SessionQueueDefault, SchemaVersion: agent.SessionSchemaMax},
			Agent:           "agent",
			Status:          agent.SessionHibernated, RequestID: "q", RequestCount: 1, SnapshotCount: 1, CreatedAt: r.wall, UpdatedAt: r.wall,
		},
		Spec: agent.JSON(`{"m":1}`), Metadata: agent.JSON(`{}`), Environment: agent.JSON(`{}`),
		Conversation: agent.Conversation{AgentState: agent.JSON(`{}`), ContextState: agent.JSON(`{}`), ContinuationRevision: 7},
		Lineage:      &agent.Lineage{Session: "s", Incarnation: source.Incarnation, Revision: source.Revision, Snapshot: "one"},
		Snapshots:    fork.Snapshots, Requests: fork.Requests,
	}
	if diff := cmp.Diff(want, fork, cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("(-want +got)\n%s", diff)
	}
	if fork.Requests[0].ID != "q" || fork.Snapshots[0].ID != "one" {
		t.Fatalf("%+v, %+v", fork.Requests, fork.Snapshots)
	}
	do[*agent.DeleteResult](r, &agent.DeleteSession{Session: "f"})
	if scope := read[*agent.Scope](r, &agent.GetScope{}); scope.Keys != 0 || scope.Bytes != 0 {
		t.Fatalf("%d keys and %d bytes are left", scope.Keys, scope.Bytes)
	}
}
