package fsm_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"dormouse/agent"
	"dormouse/fsm"
	"dormouse/fsm/kv"
	"dormouse/storage"
)

func blob(text string) agent.JSON {
	return agent.JSON(fmt.Sprintf(`{"version":2,"state":{"text":%q}}`, text))
}

func conv(id string) agent.ConversationRef { return agent.ConversationRef{ID: id} }

// fill leaves a row of every kind.
func fill(r *subject, id string) agent.ConversationRow {
	r.tb.Helper()
	return do[*agent.ConversationResult](r,
		&agent.PendMessage{ConversationRef: conv(id), Message: agent.JSON(`{"text":"wait"}`)},
		&agent.SaveMessages{ConversationRef: conv(id), Messages: []agent.MessageDraft{{ID: "m", Role: agent.RoleUser}, {Role: agent.RoleUser}}},
		&agent.SaveConversation{ConversationRef: conv(id), Lifecycle: agent.LifecycleInterrupt, State: blob("1"), Title: "tea"},
	).Conversation
}

func scopeOf(r *subject) agent.Scope { return *read[*agent.Scope](r, &agent.GetScope{}) }

func TestADeletedConversationLeavesNothingButATombstone(t *testing.T) {
	r := newSubject(t)
	fill(r, "c")
	for _, kind := range fsm.ConversationKinds {
		if r.rows(kind) == 0 {
			t.Fatalf("no row of kind %q to begin with", kind)
		}
	}
	if s := scopeOf(r); s.Keys != 1 || s.Bytes == 0 {
		t.Fatalf("the scope counts %+v", s)
	}
	do[*agent.DeleteResult](r, &agent.DeleteConversation{ConversationRef: conv("c")})
	for _, kind := range fsm.ConversationKinds {
		if n := r.rows(kind); n != 0 {
			t.Fatalf("%d rows of kind %q stay", n, kind)
		}
	}
	if s := scopeOf(r); s.Keys != 0 || s.Bytes != 0 {
		t.Fatalf("the scope counts %+v", s)
	}
	if r.rows(kv.KindConversationTombstone) != 1 {
		t.Fatal("no tombstone")
	}
	r.after(agent.TombstoneTTL + time.Second)
	do[*agent.ValueResult](r, &agent.PutValue{Key: "v"})
	if r.rows(kv.KindConversationTombstone) != 0 {
		t.Fatal("the tombstone stays")
	}
}

func TestConversationsGoWithTheirScope(t *testing.T) {
	r := newSubject(t)
	fill(r, "c")
	fill(r, "d")
	do[*agent.DeleteResult](r, &agent.DeleteConversation{ConversationRef: conv("d")})
	do[*agent.DeleteResult](r, &agent.DeleteScope{})
	for _, kind := range append(fsm.ConversationKinds, kv.KindConversationTombstone) {
		if n := r.rows(kind); n != 0 {
			t.Fatalf("%d rows of kind %q stay", n, kind)
		}
	}
}

// The index of pending conversations has one row for each of them.
func TestTheIndexHoldsWhatWaitsAndNothingElse(t *testing.T) {
	r := newSubject(t)
	for i := range 20 {
		lifecycle := agent.LifecycleCompletion
		if i%5 == 0 {
			lifecycle = agent.LifecycleInterrupt
		}
		do[*agent.ConversationResult](r, &agent.SaveConversation{ConversationRef: conv(fmt.Sprintf("c%02d", i)), Lifecycle: lifecycle, State: blob("1")})
	}
	if n := r.rows(kv.KindConversationInterrupted); n != 4 {
		t.Fatalf("%d rows in the index, want 4", n)
	}
	var got []string
	for page := (agent.Page{Limit: 3}); ; {
		list := read[*agent.ConversationList](r, &agent.ListConversations{Page: page, Interrupted: true})
		for _, row := range list.Items {
			got = append(got, row.ID)
		}
		if list.Next == "" {
			break
		}
		page.After = list.Next
	}
	if diff := cmp.Diff([]string{"c00", "c05", "c10", "c15"}, got); diff != "" {
		t.Fatal(diff)
	}
}

