package fsm_test

import (
	"fmt"
	"testing"
	"time"

	"dormouse/agent"
	"dormouse/fsm/kv"
	"dormouse/fsm/txn"
)

func once(id string, at int64) *agent.PutTimer {
	return &agent.PutTimer{Timer: agent.Timer{Manager: "m", Key: "k", ID: id, Next: at}}
}

func ackOf(t agent.Timer, next int64) *agent.AckTimer {
	return &agent.AckTimer{Manager: t.Manager, Key: t.Key, ID: t.ID, Generation: t.Generation, Instant: t.Next, Next: next}
}

func failOf(t agent.Timer, notBefore int64) *agent.FailTimer {
	return &agent.FailTimer{Manager: t.Manager, Key: t.Key, ID: t.ID, Generation: t.Generation, Instant: t.Next, NotBefore: notBefore, Error: "it broke"}
}

func getTimer(r *subject, id string) *agent.Timer {
	return read[*agent.Timer](r, &agent.GetTimer{Manager: "m", Key: "k", ID: id})
}

func wantDue(t *testing.T, r *subject, want int) {
	t.Helper()
	if due := duePaths(t, r); len(due) != want {
		t.Fatalf("%v are due, want %d", due, want)
	}
}

// An occurrence is acknowledged once: a retry of its turn changes nothing, nor does a turn of a
// timer that was replaced or has ended.
func TestAnAcknowledgedOccurrenceHasOneTurn(t *testing.T) {
	r := newSubject(t)
	timer := do[*agent.TimerResult](r, once("t", startWall+1000)).Timer
	r.after(time.Second)
	turn := func(ack agent.Op) []agent.Op { return []agent.Op{appendTo("t", `{"turn":1}`), ack} }
	do[*agent.TimerResult](r, turn(ackOf(timer, startWall+5000))...)
	r.refuse(agent.CodeConflict, turn(ackOf(timer, startWall+5000))...)
	r.refuse(agent.CodeConflict, turn(ackOf(timer, 0))...)
	if again := do[*agent.TimerResult](r, once("t", startWall+1000)).Timer; again.Generation <= timer.Generation {
		t.Fatalf("put anew it is of generation %d, after %d", again.Generation, timer.Generation)
	}
	r.refuse(agent.CodeConflict, turn(ackOf(timer, 0))...)
	anew := *getTimer(r, "t")
	if ended := do[*agent.TimerResult](r, turn(ackOf(anew, 0))...); ended.Timer.ID != "" {
		t.Fatalf("it goes on: %+v", ended.Timer)
	}
	r.refuse(agent.CodeConflict, turn(ackOf(anew, 0))...)
	r.missing(agent.CodeNotFound, &agent.GetTimer{Manager: "m", Key: "k", ID: "t"})
	if got := read[*agent.Thread](r, &agent.GetThread{Thread: "t"}).Rev; got != 2 {
		t.Fatalf("two occurrences left %d entries", got)
	}
}

func TestATimerFallsDueInTheLogsTime(t *testing.T) {
	r := newSubject(t)
	changed, cancel := r.machine.WatchDueTimers()
	defer cancel()
	do[*agent.TimerResult](r, once("t", startWall+1000))
	if _, wall := r.machine.Due(); wall != startWall+1000 {
		t.Fatalf("the leader is to propose at %d", wall)
	}
	r.after(time.Second - time.Millisecond).feed(nil)
	wantDue(t, r, 0)
	if len(changed) != 0 {
		t.Fatal("told of a timer that is not due")
	}
	r.after(time.Millisecond).feed(nil)
	wantDue(t, r, 1)
	if len(changed) != 1 {
		t.Fatal("not told of a timer that fell due")
	}
	do[*agent.TimerResult](r, failOf(*getTimer(r, "t"), r.wall+500))
	wantDue(t, r, 0)
	r.after(500 * time.Millisecond).feed(nil)
	wantDue(t, r, 1)
}

