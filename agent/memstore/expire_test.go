package memstore_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/agent"
	"dormouse/agent/memstore"
)

func commit(t *testing.T, s *memstore.Store, ops ...agent.Op) agent.Result {
	t.Helper()
	result, err := s.Commit(t.Context(), agent.Commit{Ops: ops})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// code returns the error code of a read; "" if it found something.
func code(t *testing.T, s *memstore.Store, read agent.Read) agent.Code {
	t.Helper()
	answers, err := s.Read(t.Context(), agent.Reads{Reads: []agent.Read{read}})
	if err != nil {
		t.Fatal(err)
	}
	if e := answers.Answers[0].Err; e != nil {
		return e.Code
	}
	return ""
}

func TestAllThatHasATTLExpires(t *testing.T) {
	begin := time.UnixMilli(1_800_000_000_000)
	now := begin
	s := memstore.New()
	s.Clock = func() time.Time { return now }
	first := commit(t, s,
		&agent.PutValue{Key: "v", TTL: time.Second},
		&agent.PutCheckpoint{Key: "c", State: agent.JSON("{}"), TTL: time.Second},
		&agent.AppendThread{Thread: "t", Entries: []agent.Draft{{Kind: "note", Payload: agent.JSON("{}")}}},
		&agent.SetTTL{Thread: "t", TTL: time.Second},
		&agent.WriteMemory{Agent: "a", ID: "m", Content: "tea", TTL: time.Second},
		&agent.TakeClaim{Claim: "lock", Holder: "h", TTL: time.Second},
		&agent.PutSession{Session: "s", Agent: "a"},
		&agent.SetTTL{Session: "s", TTL: time.Second},
	)
	if first.Time != begin.UnixMilli() {
		t.Fatalf("the commit's time is %d, want the clock's", first.Time)
	}
	reads := []agent.Read{
		&agent.GetValue{Key: "v"}, &agent.GetCheckpoint{Key: "c"}, &agent.GetThread{Thread: "t"},
		&agent.GetMemory{Agent: "a", ID: "m"}, &agent.GetClaim{Claim: "lock"}, &agent.GetSession{Session: "s"},
	}
	now = begin.Add(time.Second - time.Millisecond)
	for _, read := range reads {
		if got := code(t, s, read); got != "" {
			t.Errorf("%T before the end: %s", read, got)
		}
	}
	now = begin.Add(time.Second)
	for _, read := range reads {
		if got := code(t, s, read); got != agent.CodeNotFound {
			t.Errorf("%T after the end: %q, want not_found", read, got)
		}
	}
	for event, err := range s.Watch(t.Context(), agent.Watch{Changes: true, From: first.Index + 1}) {
		if err != nil || len(event.Changes) != len(reads) {
			t.Errorf("%d changes (%v), want %d", len(event.Changes), err, len(reads))
		}
		break
	}
}

func TestASealEnds(t *testing.T) {
	s := memstore.New()
	commit(t, s, &agent.PutValue{Key: "v"}, &agent.DeleteValue{Key: "v", Seal: time.Minute})
	if _, err := s.Commit(t.Context(), agent.Commit{Ops: []agent.Op{&agent.PutValue{Key: "v"}}}); agent.OutcomeOf(err) != agent.Refused {
		t.Errorf("a write to a sealed key: %v, want a refusal", err)
	}
	s.Pass(time.Minute)
	commit(t, s, &agent.PutValue{Key: "v"})
}

func TestAReplacedRevisionExpires(t *testing.T) {
	s := memstore.New()
	put := &agent.PutCheckpoint{Key: "c", State: agent.JSON("{}")}
	commit(t, s, &agent.PutScope{Policy: agent.Policy{HistoryAgeMS: 1000}}, put, put)
	if got := code(t, s, &agent.GetCheckpoint{Key: "c", Revision: 1}); got != "" {
		t.Errorf("revision 1 at once: %s", got)
	}
	s.Pass(time.Second)
	if got := code(t, s, &agent.GetCheckpoint{Key: "c", Revision: 1}); got != agent.CodeNotFound {
		t.Errorf("revision 1 later: %q, want not_found", got)
	}
	if got := code(t, s, &agent.GetCheckpoint{Key: "c"}); got != "" {
		t.Errorf("the current revision: %s", got)
	}
}

func TestAnAnswerIsKeptForItsTTL(t *testing.T) {
	s := memstore.New()
	c := agent.Commit{Request: agent.Request{Client: "c", Seq: 1, TTL: time.Minute}, Ops: []agent.Op{&agent.PutValue{Key: "v"}}}
	once, err := s.Commit(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := s.Commit(t.Context(), c); err != nil || again.Index != once.Index {
		t.Errorf("again: index %d, %v; want %d", again.Index, err, once.Index)
	}
	s.Pass(time.Minute)
	if got := code(t, s, &agent.GetAnswer{Client: "c", Seq: 1}); got != agent.CodeNotFound {
		t.Errorf("the answer after its ttl: %q, want not_found", got)
	}
}

// A watch of a claim tells that it expired, in the time of the test.
func TestAWatchSeesAClaimExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := memstore.New()
		commit(t, s, &agent.TakeClaim{Claim: "lock", Holder: "h", TTL: time.Hour})
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Hour)
		defer cancel()
		begin, seen := time.Now(), 0
		for event, err := range s.Watch(ctx, agent.Watch{Claim: "lock"}) {
			if err != nil {
				t.Fatal(err)
			}
			if seen++; seen == 2 {
				if waited := time.Since(begin); event.Claim.Holder != "" || waited != time.Hour {
					t.Errorf("after %v the holder is %q", waited, event.Claim.Holder)
				}
				return
			}
		}
		t.Errorf("the watch ended after %d events", seen)
	})
}
