package fsm_test

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"dormouse/agent"
	"dormouse/fsm"
	"dormouse/fsm/kv"
	"dormouse/fsm/txn"
	"dormouse/storage"
)

func deciding(id string) *agent.DecideReview {
	return &agent.DecideReview{Review: id, Decision: agent.DecideApprove, By: "ada"}
}

// waits adds reviews to session s.
func (r *subject) waits(drafts ...agent.ReviewDraft) {
	r.tb.Helper()
	lease := r.claim("w", "q", time.Minute).Session.Lease
	do[*agent.SessionResult](r, checkpointing(lease, "one"), ending(lease, agent.SessionWaiting, drafts...))
}

func (r *subject) review(id string) *agent.Review {
	r.tb.Helper()
	return read[*agent.Review](r, &agent.GetReview{Review: id})
}

// A review can be decided until its last millisecond but one. At its last it has expired, whether
// or not it has been swept.
func TestAReviewExpiresAtItsMillisecond(t *testing.T) {
	r := newSubject(t)
	r.start()
	r.waits(agent.ReviewDraft{ID: "in time", TTL: time.Minute}, agent.ReviewDraft{ID: "late", TTL: time.Minute})
	r.after(time.Minute - time.Millisecond)
	do[*agent.ReviewResult](r, deciding("in time"))
	if got := r.session().Status; got != agent.SessionWaiting {
		t.Fatalf("the session is %s", got)
	}
	r.after(time.Millisecond)
	refused := r.refusal(agent.CodeApprovalExpired, deciding("late"))
	if refused.ExpiresAt != r.wall {
		t.Fatalf("refused with %+v at %d", refused, r.wall)
	}
	late := r.review("late")
	if late.Status != agent.ReviewExpired || late.DecidedAt != r.wall || late.DecidedBy != "" {
		t.Fatalf("%+v", late)
	}
	if got := r.session().Status; got != agent.SessionHibernated {
		t.Fatalf("the session is %s", got)
	}
}

// A review that names deciders is decided by one of them only. Nodes that ask for no tokens know no
// principal.
func TestAReviewIsDecidedByItsDeciders(t *testing.T) {
	r := newSubject(t)
	r.start()
	deciders := []string{"ada", "bob"}
	r.waits(agent.ReviewDraft{ID: "q", Deciders: deciders}, agent.ReviewDraft{ID: "open", Deciders: deciders}, agent.ReviewDraft{ID: "any"})
	as := func(principal, review string) *agent.Error {
		return r.batch(agent.Commit{Principal: principal, Ops: []agent.Op{deciding(review)}})[0].Err
	}
	if e := as("eve", "q"); e == nil || e.Code != agent.CodeForbidden || !e.Final {
		t.Errorf("eve decides: %v", e)
	}
	if got := r.review("q"); got.Status != agent.ReviewPending || !slices.Equal(got.Deciders, deciders) {
		t.Errorf("after that: %+v", got)
	}
	for principal, review := range map[string]string{"bob": "q", "": "open", "eve": "any"} {
		if e := as(principal, review); e != nil {
			t.Errorf("%q decides %s: %v", principal, review, e)
		}
	}
	if e := as("eve", "q"); e == nil || e.Code != agent.CodeForbidden { // a decider learns that it is decided, others do not
		t.Errorf("eve decides what is decided: %v", e)
	}
}

// Reviews have expired at their time even if one entry cannot sweep them all. What a read shows
// before is what an entry records.
func TestAnExpiryNeedsNoSweep(t *testing.T) {
	r := newSubject(t)
	r.record()
	const sessions, each = 3, txn.SweepMax/2 + 1
	for s := range sessions {
		id := fmt.Sprintf("s%d", s)
		lease := do[*agent.SessionResult](r, &agent.PutSession{Session: id, Agent: "a"}, &agent.ClaimSession{Session: id, Owner: "w", Request: asking("q")}).Session.Lease
		op := checkpointing(lease, "one")
		op.Session = id
		for i := range each {
			op.Reviews = append(op.Reviews, agent.ReviewDraft{ID: fmt.Sprintf("%s-%d", id, i), TTL: time.Second})
		}
		do[*agent.SessionResult](r, op)
	}
	r.after(time.Second)
	last := fmt.Sprintf("s%d-%d", sessions-1, each-1)
	r.refuse(agent.CodeApprovalExpired, deciding(last)) // in the entry that sweeps the first of them
	shown := r.review(last)
	if shown.Status != agent.ReviewExpired {
		t.Fatalf("it is %s", shown.Status)
	}
	if list := read[*agent.ReviewList](r, &agent.ListReviews{}); len(list.Items) > 0 {
		t.Fatalf("%d are pending", len(list.Items))
	}
	if s := read[*agent.Session](r, &agent.GetSession{Session: fmt.Sprintf("s%d", sessions-1)}); len(s.PendingReviews) > 0 {
		t.Fatalf("its session shows %d pending", len(s.PendingReviews))
	}
	for range sessions {
		r.after(time.Second).pass()
	}
	if now := r.review(last); !reflect.DeepEqual(now, shown) {
		t.Fatalf("once it is recorded: %+v, before: %+v", now, shown)
	}
	if list := read[*agent.ReviewList](r, &agent.ListReviews{Status: agent.ReviewExpired}); len(list.Items) != sessions*each {
		t.Fatalf("%d have expired", len(list.Items))
	}
	if n := r.rows(kv.KindDueWall); n > 0 {
		t.Fatalf("%d rows are left in the queue", n)
	}
}

