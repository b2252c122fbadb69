package fsm_test

import (
	"testing"
	"time"

	"dormouse/agent"
	"dormouse/fsm/kv"
)

// A turn that can be rolled back keeps the snapshots from before it, also those that it has replaced. Once
// it has ended their rows are gone, and count no more.
func TestATurnThatHasEndedKeepsNothingForARollback(t *testing.T) {
	r := newSubject(t)
	r.record()
	r.start(busy(agent.BusyRollback))
	lease := r.claim("w", "q", time.Minute).Session.Lease
	do[*agent.SessionResult](r, checkpointing(lease, "n"), ending(lease, agent.SessionHibernated))
	whole := r.scopeBytes()
	lease = do[*agent.SessionResult](r, &agent.ResumeSession{Session: "s", Owner: "w"}).Session.Lease
	do[*agent.SessionResult](r, checkpointing(lease, "n"))
	if rows := r.rows(kv.KindSessionSnapshot); rows != 2 {
		t.Errorf("the turn has %d snapshots, want its own and the one from before it", rows)
	}
	do[*agent.SessionResult](r, ending(lease, agent.SessionHibernated))
	if rows, bytes := r.rows(kv.KindSessionSnapshot), r.scopeBytes(); rows != 1 || bytes != whole {
		t.Errorf("after the turn there are %d snapshots and %d bytes, want 1 and %d", rows, bytes, whole)
	}
}

// A rollback names the entries that the turn appended. If the turn deleted the thread and began it again,
// these are all of its entries.
func TestARollbackNamesTheEntriesOfAThreadThatTheTurnBegan(t *testing.T) {
	r := newSubject(t)
	r.record()
	do[*agent.ThreadResult](r, appendTo("t", `{}`, `{}`, `{}`))
	r.start(busy(agent.BusyRollback), func(op *agent.PutSession) { op.Thread = "t" })
	r.claim("w", "q", time.Minute)
	do[*agent.ThreadResult](r, &agent.DeleteThread{Thread: "t"}, appendTo("t", `{}`, `{}`))
	r.claim("w2", "q2", time.Minute)
	entries := read[*agent.Entries](r, &agent.LoadEntries{Thread: "t"}).Items
	want := agent.TurnRolledBackEntry("s", "q", 0, 1)
	if len(entries) != 3 || entries[2].Kind != want.Kind || string(entries[2].Payload) != string(want.Payload) {
		t.Errorf("the thread has entries %+v, want the last one to be %s", entries, want.Payload)
	}
}

// A fork from an older snapshot continues the request of that snapshot, not the newest one.
func TestAForkContinuesTheRequestOfItsSnapshot(t *testing.T) {
	r := newSubject(t)
	r.record()
	r.start()
	for _, request := range []string{"first", "second"} {
		lease := r.claim("w", request, time.Minute).Session.Lease
		do[*agent.SessionResult](r, checkpointing(lease, "of "+request), ending(lease, agent.SessionFinished))
	}
	fork := do[*agent.SessionResult](r, &agent.ForkSession{Session: "s", NewSession: "f", Snapshot: "of first"}).Session
	if fork.RequestID != "first" || fork.Status != agent.SessionHibernated {
		t.Errorf("the fork is %s, for request %q", fork.Status, fork.RequestID)
	}
	do[*agent.SessionResult](r, &agent.CancelSession{Session: "f"})
	for _, request := range read[*agent.Session](r, &agent.GetSession{Session: "f"}).Requests {
		want := agent.RequestFinished
		if request.ID == "first" {
			want = agent.RequestCancelled
		}
		if request.Outcome != want {
			t.Errorf("request %s is %s, want %s", request.ID, request.Outcome, want)
		}
	}
}
