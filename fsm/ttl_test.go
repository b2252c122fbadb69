package fsm_test

import (
	"fmt"
	"testing"
	"time"

	"dormouse/agent"
)

func TestAThreadGoesAtTheEndOfItsTTLAndForksKeepTheirs(t *testing.T) {
	r := newSubject(t)
	r.whole("a")
	do[*agent.ForkedAgent](r, &agent.ForkAgent{Agent: "a", NewAgent: "b"})
	do[*agent.ThreadResult](r, &agent.SetTTL{Thread: "a", TTL: time.Minute})
	r.after(time.Minute - time.Millisecond).pass()
	read[*agent.Thread](r, &agent.GetThread{Thread: "a"})
	r.after(time.Millisecond).pass()
	r.missing(agent.CodeNotFound, &agent.GetThread{Thread: "a"})
	r.missing(agent.CodeMissingThread, &agent.Thaw{Key: "a"})
	if list := read[*agent.ThreadList](r, &agent.ListThreads{}); len(list.Items) != 1 || list.Items[0].ID != "b" {
		t.Fatalf("threads %+v", list.Items)
	}
	if thawed := read[*agent.Thawed](r, &agent.Thaw{Key: "b"}); len(thawed.Entries) != 2 || thawed.Thread.ExpiresAt != 0 {
		t.Fatalf("the fork is %+v", thawed.Thread)
	}
	do[*agent.Erasure](r, &agent.EraseAgent{Agent: "a"})
	do[*agent.Erasure](r, &agent.EraseAgent{Agent: "b"})
	if n := r.leftovers(); n != 0 {
		t.Fatalf("%d rows are left", n)
	}
}

// A row has expired at its exact millisecond, swept or not: here more rows expire at once than one
// entry removes.
func TestSessionsGoAtTheEndOfTheirTTLThoughTheyRun(t *testing.T) {
	r := newSubject(t)
	leases := r.sessionsOf("a", 100)
	for _, s := range read[*agent.SessionList](r, &agent.ListSessions{}).Items {
		do[*agent.SessionResult](r, &agent.SetTTL{Session: s.ID, TTL: time.Second})
	}
	r.after(time.Second).pass()
	if got := r.listed(agent.ListSessions{}); got != "" {
		t.Fatalf("sessions %q", got)
	}
	if got := read[*agent.ReviewList](r, &agent.ListReviews{}); len(got.Items) > 0 {
		t.Fatalf("reviews %+v", got.Items)
	}
	r.missing(agent.CodeNotFound, &agent.GetSession{Session: "a-0099"})
	r.refuse(agent.CodeNotFound, &agent.RenewSession{Session: "a-0098", LeaseID: leases[98].LeaseID, Owner: "o"})
	do[*agent.SessionResult](r, &agent.PutSession{Session: "a-0097", Agent: "b"})
	for range 3 {
		r.pass()
	}
	if got := r.listed(agent.ListSessions{}); got != "a-0097" {
		t.Fatalf("sessions %q", got)
	}
}

func TestConversationsGoAtTheEndOfTheirTTLWithTheirMessages(t *testing.T) {
	r := newSubject(t)
	r.record()
	for i := range 100 {
		id := fmt.Sprintf("c%02d", i)
		do[*agent.ConversationResult](r, &agent.PendMessage{ConversationRef: conv(id), Message: agent.JSON(`{"text":"hi"}`)})
		do[*agent.ConversationResult](r, &agent.SaveMessages{ConversationRef: conv(id), Messages: []agent.MessageDraft{{Role: agent.RoleUser}}})
		do[*agent.ConversationResult](r, &agent.SetInterrupted{ConversationRef: conv(id), Interrupted: true})
	}
	for i := range 100 { // the second TTL counts
		do[*agent.ConversationResult](r, &agent.SetTTL{Conversation: fmt.Sprintf("c%02d", i), TTL: time.Millisecond})
		do[*agent.ConversationResult](r, &agent.SetTTL{Conversation: fmt.Sprintf("c%02d", i), TTL: time.Minute})
	}
	r.after(time.Minute - time.Millisecond).pass()
	read[*agent.SavedConversation](r, &agent.GetConversation{ConversationRef: conv("c99")})
	r.after(time.Millisecond).pass() // more rows than one entry sweeps
	r.missing(agent.CodeNotFound, &agent.GetConversation{ConversationRef: conv("c99")})
	r.missing(agent.CodeNotFound, &agent.ListMessages{ConversationRef: conv("c98")})
	for _, q := range []*agent.ListConversations{{}, {Interrupted: true}} {
		if list := read[*agent.ConversationList](r, q); len(list.Items) > 0 {
			t.Fatalf("%+v lists %d", q, len(list.Items))
		}
	}
	r.refuse(agent.CodeNotFound, &agent.SetTTL{Conversation: "c97", TTL: time.Hour})
	again := do[*agent.ConversationResult](r, &agent.SaveConversation{
		ConversationRef: conv("c96"), Lifecycle: agent.LifecycleCompletion, State: blob("anew"),
	}).Conversation
	if again.Revision != 1 || again.ExpiresAt != 0 || again.MessageCount != 0 {
		t.Fatalf("made anew: %+v", again)
	}
	r.pass()
	do[*agent.DeleteResult](r, &agent.DeleteConversation{ConversationRef: conv("c96")})
	r.after(agent.TombstoneTTL).pass()
	if n := r.leftovers(); n != 0 {
		t.Fatalf("%d rows are left", n)
	}
}

