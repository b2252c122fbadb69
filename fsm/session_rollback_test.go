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
