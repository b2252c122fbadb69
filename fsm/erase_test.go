package fsm_test

import (
	"fmt"
	"testing"
	"time"

	"dormouse/agent"
	"dormouse/fsm/kv"
)

// agentKinds are the kinds of rows that an agent has, except receipts and tombstones.
var agentKinds = []string{
	"\x38", "\x39", "\x3a", "\x40", "\x41", "\x42", "\x43", "\x44", "\x45", "\x47", "\x48", "\x14",
	"\x50", "\x51", "\x52", "\x53", "\x54", "\x55", "\x56", "\x68", "\x69",
	"\x58", "\x59", "\x5a", "\x5b", "\x5c", "\x5d", "\x5e", "\x5f", "\x60", "\x62", "\x63", "\x64", "\x65", "\x8d", "\x8e",
	"\x84", "\x85", "\x86", "\x87", "\x88", "\x89", "\x98", "\x99",
}

// leftovers counts the rows of an agent's kinds.
func (r *subject) leftovers() (n int) {
	r.tb.Helper()
	for _, kind := range agentKinds {
		n += r.rows(kind)
	}
	return n
}

// sessionsOf creates sessions of an agent, each with its own thread, a request and a review.
func (r *subject) sessionsOf(name string, n int) (leases []*agent.Lease) {
	r.tb.Helper()
	for i := range n {
		id := fmt.Sprintf("%s-%04d", name, i)
		do[*agent.ThreadResult](r, &agent.PutSession{Session: id, Agent: name, SessionSettings: agent.SessionSettings{Thread: "thread of " + id}},
			&agent.AppendThread{Thread: "thread of " + id, Entries: drafts(`{}`)})
		lease := do[*agent.SessionResult](r, &agent.ClaimSession{Session: id, Owner: "o", Request: asking("q")}).Session.Lease
		do[*agent.SessionResult](r, &agent.CheckpointSession{
			Session: id, LeaseID: lease.LeaseID, Owner: "o", Snapshot: snapshot("n"),
			Reviews: []agent.ReviewDraft{{ID: "review of " + id, InterruptID: "i", Assignee: "anna"}},
		})
		leases = append(leases, lease)
	}
	return leases
}

// whole creates an agent with rows of all kinds.
func (r *subject) whole(name string) {
	r.tb.Helper()
	do[*agent.MemoryResult](r,
		&agent.AppendThread{Thread: name, Entries: drafts(`{"n":1}`, `{"n":2}`)},
		&agent.PutCheckpoint{Key: name, State: agent.JSON(`{"at":1}`), Thread: &agent.Pointer{Thread: name, Rev: 1}},
		&agent.PutCheckpoint{Key: name, State: agent.JSON(`{"at":2}`), Thread: &agent.Pointer{Thread: name, Rev: 2}},
		&agent.WriteMemory{Agent: name, ID: "m1", Session: "s", Content: "one", Embedding: []float32{1, 2}},
		&agent.WriteMemory{Agent: name, ID: "m2", Content: "two", TTL: time.Hour},
	)
}