func TestOlderRevisionsGoWithTheirAge(t *testing.T) {
	r := newSubject(t)
	do[*agent.ScopeResult](r, &agent.PutScope{Policy: agent.Policy{History: 10, HistoryAgeMS: 60_000}})
	put := func() { do[*agent.CheckpointResult](r, &agent.PutCheckpoint{Key: "k", State: agent.JSON(`{"x":1}`)}) }
	kept := func() (revisions []uint64) {
		for _, row := range read[*agent.CheckpointList](r, &agent.CheckpointHistory{Key: "k"}).Items {
			revisions = append(revisions, row.Revision)
		}
		return revisions
	}
	put()
	put() // revision 1 is an old revision now
	r.after(30 * time.Second)
	put()
	r.after(30*time.Second - time.Millisecond).pass()
	if got := kept(); len(got) != 3 {
		t.Fatalf("before its time: %v", got)
	}
	r.after(time.Millisecond).pass()
	if got := kept(); len(got) != 2 || got[1] != 2 {
		t.Fatalf("after a minute: %v", got)
	}
	r.missing(agent.CodeNotFound, &agent.GetCheckpoint{Key: "k", Revision: 1})
	// A shorter age applies to existing revisions too.
	do[*agent.ScopeResult](r, &agent.PutScope{Policy: agent.Policy{History: 10, HistoryAgeMS: 1000}})
	put()
	r.after(time.Second).pass()
	if got := kept(); len(got) != 1 || got[0] != 4 {
		t.Fatalf("with a shorter age: %v", got)
	}
	if scope := read[*agent.Scope](r, &agent.GetScope{}); scope.Bytes != uint64(len(`{"x":1}{}`)) {
		t.Fatalf("the scope counts %d bytes", scope.Bytes)
	}
	r.after(time.Hour).pass()
	do[*agent.DeleteResult](r, &agent.DeleteCheckpoint{Key: "k"})
	if n := r.leftovers(); n != 0 {
		t.Fatalf("%d rows are left", n)
	}
}

// An agent without messages points to a missing thread; so does its fork.
func TestAnAgentThatHasSaidNothingIsForked(t *testing.T) {
	r := newSubject(t)
	do[*agent.CheckpointResult](r, &agent.PutCheckpoint{Key: "a", Thread: &agent.Pointer{Thread: "t"}})
	forked := do[*agent.ForkedAgent](r, &agent.ForkAgent{Agent: "a", NewAgent: "b", NewThread: "u"})
	if p := forked.Checkpoint.Thread; forked.Thread != nil || p.Thread != "u" || p.Rev != 0 || p.Incarnation != 0 {
		t.Fatalf("forked %+v, %+v", forked, p)
	}
	do[*agent.ThreadResult](r, &agent.AppendThread{Thread: "v"})
	r.refuse(agent.CodeAlreadyExists, &agent.ForkAgent{Agent: "a", NewAgent: "c", NewThread: "v"})
}

func TestAForkCopiesSoManyMemoriesAndNotOneMore(t *testing.T) {
	r := newSubject(t)
	do[*agent.CheckpointResult](r, &agent.PutCheckpoint{Key: "a"})
	for n := 0; n < agent.ForkMemoriesMax; {
		var ops []agent.Op
		for ; len(ops) < agent.CommitOpsMax && n < agent.ForkMemoriesMax; n++ {
			ops = append(ops, &agent.WriteMemory{Agent: "a", ID: "m" + agent.LeaseID(uint64(n)), Content: "x"})
		}
		do[*agent.MemoryResult](r, ops...)
	}
	if forked := do[*agent.ForkedAgent](r, &agent.ForkAgent{Agent: "a", NewAgent: "b"}); forked.Memories != agent.ForkMemoriesMax {
		t.Fatalf("forked with %d memories", forked.Memories)
	}
	do[*agent.MemoryResult](r, &agent.WriteMemory{Agent: "a", ID: "one more", Content: "x"})
	if e := r.refusal(agent.CodeTooLarge, &agent.ForkAgent{Agent: "a", NewAgent: "c"}); e.Limit != "fork_memories_max=4096" {
		t.Fatalf("refused with %+v", e)
	}
	do[*agent.ForkedAgent](r, &agent.ForkAgent{Agent: "a", NewAgent: "c", WithoutMemory: true})
}

// A TTL that is set again moves the row's place in the queue.
func TestATTLThatIsSetAgainHasOnePlaceInTheQueue(t *testing.T) {
	for name, put := range map[string]func(ttl time.Duration) agent.Op{
		"value":      func(ttl time.Duration) agent.Op { return &agent.PutValue{Key: "k", TTL: ttl} },
		"checkpoint": func(ttl time.Duration) agent.Op { return &agent.PutCheckpoint{Key: "k", TTL: ttl} },
		"thread":     func(ttl time.Duration) agent.Op { return &agent.SetTTL{Thread: "t", TTL: ttl} },
		"memory": func(ttl time.Duration) agent.Op {
			return &agent.WriteMemory{Agent: "a", ID: "m", Content: "c", TTL: ttl}
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newSubject(t)
			do[*agent.ThreadResult](r, appendTo("t", `{}`))
			for _, ttl := range []time.Duration{time.Hour, 2 * time.Hour, time.Minute} {
				if _, err := r.try(put(ttl)); err != nil {
					t.Fatal(err)
				}
			}
			if queued := r.queued(); len(queued) != 1 {
				t.Errorf("the queue holds %q", queued)
			}
		})
	}
}