func TestDueTimersGoOnPastAScope(t *testing.T) {
	r := newSubject(t)
	var commits []agent.Commit
	for _, scope := range []string{"a", "a-b", "b"} {
		commits = append(commits, agent.Commit{Scope: scope, Ops: []agent.Op{once("t1", startWall), once("t2", startWall)}})
	}
	r.batch(commits...)
	var scopes []string
	for from := ""; ; {
		due, _, _, err := r.machine.DueTimers(from, 1)
		if err != nil {
			t.Fatal(err)
		}
		if len(due) == 0 {
			break
		}
		scopes = append(scopes, due[0].Scope)
		from = r.machine.DueTimersPast(due[0].Scope)
	}
	if got := fmt.Sprint(scopes); got != "[a a-b b]" {
		t.Errorf("the scopes are %s", got)
	}
}

func TestATimerIsParkedAfterItsLastAttempt(t *testing.T) {
	r := newSubject(t)
	do[*agent.TimerResult](r, once("t", startWall))
	for attempt := uint64(1); attempt <= agent.TimerAttemptsMax; attempt++ {
		wantDue(t, r, 1)
		got := do[*agent.TimerResult](r, failOf(*getTimer(r, "t"), r.wall)).Timer
		if got.Attempts != attempt || got.Parked != (attempt == agent.TimerAttemptsMax) || got.LastError != "it broke" {
			t.Fatalf("after attempt %d: %+v", attempt, got)
		}
	}
	wantDue(t, r, 0)
	r.after(time.Hour).feed(nil)
	wantDue(t, r, 0)
	if !getTimer(r, "t").Parked {
		t.Fatal("it is not shown as parked")
	}
	do[*agent.TimerResult](r, once("t", startWall))
	wantDue(t, r, 1)
}

func TestAnInstanceHasSoManyTimersAndNoMore(t *testing.T) {
	r := newSubject(t)
	for i := range agent.TimersMax {
		do[*agent.TimerResult](r, once(fmt.Sprint("t", i), startWall+1000))
	}
	_, err := r.try(once("one more", startWall+1000))
	if err == nil || err.Code != agent.CodeOverloaded || err.Final || err.Limit != fmt.Sprintf("timers_max=%d", agent.TimersMax) {
		t.Fatalf("one more: %v", err)
	}
	do[*agent.TimerResult](r, once("t1", startWall+2000)) // an existing timer
	do[*agent.TimerResult](r, &agent.PutTimer{Timer: agent.Timer{Manager: "m", Key: "other", ID: "t", Cron: "@daily"}})
	do[*agent.DeleteResult](r, &agent.DeleteTimer{Manager: "m", Key: "k", ID: "t0"})
	do[*agent.TimerResult](r, once("one more", startWall+1000))

	// All fall due at once, at most txn.SweepMax in an entry.
	r.after(time.Second)
	for due := 1 + txn.SweepMax; due < agent.TimersMax; due += txn.SweepMax { // the cron is due from the start, t1 is later
		r.feed(nil)
		wantDue(t, r, due)
	}
	r.feed(nil)
	wantDue(t, r, agent.TimersMax)
}

// A scope whose values expire together does not delay timers.
func TestATimerFallsDueBeforeABacklogOfExpiries(t *testing.T) {
	const values = 40 * txn.SweepMax
	r := newSubject(t)
	r.raise(txn.TimerQueueLevel)
	for i := range values {
		do[*agent.ValueResult](r, &agent.PutValue{Key: fmt.Sprint("v", i), Bytes: []byte("x"), TTL: time.Second})
	}
	do[*agent.TimerResult](r, once("t", startWall+2000))
	do[*agent.TimerResult](r, once("later", startWall+90_000))
	r.after(2 * time.Second).feed(nil)
	wantDue(t, r, 1)
	if left := r.rows(kv.KindValue); left < values-txn.SweepMax {
		t.Fatalf("%d values are left: the timer did not have to wait", left)
	}
	entries := 1
	for ; r.rows(kv.KindValue) > 0; entries++ {
		if _, wall := r.machine.Due(); wall == 0 || wall > r.wall {
			t.Fatalf("the leader is to propose at %d, and values are left", wall)
		}
		r.feed(nil)
	}
	if want := values / txn.SweepMax; entries > want+1 {
		t.Errorf("%d entries removed the values, want %d", entries, want)
	}
	r.after(24 * time.Hour).feed(nil)
	wantDue(t, r, 2)
	for r.rows(kv.KindDueWall) > 0 { // tombstones and recorded changes
		r.after(24 * time.Hour).feed(nil)
	}
	if _, wall := r.machine.Due(); wall != 0 {
		t.Errorf("the leader is to propose at %d: nothing is left", wall)
	}
}

