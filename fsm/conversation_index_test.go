package fsm_test

import (
	"fmt"
	"testing"

	"dormouse/agent"
	"dormouse/fsm"
	"dormouse/fsm/kv"
	"dormouse/fsm/txn"
)

// talks makes conversations of an agent, with messages.
func (r *subject) talks(name string, n, messages int) {
	r.tb.Helper()
	drafts := make([]agent.MessageDraft, messages)
	for i := range drafts {
		drafts[i] = agent.MessageDraft{ID: fmt.Sprint("m", i), Role: agent.RoleUser}
	}
	for made := 0; made < n; {
		var ops []agent.Op
		for ; made < n && len(ops) < 500; made++ {
			ref := agent.ConversationRef{ID: fmt.Sprintf("%s-%05d", name, made), Agent: name, Owner: "o"}
			ops = append(ops, &agent.PendMessage{ConversationRef: ref, Message: agent.JSON(`{}`)})
			if messages > 0 {
				ops = append(ops, &agent.SaveMessages{ConversationRef: ref, Messages: drafts})
			}
		}
		do[*agent.ConversationResult](r, ops...)
	}
}

// settled feeds entries until nothing is due at once, and returns how many that took.
func (r *subject) settled() (entries int) {
	r.tb.Helper()
	for _, wall := r.machine.Due(); wall != 0 && wall <= r.wall; _, wall = r.machine.Due() {
		if entries++; entries > 1000 {
			r.tb.Fatal("it never ends")
		}
		r.pass()
	}
	return entries
}

func (r *subject) conversationsOf(name string) int {
	r.tb.Helper()
	return len(read[*agent.ConversationList](r, &agent.ListConversations{Agent: name, Page: agent.Page{Limit: agent.ListLimitMax}}).Items)
}

// An entry adds a bounded number of conversations to the indexes, and the next entry is due at once
// while some are left.
func TestConversationsFromBeforeAreFoundAPieceAnEntry(t *testing.T) {
	for _, c := range []struct{ before, entries int }{
		{0, 1},
		{agent.ConversationsFoundMax, 1},
		{agent.ConversationsFoundMax + 1, 2},
		{3*agent.ConversationsFoundMax - 1, 3},
	} {
		r := newSubject(t)
		r.raise(txn.FoundLevel - 1)
		r.talks("a", c.before, 0)
		if n := r.settled(); n != 0 {
			t.Fatalf("%d entries below the level", n)
		}
		r.raise(txn.FoundLevel)
		for i := range c.entries {
			r.missing(agent.CodeUnavailable, &agent.ListConversations{Agent: "a"})
			r.missing(agent.CodeUnavailable, &agent.ListConversations{Owner: "o"})
			if n, most := r.rows(fsm.ConversationKinds[0]), i*agent.ConversationsFoundMax; r.rows(kv.KindConversationAgent) != min(n, most) {
				t.Fatalf("after %d entries %d of %d are found", i, r.rows(kv.KindConversationAgent), n)
			}
			r.pass()
		}
		if n := r.settled(); n != 0 {
			t.Errorf("of %d conversations some were left after %d entries: it took %d more", c.before, c.entries, n)
		}
		read[*agent.ConversationList](r, &agent.ListConversations{Owner: "o"})
		if r.rows(kv.KindConversationAgent) != c.before || r.rows(kv.KindConversationOwner) != c.before {
			t.Errorf("%d of %d are found", r.rows(kv.KindConversationAgent), c.before)
		}
		r.raise(txn.FoundLevel) // again: the backfill does not start over
		if n := r.settled(); n != 0 {
			t.Errorf("it began anew: %d entries", n)
		}
	}
}

// An erasure that began below the level keeps its original extent. It does not remove what it did
// not announce, even if the level rises meanwhile.
func TestAnErasureThatBeganBelowTheLevelLeavesConversations(t *testing.T) {
	r := newSubject(t)
	r.raise(txn.FoundLevel - 1)
	r.sessionsOf("a", 150)
	r.talks("a", 3, 2)
	if erased := do[*agent.Erasure](r, &agent.EraseAgent{Agent: "a"}); erased.Complete() || erased.Conversations != nil {
		t.Fatalf("erased: %+v", erased)
	}
	r.raise(txn.FoundLevel)
	read[*agent.SavedConversation](r, &agent.GetConversation{ConversationRef: conv("a-00001")})
	do[*agent.ConversationResult](r, &agent.SetInterrupted{ConversationRef: conv("a-00001")})
	r.settled()
	if got := read[*agent.Erasure](r, &agent.GetErasure{Agent: "a"}); !got.Complete() || got.Sessions != 150 || got.Conversations != nil {
		t.Fatalf("the receipt says %+v", got)
	}
	if n := r.conversationsOf("a"); n != 3 {
		t.Fatalf("%d conversations are left", n)
	}
	// A second erasure removes them, with a receipt of its own.
	if again := do[*agent.Erasure](r, &agent.EraseAgent{Agent: "a"}); !again.Complete() || again.Sessions != 0 || *again.Conversations != 3 {
		t.Fatalf("erased again: %+v", again)
	}
	if n := r.leftovers(); n != 0 {
		t.Fatalf("%d rows are left", n)
	}
}