func TestAnErasureOfManySessionsHoldsAtOnceAndIsClearedAwayAPieceAtATime(t *testing.T) {
	r := newSubject(t)
	const sessions = 150 // some 30 rows each, so the erasure takes several entries
	r.whole("a")
	leases := r.sessionsOf("a", sessions)
	before := r.leftovers()
	erased := do[*agent.Erasure](r, &agent.EraseAgent{Agent: "a"})
	if erased.Complete() || erased.Sessions == 0 || erased.Sessions == sessions {
		t.Fatalf("erased at once: %+v", erased)
	}
	if gone := before - r.leftovers(); gone > 2*agent.EraseRowsMax {
		t.Fatalf("the first entry removed %d rows", gone)
	}

	// All of it is hidden, though most rows still exist.
	last := fmt.Sprintf("a-%04d", sessions-1)
	fence := &agent.Fence{Claim: agent.SessionClaim(last), Epoch: leases[sessions-1].Epoch}
	for _, q := range []agent.Read{
		&agent.GetCheckpoint{Key: "a"}, &agent.CheckpointHistory{Key: "a"}, &agent.GetThread{Thread: "a"}, &agent.GetMemory{Agent: "a", ID: "m1"},
		&agent.GetSession{Session: last}, &agent.GetReview{Review: "review of " + last}, &agent.GetClaim{Claim: fence.Claim},
	} {
		r.missing(agent.CodeNotFound, q)
	}
	for _, q := range []agent.ListSessions{{}, {Agent: "a"}, {Status: agent.SessionRunning}, {Owner: "o"}, {Recoverable: true}} {
		if got := r.listed(q); got != "" {
			t.Fatalf("%+v lists %s", q, got)
		}
	}
	for _, q := range []agent.ListReviews{{}, {Assignee: "anna"}, {Session: last}} {
		if got := read[*agent.ReviewList](r, &q); len(got.Items) > 0 {
			t.Fatalf("%+v lists %+v", q, got.Items)
		}
	}
	if got := read[*agent.ClaimList](r, &agent.ListClaims{}); len(got.Items) > 0 {
		t.Fatalf("claims %+v", got.Items)
	}
	if got := read[*agent.MemoryList](r, &agent.ListMemories{Agent: "a"}); len(got.Items) > 0 {
		t.Fatalf("memories %+v", got.Items)
	}
	if d := r.batch(agent.Commit{Fence: fence, Ops: []agent.Op{&agent.PutValue{Key: "v"}}})[0]; d.Err == nil || d.Err.Code != agent.CodeFenced {
		t.Fatalf("under the lease of an erased session: %+v, %v", d.Result, d.Err)
	}
	r.refuse(agent.CodeNotFound, &agent.RenewSession{Session: last, LeaseID: leases[sessions-1].LeaseID, Owner: "o"})
	r.refuse(agent.CodeNotFound, &agent.DecideReview{Review: "review of " + last, Decision: agent.DecideApprove, By: "b"})

	// The ids can be reused, also by the agent itself.
	do[*agent.SessionResult](r, &agent.PutSession{Session: last, Agent: "a"})
	do[*agent.MemoryResult](r, &agent.WriteMemory{Agent: "a", ID: "new", Content: "new"})
	entries := 0
	for read[*agent.Erasure](r, &agent.GetErasure{Agent: "a"}).CompletedAt == 0 {
		if _, wall := r.machine.Due(); wall == 0 || wall > r.wall {
			t.Fatalf("garbage is left, and nothing falls due before %d, at %d", wall, r.wall)
		}
		before := r.leftovers()
		r.pass()
		if gone := before - r.leftovers(); gone > 2*agent.EraseRowsMax {
			t.Fatalf("an entry removed %d rows", gone)
		}
		if entries++; entries > sessions {
			t.Fatal("it never ends")
		}
	}
	got := read[*agent.Erasure](r, &agent.GetErasure{Agent: "a"})
	if got.Sessions != sessions || got.Reviews != sessions || got.Claims != sessions || got.Threads != sessions+1 || got.Entries != sessions+2 ||
		got.Checkpoints != 1 || got.Revisions != 2 || got.Memories != 2 || got.Kept != 0 || got.Index != erased.Index {
		t.Fatalf("the receipt says %+v", got)
	}
	if got := r.listed(agent.ListSessions{}); got != last {
		t.Fatalf("sessions made since: %q", got)
	}
	do[*agent.DeleteResult](r, &agent.DeleteSession{Session: last})
	do[*agent.DeleteResult](r, &agent.DeleteMemory{Agent: "a", ID: "new"})
	if n := r.leftovers(); n != 0 {
		t.Fatalf("%d rows are left", n)
	}
	if scope := read[*agent.Scope](r, &agent.GetScope{}); scope.Keys != 0 || scope.Bytes != 0 {
		t.Fatalf("the scope counts %d keys and %d bytes", scope.Keys, scope.Bytes)
	}
}