// SG-6: pending messages are in the log. A node that restarts still has them, and consumed messages
// stay consumed.
func TestSG6WhatIsPendingOutlivesARestart(t *testing.T) {
	fs := storage.MemFS()
	r := openSubject(t, fsm.Options{Dir: "state", FS: fs})
	fill(r, "c")
	before := read[*agent.SavedConversation](r, &agent.GetConversation{ConversationRef: conv("c")})
	messages := read[*agent.MessageList](r, &agent.ListMessages{ConversationRef: conv("c")})
	log := r.log
	r.close()

	restart := func() *subject {
		t.Helper()
		again := openSubject(t, fsm.Options{Dir: "state", FS: fs})
		for _, entry := range log { // as Raft replays what the engine lacks
			if entry.Index > again.machine.Applied() {
				again.replay(entry)
			}
			again.index = entry.Index
		}
		return again
	}
	r = restart()
	if diff := cmp.Diff(before, read[*agent.SavedConversation](r, &agent.GetConversation{ConversationRef: conv("c")})); diff != "" {
		t.Fatal(diff)
	}
	if diff := cmp.Diff(messages, read[*agent.MessageList](r, &agent.ListMessages{ConversationRef: conv("c")})); diff != "" {
		t.Fatal(diff)
	}
	do[*agent.ConversationResult](r, &agent.SaveConversation{
		ConversationRef: conv("c"), Revision: 1, Lifecycle: agent.LifecycleCompletion, State: blob("2"), Consumed: before.Pending[0].Number,
	})
	log = append(log, r.log[len(r.log)-1])
	r.close()
	r = restart()
	if got := read[*agent.SavedConversation](r, &agent.GetConversation{ConversationRef: conv("c")}); got.PendingCount != 0 || len(got.Pending) != 0 || got.Consumed != 1 {
		t.Fatalf("after another restart: %+v", got)
	}
}

func TestWhatIsPendingIsBoundedInBytes(t *testing.T) {
	r := newSubject(t)
	pend := func(bytes int) *agent.PendMessage {
		return &agent.PendMessage{ConversationRef: conv("c"), Message: agent.JSON(`{"a":"` + string(textOf(bytes-8)) + `"}`)}
	}
	do[*agent.ConversationResult](r, pend(agent.ConversationPendingBytesMax-10))
	do[*agent.ConversationResult](r, pend(10))
	_, err := r.try(pend(8))
	if err == nil || err.Code != agent.CodeOverloaded || err.Limit != fmt.Sprintf("conversation_pending_bytes_max=%d", agent.ConversationPendingBytesMax) {
		t.Fatalf("past the limit: %+v", err)
	}
}

// textOf returns n bytes of text.
func textOf(n int) []byte {
	out := make([]byte, n)
	for i := range out {
		out[i] = 'x'
	}
	return out
}

func TestAMoveKeepsWhatTheScopeCounts(t *testing.T) {
	r := newSubject(t)
	do[*agent.ScopeResult](r, &agent.PutScope{Policy: agent.Policy{KeysMax: 1}})
	do[*agent.ValueResult](r, &agent.PutValue{Key: "file:/a", Bytes: []byte("12345"), Metadata: agent.JSON(`{"n":1}`), TTL: time.Minute})
	before := scopeOf(r)
	if before.Bytes != 12 {
		t.Fatalf("bytes and metadata count for %d", before.Bytes)
	}
	do[*agent.ValueResult](r, &agent.ReviseValue{Key: "file:/a", To: "file:/b"}) // though the scope is full
	if got := scopeOf(r); got.Keys != before.Keys || got.Bytes != before.Bytes {
		t.Fatalf("%+v, was %+v", got, before)
	}
	r.after(2 * time.Minute)
	do[*agent.ValueResult](r, &agent.PutValue{Key: "v"}) // the first is expired, as it would have been without it
	if got := scopeOf(r); got.Keys != 1 || got.Bytes != 0 {
		t.Fatalf("after its ttl: %+v", got)
	}
}

// A save that consumes more than the last one is not a repetition of it.
func TestASaveThatConsumesMoreIsNoRepetition(t *testing.T) {
	r := newSubject(t)
	save := &agent.SaveConversation{ConversationRef: conv("c"), Lifecycle: agent.LifecycleCompletion, State: blob("1")}
	do[*agent.ConversationResult](r, save, &agent.PendMessage{ConversationRef: conv("c"), Message: agent.JSON(`{}`)})
	do[*agent.ConversationResult](r, save)
	more := *save
	more.Consumed = 1
	r.refuse(agent.CodeRevisionMismatch, &more)
}