// A timer that was set below the level is in the queue of expiries until it is due or set again.
func TestATimerThatWasQueuedBelowTheLevel(t *testing.T) {
	r := newSubject(t)
	r.raise(txn.TimerQueueLevel - 1)
	for _, id := range []string{"due", "again", "gone"} {
		do[*agent.TimerResult](r, once(id, startWall+1000))
	}
	if old, own := r.rows(kv.KindDueWall), r.rows(kv.KindDueTimer); old != 3 || own != 0 {
		t.Fatalf("below the level %d and %d rows are queued", old, own)
	}
	r.raise(txn.TimerQueueLevel)
	do[*agent.TimerResult](r, once("again", startWall+2000))
	do[*agent.DeleteResult](r, &agent.DeleteTimer{Manager: "m", Key: "k", ID: "gone"})
	if old, own := r.rows(kv.KindDueWall), r.rows(kv.KindDueTimer); old != 1 || own != 1 {
		t.Fatalf("at the level %d and %d rows are queued", old, own)
	}
	r.after(time.Second).feed(nil)
	wantDue(t, r, 1)
	r.after(time.Second).feed(nil)
	wantDue(t, r, 2)
	if old, own := r.rows(kv.KindDueWall), r.rows(kv.KindDueTimer); old+own != 0 {
		t.Fatalf("%d and %d rows are left", old, own)
	}
}

func TestTimersGoWithTheirScope(t *testing.T) {
	r := newSubject(t)
	do[*agent.TimerResult](r, once("later", startWall+1000))
	do[*agent.TimerResult](r, once("due", startWall))
	do[*agent.DeleteResult](r, &agent.DeleteScope{})
	for _, kind := range []string{kv.KindTimer, kv.KindTimerData, kv.KindTimerDue} {
		if n := r.rows(kind); n != 0 {
			t.Errorf("%d rows of kind %q are left", n, kind)
		}
	}
	do[*agent.TimerResult](r, once("later", startWall+3000)) // in the scope that was created again
	r.after(time.Second).feed(nil)                           // the old queue entry is ignored
	wantDue(t, r, 0)
	r.after(2 * time.Second).feed(nil)
	wantDue(t, r, 1)
}

// A signal that its handler can never take would fail forever, so the timer is refused.
func TestATimerWhoseSignalADocumentCannotTakeIsRefused(t *testing.T) {
	r := newSubject(t)
	r.record()
	tick := func(manager, kind string) *agent.PutTimer {
		return &agent.PutTimer{Timer: agent.Timer{Manager: manager, Key: "k", ID: "t", Cron: "@daily", Type: kind}}
	}
	do[*agent.TimerResult](r, tick("m", "tick")) // there is no manager yet
	do[*agent.ManagerResult](r,
		&agent.PutManager{Manager: agent.Manager{Name: "m", Handler: agent.Handler{Kind: agent.HandlerDocument}}},
		&agent.PutManager{Manager: agent.Manager{Name: "g", Handler: agent.Handler{Kind: agent.HandlerGo, Name: "g"}}},
	)
	r.refuse(agent.CodeInvalid, tick("m", "tick"))
	do[*agent.TimerResult](r, tick("m", agent.SignalPatch))
	do[*agent.TimerResult](r, tick("g", "tick"))
}