func TestAReviewIsEscalatedAndStillExpires(t *testing.T) {
	r := newSubject(t)
	r.start()
	r.waits(agent.ReviewDraft{ID: "v", TTL: time.Minute, EscalateAfter: time.Second, EscalateTo: "boss", Assignee: "ada"})
	r.after(time.Second - time.Millisecond).pass()
	if got := r.review("v"); got.Escalated || got.Assignee != "ada" {
		t.Fatalf("%+v", got)
	}
	r.after(time.Millisecond).pass()
	if got := r.review("v"); !got.Escalated || got.Assignee != "boss" || got.Status != agent.ReviewPending {
		t.Fatalf("%+v", got)
	}
	if list := read[*agent.ReviewList](r, &agent.ListReviews{Assignee: "ada"}); len(list.Items) > 0 {
		t.Fatalf("ada has %+v", list.Items)
	}
	r.after(time.Minute).pass()
	if got := r.review("v").Status; got != agent.ReviewExpired {
		t.Fatalf("it is %s", got)
	}
}

// A decision does not fail when it cannot be recorded in the thread.
func TestADecisionIsMadeThoughItsThreadIsSealed(t *testing.T) {
	r := newSubject(t)
	r.start(func(op *agent.PutSession) { op.Thread = "t" })
	do[*agent.DeleteResult](r, &agent.DeleteThread{Thread: "t", Seal: time.Hour})
	r.waits(agent.ReviewDraft{ID: "v"}, agent.ReviewDraft{ID: "late", TTL: time.Second})
	do[*agent.ReviewResult](r, deciding("v"))
	r.after(time.Second).pass()
	if got := r.session().Status; got != agent.SessionHibernated {
		t.Fatalf("the session is %s", got)
	}
	r.missing(agent.CodeNotFound, &agent.GetThread{Thread: "t"})
}

func TestReviewsOfASessionAreBounded(t *testing.T) {
	r := newSubject(t)
	r.start()
	var all []agent.ReviewDraft
	for i := range agent.SessionReviewsMax {
		all = append(all, agent.ReviewDraft{ID: fmt.Sprintf("v%03d", i)})
	}
	r.waits(all...)
	lease := do[*agent.SessionResult](r, &agent.ResumeSession{Session: "s", Owner: "w", TTL: time.Minute}).Session.Lease
	r.refuse(agent.CodeTooLarge, checkpointing(lease, "two", agent.ReviewDraft{ID: "one too many"}))
	do[*agent.ReviewResult](r, deciding("v000"))
	do[*agent.SessionResult](r, checkpointing(lease, "two", agent.ReviewDraft{ID: "one more"}))

	for i := range agent.SessionReviewsKept {
		id := fmt.Sprintf("w%03d", i)
		do[*agent.ReviewResult](r, deciding(map[bool]string{true: "one more", false: fmt.Sprintf("w%03d", i-1)}[i == 0]))
		do[*agent.SessionResult](r, checkpointing(lease, "two", agent.ReviewDraft{ID: id}))
	}
	if n := r.rows(kv.KindReview); n != agent.SessionReviewsKept {
		t.Fatalf("%d reviews are kept", n)
	}
	if got := r.review("v001").Status; got != agent.ReviewPending { // pending reviews stay
		t.Fatalf("it is %s", got)
	}
	r.missing(agent.CodeNotFound, &agent.GetReview{Review: "v000"})
	do[*agent.DeleteResult](r, &agent.DeleteSession{Session: "s"})
	for _, kind := range []string{kv.KindReview, kv.KindReviewStatus, kv.KindReviewAssignee, kv.KindReviewSession} {
		if n := r.rows(kind); n > 0 {
			t.Fatalf("%d rows of kind %q are left", n, kind)
		}
	}
}