// A receipt from below the level is not returned for an erasure above it that finds no
// conversations.
func TestAReceiptFromBelowTheLevelIsNotTheOneOfAnErasureAboveIt(t *testing.T) {
	r := newSubject(t)
	r.whole("a")
	old := do[*agent.Erasure](r, &agent.EraseAgent{Agent: "a"})
	r.raise(txn.FoundLevel)
	r.settled()
	now := do[*agent.Erasure](r, &agent.EraseAgent{Agent: "a"})
	if old.Conversations != nil || now.Conversations == nil || *now.Conversations != 0 || now.Index == old.Index || !now.Complete() {
		t.Fatalf("the receipts say %+v and %+v", old, now)
	}
}

// If the backfill has not found all conversations of an agent, they are hidden all the same, and
// the receipt is not complete.
func TestAnErasureWaitsUntilConversationsAreFound(t *testing.T) {
	r := newSubject(t)
	r.raise(txn.FoundLevel - 1)
	const before = 5 * agent.ConversationsFoundMax
	r.talks("a", before, 0)
	r.talks("z", 1, 0)
	r.raise(txn.FoundLevel)
	erased := do[*agent.Erasure](r, &agent.EraseAgent{Agent: "a"})
	if erased.Complete() || *erased.Conversations != 0 {
		t.Fatalf("erased at once: %+v", erased)
	}
	last := conv(fmt.Sprintf("a-%05d", before-1))
	r.missing(agent.CodeNotFound, &agent.GetConversation{ConversationRef: last})
	r.missing(agent.CodeNotFound, &agent.ListMessages{ConversationRef: last})
	if list := read[*agent.ConversationList](r, &agent.ListConversations{}); len(list.Items) != 1 || list.Items[0].ID != "z-00000" {
		t.Fatalf("%+v are listed", list.Items)
	}
	// The id can be reused at once, and the new conversation stays.
	anew := do[*agent.ConversationResult](r, &agent.PendMessage{ConversationRef: agent.ConversationRef{ID: last.ID, Agent: "a"}, Message: agent.JSON(`{}`)})
	if anew.Conversation.PendingCount != 1 {
		t.Fatalf("made anew: %+v", anew.Conversation)
	}
	none := do[*agent.Erasure](r, &agent.EraseAgent{Agent: "never there"})
	if none.Complete() {
		t.Fatalf("nobody can know that it has none: %+v", none)
	}
	r.settled()
	if got := read[*agent.Erasure](r, &agent.GetErasure{Agent: "a"}); !got.Complete() || *got.Conversations != before {
		t.Fatalf("the receipt says %+v", got)
	}
	if got := read[*agent.Erasure](r, &agent.GetErasure{Agent: "never there"}); !got.Complete() || *got.Conversations != 0 {
		t.Fatalf("the receipt says %+v", got)
	}
	if n := r.conversationsOf("a"); n != 1 {
		t.Fatalf("%d conversations are left", n)
	}
}

// Conversations that are assigned to an agent after its erasure stay, even if they were created
// before and the removal is still going on.
func TestAConversationThatIsNamedToAnAgentWhileItIsErasedStays(t *testing.T) {
	r := newSubject(t)
	r.record()
	r.settled()
	fill(r, "nobody's")
	r.talks("a", 300, 1)
	erased := do[*agent.Erasure](r, &agent.EraseAgent{Agent: "a"})
	if erased.Complete() {
		t.Fatal("erased at once")
	}
	for range 2 { // as the write that assigns it, and as one after it
		do[*agent.ConversationResult](r, &agent.SetInterrupted{ConversationRef: agent.ConversationRef{ID: "nobody's", Agent: "a"}})
	}
	r.settled()
	if got := read[*agent.Erasure](r, &agent.GetErasure{Agent: "a"}); !got.Complete() || *got.Conversations != 300 {
		t.Fatalf("the receipt says %+v", got)
	}
	if c := read[*agent.SavedConversation](r, &agent.GetConversation{ConversationRef: conv("nobody's")}); c.Agent != "a" || c.MessageCount != 2 {
		t.Fatalf("what was named to it: %+v", c)
	}
	if n := r.conversationsOf("a"); n != 1 {
		t.Fatalf("%d conversations are listed", n)
	}
}

// With any number of conversations and messages, an entry removes about EraseRowsMax rows, and none
// stays in the end.
func TestConversationsOfAnErasedAgentAreClearedAwayAPieceAtATime(t *testing.T) {
	const conversations, messages = 100, 100
	r := newSubject(t)
	r.record()
	r.settled()
	for i := range conversations {
		ref := agent.ConversationRef{ID: fmt.Sprint("c", i), Agent: "a", Owner: "o"}
		drafts := make([]agent.MessageDraft, messages)
		for i := range drafts {
			drafts[i] = agent.MessageDraft{ID: fmt.Sprint("m", i), Role: agent.RoleUser}
		}
		do[*agent.ConversationResult](r, &agent.SaveMessages{ConversationRef: ref, Messages: drafts})
	}
	do[*agent.Erasure](r, &agent.EraseAgent{Agent: "a"})
	entries := 1
	for before := r.leftovers(); before > 0; entries++ {
		r.pass()
		now := r.leftovers()
		if before-now > 2*agent.EraseRowsMax || before == now {
			t.Fatalf("an entry removed %d rows", before-now)
		}
		before = now
	}
	if entries < conversations*messages/agent.EraseRowsMax {
		t.Fatalf("it took %d entries", entries)
	}
	if got := read[*agent.Erasure](r, &agent.GetErasure{Agent: "a"}); !got.Complete() || *got.Conversations != conversations {
		t.Fatalf("the receipt says %+v", got)
	}
	if s := scopeOf(r); s.Keys != 0 || s.Bytes != 0 {
		t.Fatalf("the scope counts %+v", s)
	}
}