// A session that is created again under the id of one that is being erased keeps its own rows, and
// is not removed with the old one.
func TestASessionMadeAnewWhileItsAgentIsErasedIsWhole(t *testing.T) {
	r := newSubject(t)
	const sessions = 120
	r.sessionsOf("a", sessions)
	do[*agent.Erasure](r, &agent.EraseAgent{Agent: "a"})
	id := fmt.Sprintf("a-%04d", sessions-1)
	do[*agent.ThreadResult](r, &agent.PutSession{Session: id, Agent: "b", SessionSettings: agent.SessionSettings{Thread: "thread of " + id}, Spec: agent.JSON(`{"new":true}`)},
		&agent.AppendThread{Thread: "thread of " + id, Entries: drafts(`{"new":true}`)})
	lease := do[*agent.SessionResult](r, &agent.ClaimSession{Session: id, Owner: "o", Request: asking("q")}).Session.Lease
	do[*agent.SessionResult](r, &agent.CheckpointSession{
		Session: id, LeaseID: lease.LeaseID, Owner: "o", Snapshot: snapshot("n"),
		Reviews: []agent.ReviewDraft{{ID: "review of " + id, InterruptID: "i"}, {ID: "review of a-0118", InterruptID: "j"}},
	})
	for range sessions {
		r.pass()
	}
	if got := read[*agent.Erasure](r, &agent.GetErasure{Agent: "a"}); !got.Complete() || got.Sessions != sessions {
		t.Fatalf("the receipt says %+v", got)
	}
	s := read[*agent.Session](r, &agent.GetSession{Session: id})
	if len(s.Requests) != 1 || len(s.Snapshots) != 1 || s.Lease == nil || string(s.Spec) != `{"new":true}` {
		t.Fatalf("the new session is %+v", s)
	}
	if got := read[*agent.ReviewList](r, &agent.ListReviews{Session: id}); len(got.Items) != 2 {
		t.Fatalf("its reviews are %+v", got.Items)
	}
	if got := read[*agent.Thread](r, &agent.GetThread{Thread: "thread of " + id}); got.Rev != 1 {
		t.Fatalf("its thread is %+v", got)
	}
}

// A review of an erased session may fall due before its session is removed: sweeps continue all the
// same.
func TestAReviewOfAnErasedSessionMayFallDue(t *testing.T) {
	r := newSubject(t)
	r.sessionsOf("a", 100)
	do[*agent.SessionResult](r, &agent.PutSession{Session: "z", Agent: "a"})
	lease := do[*agent.SessionResult](r, &agent.ClaimSession{Session: "z", Owner: "o", Request: asking("q")}).Session.Lease
	do[*agent.SessionResult](r, &agent.CheckpointSession{
		Session: "z", LeaseID: lease.LeaseID, Owner: "o", Snapshot: snapshot("n"), Reviews: []agent.ReviewDraft{{ID: "v", InterruptID: "i", TTL: time.Second}},
	})
	do[*agent.Erasure](r, &agent.EraseAgent{Agent: "a"})
	r.after(time.Minute).pass()
	r.missing(agent.CodeNotFound, &agent.GetReview{Review: "v"})
	for range 100 {
		r.pass()
	}
	if n := r.leftovers(); n != 0 {
		t.Fatalf("%d rows are left", n)
	}
}

func TestAReceiptIsForgottenInTheEnd(t *testing.T) {
	r := newSubject(t)
	r.whole("a")
	do[*agent.Erasure](r, &agent.EraseAgent{Agent: "a"})
	r.after(agent.ErasureTTL - time.Millisecond).pass()
	read[*agent.Erasure](r, &agent.GetErasure{Agent: "a"})
	r.after(time.Millisecond).pass()
	r.missing(agent.CodeNotFound, &agent.GetErasure{Agent: "a"})
}

func TestAScopeTakesItsErasuresAlong(t *testing.T) {
	r := newSubject(t)
	r.sessionsOf("a", 100)
	do[*agent.Erasure](r, &agent.EraseAgent{Agent: "a", Seal: time.Hour})
	do[*agent.DeleteResult](r, &agent.DeleteScope{})
	r.missing(agent.CodeNotFound, &agent.GetErasure{Agent: "a"})
	for range 3 {
		r.pass()
	}
	if n := r.leftovers(); n != 0 {
		t.Fatalf("%d rows are left", n)
	}
	do[*agent.MemoryResult](r, &agent.WriteMemory{Agent: "a", ID: "m", Content: "unsealed"})
}