func TestAQueueIsBoundedByBytesToo(t *testing.T) {
	r := newSubject(t)
	r.start(busy(agent.BusyEnqueue), func(op *agent.PutSession) { op.QueueMax = agent.SessionQueueMax })
	lease := r.claim("w", "q", time.Minute).Session.Lease
	op := claiming("w", "large", time.Minute)
	op.Request.Input = agent.JSON(`"` + strings.Repeat("x", agent.SessionRequestBytesMax-2) + `"`)
	do[*agent.SessionResult](r, op)
	second := *op
	second.Request = &agent.SessionRequest{ID: "large too", Input: op.Request.Input}
	full := r.batch(agent.Commit{Ops: []agent.Op{&second}})[0].Err
	if full == nil || full.Code != agent.CodeOverloaded || full.Final || full.Limit != fmt.Sprintf("session_queue_bytes_max=%d", agent.SessionQueueBytesMax) {
		t.Fatalf("the second large one: %v", full)
	}
	for i := range agent.SessionQueueMax - 1 {
		do[*agent.SessionResult](r, claiming("w", fmt.Sprint(i), time.Minute))
	}
	full = r.batch(agent.Commit{Ops: []agent.Op{claiming("w", "x", time.Minute)}})[0].Err
	if full == nil || full.Limit != fmt.Sprintf("queue_max=%d", agent.SessionQueueMax) {
		t.Fatalf("one more: %v", full)
	}
	do[*agent.SessionResult](r, ending(lease, agent.SessionFinished), &agent.CancelSession{Session: "s"})
	if n := r.rows(kv.KindSessionQueue); n > 0 {
		t.Fatalf("%d requests wait for a session that was cancelled", n)
	}
}

// A restored backup has no claims: turns that ran at the backup are recoverable.
func TestATurnIsRecoverableInARestoredBackup(t *testing.T) {
	r := openSubject(t, fsm.Options{Dir: "state", FS: storage.MemFS(), ClusterID: func() string { return "one" }})
	r.lead().start()
	r.claim("w", "q", time.Hour)
	if r.session().Recoverable {
		t.Fatal("it is recoverable while its lease stands")
	}
	var backup bytes.Buffer
	if err := r.machine.WriteBackup(&backup); err != nil {
		t.Fatal(err)
	}
	fs := storage.MemFS()
	if _, err := fsm.RestoreBackup(&backup, fsm.RestoreOptions{
		Dir: "state", FS: fs, ClusterID: "two", Voter: voters("n1").Servers[0],
	}); err != nil {
		t.Fatal(err)
	}
	again := openSubject(t, fsm.Options{Dir: "state", FS: fs, ClusterID: func() string { return "two" }})
	again.index, again.tick, again.wall, again.term = again.machine.Applied(), r.tick, r.wall, 2
	if got := again.listed(agent.ListSessions{Recoverable: true}); got != "s" || !again.session().Recoverable {
		t.Fatalf("recoverable: %q", got)
	}
	do[*agent.SessionResult](again, &agent.RecoverSession{Session: "s", Owner: "x"})
	if got := again.listed(agent.ListSessions{Recoverable: true}); got != "" {
		t.Fatalf("recoverable, once recovered: %q", got)
	}
}

// A client puts the same snapshot again, as after a call that failed: its review is still asked.
func TestASnapshotThatIsPutAgainKeepsItsReview(t *testing.T) {
	r := newSubject(t)
	r.record()
	r.start(func(op *agent.PutSession) { op.Mode = agent.SessionModeClassic })
	do[*agent.SessionResult](r, &agent.ClaimSession{Session: "s", Owner: "o", Request: asking("q"), TTL: time.Minute})
	for _, id := range []string{"one", "two"} {
		op := &agent.CheckpointSession{Session: "s", Owner: "o", Snapshot: snapshot(id), Reviews: []agent.ReviewDraft{{ID: "v"}}}
		op.Snapshot.Cursor.Phase = agent.PhaseReview
		do[*agent.SessionResult](r, op)
		if got := r.review("v").Status; got != agent.ReviewPending {
			t.Errorf("after snapshot %s the session is %s and the review %s", id, r.session().Status, got)
		}
	}
	do[*agent.ReviewResult](r, deciding("v"))
}

