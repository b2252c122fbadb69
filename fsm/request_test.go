package fsm_test

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"dormouse/agent"
	"dormouse/fsm/kv"
)

func requested(seq, low uint64, ops ...agent.Op) agent.Commit {
	return agent.Commit{Request: agent.Request{Client: "client", Seq: seq, Low: low}, Ops: ops}
}

func TestARequestAppliesOnceAndGetsItsFirstAnswerAgain(t *testing.T) {
	r := newSubject(t)
	commits := []agent.Commit{
		requested(1, 0, appendTo("t", `{"n":1}`), pointing("c", "t", 1)),
		requested(2, 0, &agent.AppendThread{Thread: "t", ExpectedRev: ptr(uint64(9)), Entries: drafts(`{}`)}), // refused
	}
	first := r.batch(commits...)
	if first[0].Err != nil || first[1].Err == nil {
		t.Fatalf("%+v", first)
	}
	do[*agent.ThreadResult](r.after(time.Minute), appendTo("t", `{"n":2}`))
	again := r.batch(commits...)
	if !reflect.DeepEqual(first, again) {
		t.Fatalf("first\n%+v\nagain\n%+v", first, again)
	}
	twice := r.batch(requested(3, 0, appendTo("t", `{}`)), requested(3, 0, appendTo("t", `{}`)))
	if twice[1].Err != nil || !reflect.DeepEqual(twice[0], twice[1]) {
		t.Fatalf("twice in one entry: %+v", twice)
	}
	if got := len(loaded(r, "t")); got != 3 {
		t.Fatalf("%d entries, want 3", got)
	}
}

func TestARequestIDWithAnotherBodyIsRefused(t *testing.T) {
	r := newSubject(t)
	r.batch(requested(1, 0, appendTo("t", `{}`)))
	d := r.batch(requested(1, 0, appendTo("t", `{"n":1}`)))[0]
	if d.Err == nil || d.Err.Code != agent.CodeIdempotencyMismatch || !d.Err.Final {
		t.Fatalf("%+v", d)
	}
	other := requested(1, 0, appendTo("t", `{"n":1}`))
	other.Scope = "other"
	if d := r.batch(other)[0]; d.Err != nil {
		t.Fatalf("another scope's client: %v", d.Err)
	}
}

func TestAcknowledgedAnswersGoAndAreNeverAppliedAgain(t *testing.T) {
	r := newSubject(t)
	for seq := uint64(1); seq <= 300; seq++ {
		if d := r.batch(requested(seq, max(seq, 10)-9, appendTo("t", `{}`)))[0]; d.Err != nil {
			t.Fatal(d.Err)
		}
	}
	if got := r.rows(kv.KindAnswers); got != 10 {
		t.Fatalf("%d answers are kept, want 10", got)
	}
	r.batch(requested(301, 301, appendTo("t", `{}`)))
	if got := r.rows(kv.KindAnswers); got != 1 {
		t.Fatalf("%d answers are kept, want 1", got)
	}
	d := r.batch(requested(300, 1, appendTo("t", `{}`)))[0]
	if d.Err == nil || d.Err.Code != agent.CodeRequestExpired {
		t.Fatalf("%+v", d)
	}
	if got := len(loaded(r, "t")); got != 301 {
		t.Fatalf("%d entries, want 301", got)
	}
}

func TestACommitThatComesTooLateIsRefused(t *testing.T) {
	r := newSubject(t)
	late := requested(1, 0, appendTo("t", `{}`))
	late.Request.TTL = time.Minute
	encoded := r.encode(late)
	r.after(time.Minute + time.Millisecond)
	if d := r.feed(encoded)[0]; d.Err == nil || d.Err.Code != agent.CodeRequestExpired {
		t.Fatalf("%+v", d)
	}
	r.missing(agent.CodeNotFound, &agent.GetThread{Thread: "t"})
}