// A session that is assigned to an agent after its erasure stays, with its data, even if it was created
// before and the removal is still going on.
func TestASessionThatIsNamedToAnAgentWhileItIsErasedStays(t *testing.T) {
	r := newSubject(t)
	r.record()
	r.settled()
	do[*agent.SessionResult](r, &agent.PutSession{Session: "zz", Agent: "other"})
	do[*agent.SessionResult](r, &agent.PutSession{Session: "b", Agent: "other"})
	beginErasure(r)
	if got := read[*agent.Erasure](r, &agent.GetErasure{Agent: "many"}); got.Complete() {
		t.Fatal("erased at once")
	}
	revision := uint64(1)
	for _, id := range []string{"b", "zz"} { // before and after those that are left to remove
		do[*agent.SessionResult](r, &agent.PutSession{Session: id, Agent: "many", IfRevision: &revision, Spec: agent.JSON(`{"mine":1}`)})
	}
	check := func() {
		t.Helper()
		for _, id := range []string{"b", "zz"} {
			if got := read[*agent.Session](r, &agent.GetSession{Session: id}); got.Agent != "many" || string(got.Spec) != `{"mine":1}` {
				t.Fatalf("session %q: %+v", id, got)
			}
		}
	}
	check()
	r.settled()
	check()
	if got := read[*agent.Erasure](r, &agent.GetErasure{Agent: "many"}); !got.Complete() || got.Sessions != 600 {
		t.Fatalf("the receipt says %+v", got)
	}
	do[*agent.Erasure](r, &agent.EraseAgent{Agent: "many"}) // a later erasure takes them
	r.settled()
	r.missing(agent.CodeNotFound, &agent.GetSession{Session: "b"})
}

// The checkpoints and threads that sessions name count as rows that one entry removes.
func TestAnErasureCountsWhatItsSessionsName(t *testing.T) {
	r := newSubject(t)
	r.record()
	const sessions, revisions = 30, 20
	do[*agent.ScopeResult](r, &agent.PutScope{Policy: agent.Policy{History: revisions}})
	for i := range sessions {
		key := fmt.Sprintf("c%02d", i)
		ops := []agent.Op{&agent.PutSession{Session: key, Agent: "a", SessionSettings: agent.SessionSettings{Checkpoint: key}}}
		for j := range revisions {
			id := fmt.Sprintf("%s-%02d", key, j)
			ops = append(ops, appendTo(id, `{"n":1}`), pointing(key, id, 1))
		}
		do[*agent.CheckpointResult](r, ops...)
	}
	threads := r.rows(kv.KindThread)
	do[*agent.Erasure](r, &agent.EraseAgent{Agent: "a"})
	for entries := range 20 {
		now := r.rows(kv.KindThread)
		if most := agent.EraseRowsMax/8 + revisions; threads-now > most {
			t.Fatalf("entry %d removed %d of %d threads, want at most %d", entries, threads-now, threads, most)
		}
		threads = now
		r.pass()
	}
	if n := threads + r.rows(kv.KindSession) + r.rows(kv.KindCheckpoint); n != 0 {
		t.Errorf("%d rows are left", n)
	}
}

// The erasure of an agent that has nothing is complete at once, with the log's time.
func TestTheErasureOfNothingIsCompleteAtOnce(t *testing.T) {
	r := newSubject(t)
	if e := do[*agent.Erasure](r, &agent.EraseAgent{Agent: "nothing"}); e.CompletedAt != r.wall || e.ErasedAt != r.wall {
		t.Errorf("at %d: %+v", r.wall, e)
	}
}

// A thread and a checkpoint that are created while an erasure is under way stay, although a session of the
// agent names them.
func TestWhatIsCreatedDuringAnErasureStays(t *testing.T) {
	r := newSubject(t)
	r.record()
	do[*agent.SessionResult](r, &agent.PutSession{Session: "z", Agent: "last", SessionSettings: agent.SessionSettings{Thread: "t", Checkpoint: "k"}})
	for i := range 6 {
		var ops []agent.Op
		for j := range 100 {
			ops = append(ops, &agent.PutSession{Session: fmt.Sprintf("last-%d-%d", i, j), Agent: "last"})
		}
		do[*agent.SessionResult](r, ops...)
	}
	if e := do[*agent.Erasure](r, &agent.EraseAgent{Agent: "last"}); e.CompletedAt != 0 {
		t.Fatal("the erasure is complete at once")
	}
	do[*agent.CheckpointResult](r, appendTo("t", `{}`), state("k", `{}`))
	r.missing(agent.CodeNotFound, &agent.GetSession{Session: "z"})
	r.settle()
	if e := read[*agent.Erasure](r, &agent.GetErasure{Agent: "last"}); e.CompletedAt == 0 || e.Threads != 0 || e.Checkpoints != 0 {
		t.Errorf("the receipt is %+v", e)
	}
	read[*agent.Thread](r, &agent.GetThread{Thread: "t"})
	read[*agent.Checkpoint](r, &agent.GetCheckpoint{Key: "k"})
}