// A turn asked for a review and was rolled back. Its successor asks for the same review, with other arguments.
func TestAReviewIsAskedAgainAfterARollback(t *testing.T) {
	r := newSubject(t)
	r.record()
	r.start(busy(agent.BusyRollback))
	lease := r.claim("w", "q", time.Minute).Session.Lease
	do[*agent.SessionResult](r, checkpointing(lease, "one", agent.ReviewDraft{ID: "v", Arguments: agent.JSON(`{"n":1}`)}))
	lease = r.claim("w2", "q2", time.Minute).Session.Lease
	if got := r.review("v").Status; got != agent.ReviewWithdrawn {
		t.Fatalf("after the rollback the review is %s", got)
	}
	again := agent.ReviewDraft{ID: "v", Arguments: agent.JSON(`{"n":2}`)}
	do[*agent.SessionResult](r, checkpointing(lease, "two"), ending(lease, agent.SessionWaiting, again))
	got := r.review("v")
	if got.Status != agent.ReviewPending || string(got.Arguments) != `{"n":2}` || r.session().Status != agent.SessionWaiting {
		t.Errorf("the session is %s, and the review %+v", r.session().Status, got)
	}
}

// What withdraws the reviews of a session leaves those that were decided as they are.
func TestADecidedReviewIsNotWithdrawn(t *testing.T) {
	r := newSubject(t)
	r.record()
	r.start()
	r.waits(agent.ReviewDraft{ID: "decided"}, agent.ReviewDraft{ID: "pending"})
	do[*agent.ReviewResult](r, deciding("decided"))
	at := r.review("decided").DecidedAt
	r.after(time.Second)
	do[*agent.SessionResult](r, &agent.CancelSession{Session: "s"})
	if got := r.review("decided"); got.Status != agent.ReviewApproved || got.DecidedAt != at {
		t.Errorf("the decided review is %+v", got)
	}
	if got := r.review("pending").Status; got != agent.ReviewWithdrawn {
		t.Errorf("the pending review is %s", got)
	}
}

// A rollback that cannot restore the checkpoint, because it was deleted and created again, is refused.
func TestARollbackNeedsTheCheckpointOfTheTurn(t *testing.T) {
	r := newSubject(t)
	r.record()
	do[*agent.CheckpointResult](r, state("c", `{"n":1}`))
	r.start(busy(agent.BusyRollback), func(op *agent.PutSession) { op.Checkpoint = "c" })
	r.claim("w", "q", time.Minute)
	do[*agent.DeleteResult](r, &agent.DeleteCheckpoint{Key: "c"})
	do[*agent.CheckpointResult](r, state("c", `{"n":2}`))
	refused := r.refusal(agent.CodeConflict, claiming("w2", "q2", time.Minute))
	if !strings.Contains(refused.Detail, "was deleted") {
		t.Errorf("refused with %q", refused.Detail)
	}
	if got := read[*agent.Checkpoint](r, &agent.GetCheckpoint{Key: "c"}); string(got.State) != `{"n":2}` {
		t.Errorf("the checkpoint is %s", got.State)
	}
}

// A session of the greatest size still fails when its review expires or is denied. The failure is left
// out then: the review has the decision.
func TestAReviewOfAFullSessionEnds(t *testing.T) {
	for name, end := range map[string]func(r *subject){
		"it expires": func(r *subject) { r.after(time.Minute).pass() },
		"it is denied": func(r *subject) {
			do[*agent.ReviewResult](r, &agent.DecideReview{Review: "v", Decision: agent.DecideDeny, By: "ada"})
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newSubject(t)
			r.record()
			r.start(func(op *agent.PutSession) {
				op.Mode = agent.SessionModeClassic
				op.Spec = agent.JSON(`{"x":"` + strings.Repeat("x", agent.SessionBytesMax-30) + `"}`)
			})
			waiting := agent.SessionSnapshot{ID: "one", Cursor: agent.Cursor{Phase: agent.PhaseReview}}
			do[*agent.SessionResult](r, &agent.CheckpointSession{
				Session: "s", Snapshot: waiting, Reviews: []agent.ReviewDraft{{ID: "v", TTL: time.Minute}},
			})
			end(r)
			s := r.session()
			if s.Status != agent.SessionFailed || len(s.PendingReviews) > 0 || len(s.Failure) > 0 {
				t.Fatalf("the session is %s, waits for %v and failed with %q", s.Status, s.PendingReviews, s.Failure)
			}
			if got := r.review("v").Status; got != agent.ReviewExpired && got != agent.ReviewDenied {
				t.Fatalf("the review is %s", got)
			}
		})
	}
}