func TestAFullWindowRefusesAndNeverEvicts(t *testing.T) {
	r := newSubject(t)
	for from := uint64(1); from <= agent.RequestWindowMax; from += 512 {
		commits := []agent.Commit{}
		for seq := from; seq < from+512; seq++ {
			commits = append(commits, requested(seq, 0, &agent.PutValue{Key: fmt.Sprint(seq)}))
		}
		for _, d := range r.batch(commits...) {
			if d.Err != nil {
				t.Fatal(d.Err)
			}
		}
	}
	over := r.batch(requested(agent.RequestWindowMax+1, 1, &agent.PutValue{Key: "over"}))[0]
	if over.Err == nil || over.Err.Code != agent.CodeOverloaded || over.Err.Final || over.Err.RetryAfterMS == 0 {
		t.Fatalf("%+v", over)
	}
	if d := r.batch(requested(1, 0, &agent.PutValue{Key: "1"}))[0]; d.Err != nil {
		t.Fatalf("the first answer was evicted: %v", d.Err)
	}
	if d := r.batch(requested(agent.RequestWindowMax+1, 2, &agent.PutValue{Key: "over"}))[0]; d.Err != nil {
		t.Fatalf("after one was acknowledged: %v", d.Err)
	}
}

func TestARequestThatWasToldToComeBackMayComeBack(t *testing.T) {
	r := newSubject(t)
	do[*agent.ScopeResult](r, &agent.PutScope{Policy: agent.Policy{KeysMax: 1}})
	do[*agent.ValueResult](r, &agent.PutValue{Key: "in the way"})
	full := requested(1, 0, appendTo("t", `{}`))
	if d := r.batch(full)[0]; d.Err == nil || d.Err.Code != agent.CodeOverloaded || d.Err.Final {
		t.Fatalf("over the quota: %+v", d)
	}
	if got := r.rows(kv.KindAnswers); got != 0 {
		t.Fatalf("%d answers are kept of a request that has none", got)
	}
	do[*agent.DeleteResult](r, &agent.DeleteValue{Key: "in the way"})
	first, again := r.batch(full)[0], r.batch(full)[0]
	if first.Err != nil || !reflect.DeepEqual(first, again) {
		t.Fatalf("once there is room: %+v, then %+v", first, again)
	}
}

func TestAnswersLiveUntilTheirRequestExpires(t *testing.T) {
	r := newSubject(t)
	for n := range 100 {
		r.batch(requested(uint64(n+1), 0, appendTo("t", `{}`)))
	}
	r.batch(agent.Commit{Request: agent.Request{Client: "http-key", Seq: 1, TTL: time.Hour}, Ops: []agent.Op{appendTo("t", `{}`)}})
	if got := r.rows(kv.KindDueTick); got != 2 {
		t.Fatalf("%d rows in the queue, want one a client", got)
	}
	tick, _ := r.machine.Due()
	if want := r.tick + uint64(time.Hour.Milliseconds()) + 1; tick != want {
		t.Fatalf("due at %d, want %d", tick, want)
	}
	r.after(2 * time.Hour).batch()
	if got := r.rows(kv.KindClient); got != 1 {
		t.Fatalf("%d clients, want 1", got)
	}
	r.tick = 1000 + uint64(agent.RequestTTLDefault.Milliseconds()) // the last tick at which they are valid
	r.batch()
	if got := r.rows(kv.KindAnswers); got != 100 {
		t.Fatalf("%d answers, want 100", got)
	}
	r.tick++
	for range 3 {
		r.batch()
	}
	if answers, clients, queue := r.rows(kv.KindAnswers), r.rows(kv.KindClient), r.rows(kv.KindDueTick); answers+clients+queue != 0 {
		t.Fatalf("%d answers, %d clients and %d rows in the queue are left", answers, clients, queue)
	}
	if tick, _ := r.machine.Due(); tick != 0 {
		t.Fatalf("due at %d though nothing is left", tick)
	}
}

func TestAFenceOfAClaimThatNobodyHoldsIsRefused(t *testing.T) {
	r := newSubject(t)
	d := r.batch(agent.Commit{Fence: &agent.Fence{Claim: "session:s", Epoch: 7}, Ops: []agent.Op{appendTo("t", `{}`)}})[0]
	if d.Err == nil || d.Err.Code != agent.CodeFenced || d.Err.Epoch != 0 || !d.Err.Final {
		t.Fatalf("%+v", d)
	}
}
