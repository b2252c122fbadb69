package agenttest

import (
	"fmt"
	"time"

	"dormouse/agent"
)

// sleeper creates an agent with a checkpoint of three revisions, a thread that is
// longer than the pointer, memories, and a session.
func (k *kit) sleeper(name, thread, session string) {
	k.Helper()
	k.appendTo(thread, messages("m", 0, 4)...)
	k.commit(
		&agent.PutCheckpoint{Key: name, State: agent.JSON(`{"at":1}`), Thread: &agent.Pointer{Thread: thread, Rev: 1}, Version: 7, Lifecycle: "idle"},
		&agent.PutCheckpoint{Key: name, State: agent.JSON(`{"at":2}`), Thread: &agent.Pointer{Thread: thread, Rev: 2}, Metadata: agent.JSON(`{"k":"v"}`)},
		&agent.PutCheckpoint{Key: name, State: agent.JSON(`{"at":3}`), Thread: &agent.Pointer{Thread: thread, Rev: 3}},
		&agent.WriteMemory{Agent: name, ID: "x", Session: session, Content: "tea is green", Tags: []string{"tea"}, ObservedAt: ptr(int64(5))},
		&agent.WriteMemory{Agent: name, ID: "y", Content: "coffee is black"},
		&agent.PutSession{Session: session, Agent: name, SessionSettings: agent.SessionSettings{Thread: thread, Checkpoint: name}, Spec: agent.JSON(`{"s":1}`)},
	)
}

// memories returns the ids of an agent's memories about "green", in recall order.
func (k *kit) memories(name string) (ids []string) {
	k.Helper()
	for _, hit := range find[*agent.Recalled](k, &agent.Recall{Agent: name, Mode: agent.ModeText, Within: agent.WithinAll, Query: "green"}).Items {
		ids = append(ids, hit.Memory.ID)
	}
	return ids
}

// talk creates a conversation of an agent, with a state, a saved message and a pending
// one.
func (k *kit) talk(id, name string) {
	k.Helper()
	ref := agent.ConversationRef{ID: id, Agent: name, Owner: "owner of " + id}
	k.commit(&agent.SaveConversation{ConversationRef: ref, Lifecycle: agent.LifecycleInterrupt, State: blob("1")},
		&agent.SaveMessages{ConversationRef: ref, Messages: []agent.MessageDraft{{Role: agent.RoleUser}}},
		&agent.PendMessage{ConversationRef: ref, Message: agent.JSON(`{}`)})
}

// erases waits until the cluster has its index of conversations by agent, so that an
// erasure includes them.
func (k *kit) erases() { k.listed(agent.ListConversations{Agent: "a"}) }

// erase erases an agent and waits until the receipt is complete.
func (k *kit) erase(op *agent.EraseAgent) *agent.Erasure {
	k.Helper()
	receipt := apply[*agent.Erasure](k, op)
	for !receipt.Complete() {
		receipt = find[*agent.Erasure](k, &agent.GetErasure{Agent: op.Agent})
	}
	return receipt
}

var agentForkClaims = []claim{
	{"thaw_at_a_revision_gives_the_thread_as_it_was_then", func(k *kit) {
		k.sleeper("a", "t", "s")
		for revision := uint64(1); revision <= 3; revision++ {
			thawed := find[*agent.Thawed](k, &agent.Thaw{Key: "a", Revision: revision})
			k.equal("state", string(thawed.Checkpoint.State), fmt.Sprintf(`{"at":%d}`, revision))
			k.equal("rev, entries, ahead", []any{thawed.Thread.Rev, len(thawed.Entries), thawed.Ahead}, []any{revision, int(revision), 4 - revision})
			k.equal("head", thawed.Thread.Head, chain(thawed.Entries...))
		}
	}},

	{"a_revision_that_is_not_kept_is_not_found_and_names_those_that_are", func(k *kit) {
		k.commit(&agent.PutScope{Policy: agent.Policy{History: 2}})
		k.sleeper("a", "t", "s")
		for _, revision := range []uint64{1, 4} {
			e := k.lacks(agent.CodeNotFound, &agent.Thaw{Key: "a", Revision: revision})
			k.equal("newest and oldest kept", []uint64{e.Revision, e.Floor}, []uint64{3, 2})
		}
		e := k.refuse(agent.CodeNotFound, 0, &agent.ForkAgent{Agent: "a", NewAgent: "b", Revision: 1})
		k.equal("of a fork", []uint64{e.Revision, e.Floor}, []uint64{3, 2})
	}},

	{"a_fork_of_an_agent_is_all_of_it_at_one_index", func(k *kit) {
		k.sleeper("a", "t", "s")
		forked := apply[*agent.ForkedAgent](k, &agent.ForkAgent{Agent: "a", NewAgent: "b", NewThread: "u", Revision: 2, Session: "s", NewSession: "r"})
		k.equal("answered", []any{forked.Checkpoint.Key, forked.Checkpoint.Revision, forked.Thread.ID, forked.Thread.Rev, forked.Session.ID, forked.Session.Agent, forked.Memories},
			[]any{"b", uint64(1), "u", uint64(2), "r", "b", uint64(2)})

		thawed := find[*agent.Thawed](k, &agent.Thaw{Key: "b"})
		k.equal("state", []any{string(thawed.Checkpoint.State), string(thawed.Checkpoint.Metadata)}, []any{`{"at":2}`, `{"k":"v"}`})
		k.equal("pointer", thawed.Checkpoint.Thread, &agent.Pointer{
			Thread: "u", Rev: 2, Head: chain(k.entries("t")[:2]...).String(), Incarnation: forked.Thread.Incarnation,
		})
		k.equal("entries", thawed.Entries, k.entries("t")[:2])
		k.equal("forked from", thawed.Thread.ForkedFrom.Thread, "t")

		was, is := find[*agent.Memory](k, &agent.GetMemory{Agent: "a", ID: "x"}), find[*agent.Memory](k, &agent.GetMemory{Agent: "b", ID: "x"})
		k.equal("memory", []any{is.Content, is.Tags, is.ObservedAt, is.Session, is.Revision}, []any{was.Content, was.Tags, was.ObservedAt, "r", uint64(1)})
		k.equal("recalled", k.memories("b"), []string{"x"})
		session := find[*agent.Session](k, &agent.GetSession{Session: "r"})
		k.equal("session", []any{session.Agent, session.Thread, session.Checkpoint, session.Lineage.Session, string(session.Spec)}, []any{"b", "u", "b", "s", `{"s":1}`})

		k.appendTo("u", messages("u", 2, 1)...)
		k.commit(&agent.WriteMemory{Agent: "b", ID: "x", Content: "tea is red"}, &agent.PutCheckpoint{Key: "b", State: agent.JSON(`{"at":9}`)})
		k.equal("the source", []any{ids(k.entries("t")), k.memories("a"), find[*agent.Checkpoint](k, &agent.GetCheckpoint{Key: "a"}).Revision}, []any{"m0 m1 m2 m3", []string{"x"}, uint64(3)})
	}},

	{"an_agent_forks_without_what_it_lacks", func(k *kit) {
		k.commit(&agent.PutCheckpoint{Key: "a", State: agent.JSON(`{}`)}, &agent.WriteMemory{Agent: "a", ID: "x", Content: "tea"})
		forked := apply[*agent.ForkedAgent](k, &agent.ForkAgent{Agent: "a", NewAgent: "b", WithoutMemory: true})
		k.equal("no thread, session or memories", []any{forked.Thread == nil, forked.Session == nil, forked.Memories}, []any{true, true, uint64(0)})
		k.lacks(agent.CodeNotFound, &agent.GetMemory{Agent: "b", ID: "x"})
	}},

	{"forks_of_agents_that_cannot_be_leave_nothing_behind", func(k *kit) {
		k.sleeper("a", "t", "s")
		k.refuse(agent.CodeNotFound, 0, &agent.ForkAgent{Agent: "z", NewAgent: "b"})
		k.refuse(agent.CodeRevisionMismatch, 0, &agent.ForkAgent{Agent: "a", NewAgent: "b", IfRevision: ptr(uint64(2))})
		k.refuse(agent.CodeDeleted, 0, &agent.ForkAgent{Agent: "a", NewAgent: "b", IfIncarnation: 1 << 60})
		k.commit(&agent.PutCheckpoint{Key: "k", State: agent.JSON(`{}`)}, &agent.WriteMemory{Agent: "m", ID: "x", Content: "x"},
			&agent.AppendThread{Thread: "taken"}, &agent.PutSession{Session: "q", Agent: "q"})
		k.refuse(agent.CodeAlreadyExists, 0, &agent.ForkAgent{Agent: "a", NewAgent: "k"})
		k.refuse(agent.CodeAlreadyExists, 0, &agent.ForkAgent{Agent: "a", NewAgent: "m"})
		k.refuse(agent.CodeAlreadyExists, 0, &agent.ForkAgent{Agent: "a", NewAgent: "b", NewThread: "taken"})
		k.refuse(agent.CodeAlreadyExists, 0, &agent.ForkAgent{Agent: "a", NewAgent: "b", Session: "s", NewSession: "q"})
		k.refuse(agent.CodeInvalid, 0, &agent.ForkAgent{Agent: "a", NewAgent: "b", Session: "q", NewSession: "r"})
		k.refuse(agent.CodeNotFound, 0, &agent.ForkAgent{Agent: "a", NewAgent: "b", Session: "z", NewSession: "r"})
		k.lease("o", "req")
		k.refuse(agent.CodeSessionAlreadyRunning, 0, &agent.ForkAgent{Agent: "a", NewAgent: "b", Session: "s", NewSession: "r"})
		k.commit(&agent.DeleteThread{Thread: "t"})
		k.refuse(agent.CodeMissingThread, 0, &agent.ForkAgent{Agent: "a", NewAgent: "b"})
		for _, q := range []agent.Read{
			&agent.GetCheckpoint{Key: "b"}, &agent.GetThread{Thread: "b"}, &agent.GetSession{Session: "r"}, &agent.GetMemory{Agent: "b", ID: "x"},
		} {
			k.lacks(agent.CodeNotFound, q)
		}
		k.refuseInvalid(agent.CodeInvalid, 0, "new_agent", &agent.ForkAgent{Agent: "a", NewAgent: "a"})
		k.refuseInvalid(agent.CodeInvalid, 0, "new_session", &agent.ForkAgent{Agent: "a", NewAgent: "b", Session: "s"})
		k.refuseInvalid(agent.CodeInvalid, 0, "new_session", &agent.ForkAgent{Agent: "a", NewAgent: "b", Session: "s", NewSession: "s"})
	}},

	{"a_prune_that_would_orphan_a_fork_is_refused", func(k *kit) {
		k.sleeper("a", "t", "s")
		k.commit(&agent.ForkAgent{Agent: "a", NewAgent: "b", Revision: 2})
		k.commit(&agent.DeleteCheckpoint{Key: "a"})
		k.refuse(agent.CodeConflict, 0, &agent.CompactThread{Thread: "t", BeforeSeq: 4})
		k.equal("the fork", len(find[*agent.Thawed](k, &agent.Thaw{Key: "b"}).Entries), 2)
		k.erase(&agent.EraseAgent{Agent: "b"})
		k.commit(&agent.CompactThread{Thread: "t", BeforeSeq: 4})
	}},
}

var eraseClaims = []claim{
	{"an_erased_agent_is_nowhere", func(k *kit) {
		k.erases()
		k.sleeper("a", "t", "s")
		lease := k.lease("o", "req")
		k.commit(checkpoint(lease, "n", agent.ReviewDraft{ID: "v", InterruptID: "i"}))
		k.talk("c", "a")
		result := k.commit(&agent.EraseAgent{Agent: "a"})
		receipt := resultOf[*agent.Erasure](k, result, 0)
		k.equal("receipt", []any{receipt.Agent, receipt.Index, receipt.ErasedAt, receipt.Complete(), receipt.Hash == agent.Head{}},
			[]any{"a", result.Index, result.Time, true, false})
		k.equal("counts", []uint64{
			receipt.Checkpoints, receipt.Revisions, receipt.Threads, receipt.Entries, receipt.Memories, receipt.Sessions, receipt.Reviews, receipt.Claims, receipt.Kept,
			*receipt.Conversations,
		}, []uint64{1, 3, 1, 4, 2, 1, 1, 1, 0, 1})
		k.equal("read again", find[*agent.Erasure](k, &agent.GetErasure{Agent: "a"}), receipt)
		for _, q := range []agent.Read{
			&agent.GetCheckpoint{Key: "a"}, &agent.GetCheckpoint{Key: "a", Revision: 1}, &agent.CheckpointHistory{Key: "a"}, &agent.Thaw{Key: "a"},
			&agent.GetThread{Thread: "t"}, &agent.GetMemory{Agent: "a", ID: "x"}, &agent.GetSession{Session: "s"}, &agent.GetReview{Review: "v"},
			&agent.GetClaim{Claim: agent.SessionClaim("s")}, &agent.GetConversation{ConversationRef: dialogue("c")},
			&agent.ListMessages{ConversationRef: dialogue("c")},
		} {
			k.lacks(agent.CodeNotFound, q)
		}
		for _, list := range []agent.ListConversations{{}, {Agent: "a"}, {Owner: "owner of c"}, {Interrupted: true}} {
			k.equal("conversations", k.listed(list), "")
		}
		k.equal("recalled", len(k.memories("a")), 0)
		k.equal("sessions", len(k.sessions(agent.ListSessions{Agent: "a"})), 0)
		k.equal("reviews", len(k.reviews(agent.ListReviews{})), 0)
		_, err := k.send(agent.Commit{Fence: &agent.Fence{Claim: agent.SessionClaim("s"), Epoch: lease.Epoch}, Ops: []agent.Op{&agent.PutValue{Key: "late"}}})
		k.failure(agent.CodeFenced, err)
		scope := find[*agent.Scope](k, &agent.GetScope{})
		k.equal("what the scope counts", []uint64{scope.Keys, scope.Bytes}, []uint64{0, 0})
	}},

	{"conversations_are_erased_with_their_agent_and_no_others", func(k *kit) {
		k.erases()
		for _, id := range []string{"c1", "c2", "c3"} {
			k.talk(id, "a")
		}
		k.talk("d", "b")
		k.talk("unowned", "")
		k.commit(&agent.DeleteConversation{ConversationRef: dialogue("c3")})
		receipt := k.erase(&agent.EraseAgent{Agent: "a"})
		k.equal("counts", []uint64{*receipt.Conversations, receipt.Checkpoints, receipt.Sessions, receipt.Kept}, []uint64{2, 0, 0, 0})
		k.equal("left", k.listed(agent.ListConversations{}), "d unowned")
		k.equal("read again", find[*agent.Erasure](k, &agent.GetErasure{Agent: "a"}), receipt)

		k.talk("c1", "a") // a new conversation, without the messages of the erased one
		k.equal("messages", find[*agent.MessageList](k, &agent.ListMessages{ConversationRef: dialogue("c1")}).Conversation.MessageCount, uint64(1))
		k.equal("created again", k.listed(agent.ListConversations{Agent: "a"}), "c1")
		k.equal("erased again", *k.erase(&agent.EraseAgent{Agent: "a"}).Conversations, uint64(1))
	}},

	{"conversations_stay_with_the_source_of_a_fork", func(k *kit) {
		k.erases()
		k.sleeper("a", "t", "s")
		k.talk("c", "a")
		k.commit(&agent.ForkAgent{Agent: "a", NewAgent: "b", NewThread: "u"})
		k.equal("of source and fork", []string{k.listed(agent.ListConversations{Agent: "a"}), k.listed(agent.ListConversations{Agent: "b"})}, []string{"c", ""})
		k.erase(&agent.EraseAgent{Agent: "b"})
		k.equal("still there", k.listed(agent.ListConversations{Agent: "a"}), "c")
	}},

	{"the_hash_of_a_receipt_is_of_what_was_removed", func(k *kit) {
		k.erases()
		k.sleeper("a", "t", "s")
		k.talk("c", "a")
		talk := find[*agent.SavedConversation](k, &agent.GetConversation{ConversationRef: dialogue("c")})
		at := find[*agent.Checkpoint](k, &agent.GetCheckpoint{Key: "a"})
		thread, session := k.thread("t"), find[*agent.Session](k, &agent.GetSession{Session: "s"})
		k.commit(&agent.DeleteMemory{Agent: "a", ID: "x"}, &agent.DeleteMemory{Agent: "a", ID: "y"})
		receipt := apply[*agent.Erasure](k, &agent.EraseAgent{Agent: "a"})
		want := agent.WitnessErasure(k.scope, "a", receipt.Index, receipt.ErasedAt).
			Witness("checkpoint", "a", at.Incarnation, 3, 3).
			Witness("thread", "t", thread.Incarnation, 4, 0).Witness("head", thread.Head.String()).
			Witness("session", "s", session.Incarnation, session.Revision, 0).
			Witness("conversation", "c", talk.Incarnation, talk.Revision, talk.MessageCount)
		k.equal("hash", receipt.Hash, want)
	}},

	{"an_erasure_is_conditional_and_idempotent", func(k *kit) {
		k.erases()
		k.sleeper("a", "t", "s")
		e := k.refuse(agent.CodeRevisionMismatch, 0, &agent.EraseAgent{Agent: "a", IfRevision: ptr(uint64(2))})
		k.equal("revision told", e.Revision, uint64(3))
		k.refuse(agent.CodeDeleted, 0, &agent.EraseAgent{Agent: "a", IfIncarnation: 1 << 60})
		k.equal("still there", find[*agent.Checkpoint](k, &agent.GetCheckpoint{Key: "a"}).Revision, uint64(3))
		receipt := apply[*agent.Erasure](k, &agent.EraseAgent{Agent: "a", IfRevision: ptr(uint64(3))})
		k.equal("again", apply[*agent.Erasure](k, &agent.EraseAgent{Agent: "a"}), receipt)
		never := apply[*agent.Erasure](k, &agent.EraseAgent{Agent: "never there"})
		k.equal("of nothing", []any{never.Complete(), never.Checkpoints + never.Sessions + never.Memories + never.Threads}, []any{true, uint64(0)})
		k.lacks(agent.CodeNotFound, &agent.GetErasure{Agent: "never erased"})
	}},

	{"an_erased_agent_can_be_created_again_unless_it_is_sealed", func(k *kit) {
		k.erases()
		k.talk("other's", "")
		k.sleeper("a", "t", "s")
		k.erase(&agent.EraseAgent{Agent: "a"})
		k.sleeper("a", "t", "s")
		k.talk("c", "a")
		k.equal("a new life", find[*agent.Checkpoint](k, &agent.GetCheckpoint{Key: "a"}).Revision, uint64(3))
		sealed := k.erase(&agent.EraseAgent{Agent: "a", Seal: time.Hour})
		k.equal("sealed", sealed.SealedUntil > sealed.ErasedAt, true)
		for _, op := range []agent.Op{
			&agent.PutCheckpoint{Key: "a", State: agent.JSON(`{}`)}, &agent.WriteMemory{Agent: "a", ID: "x", Content: "late"},
			&agent.PutSession{Session: "other", Agent: "a"}, &agent.PutSession{Session: "s", Agent: "b"}, &agent.AppendThread{Thread: "t"},
			&agent.PendMessage{ConversationRef: dialogue("c"), Message: agent.JSON(`{}`)},
			&agent.PendMessage{ConversationRef: agent.ConversationRef{ID: "new", Agent: "a"}, Message: agent.JSON(`{}`)},
			&agent.SetInterrupted{ConversationRef: agent.ConversationRef{ID: "other's", Agent: "a"}},
		} {
			k.refuse(agent.CodeDeleted, 0, op)
		}
		k.sleeper("b", "u", "r")
		k.refuse(agent.CodeDeleted, 0, &agent.ForkAgent{Agent: "b", NewAgent: "a"})
	}},

	{"an_erasure_leaves_forks_and_what_others_use", func(k *kit) {
		k.sleeper("a", "t", "s")
		k.commit(&agent.ForkAgent{Agent: "a", NewAgent: "fork", NewThread: "u"})
		before := find[*agent.Thawed](k, &agent.Thaw{Key: "fork"})
		k.commit(pointTo("other", agent.Pointer{Thread: "t", Rev: 1}), &agent.PutSession{Session: "theirs", Agent: "other", SessionSettings: agent.SessionSettings{Thread: "t"}})
		receipt := k.erase(&agent.EraseAgent{Agent: "a"})
		k.equal("kept", []uint64{receipt.Kept, receipt.Threads}, []uint64{2, 0}) // counted as the checkpoint's thread and as the session's
		k.equal("other", len(find[*agent.Thawed](k, &agent.Thaw{Key: "other"}).Entries), 1)
		k.erase(&agent.EraseAgent{Agent: "other"})
		k.lacks(agent.CodeNotFound, &agent.GetThread{Thread: "t"})
		k.equal("fork", find[*agent.Thawed](k, &agent.Thaw{Key: "fork"}), before)
		k.equal("its memories", k.memories("fork"), []string{"x"})
	}},

	{"the_threads_and_checkpoints_of_sessions_go_with_their_agent", func(k *kit) {
		k.appendTo("chat", messages("m", 0, 1)...)
		k.sleeper("b", "t of b", "s of b")
		k.commit(&agent.PutCheckpoint{Key: "state of s", State: agent.JSON(`{}`)},
			&agent.PutSession{Session: "s", Agent: "a", SessionSettings: agent.SessionSettings{Thread: "chat", Checkpoint: "state of s"}},
			&agent.PutSession{Session: "s2", Agent: "a", SessionSettings: agent.SessionSettings{Checkpoint: "b"}})
		receipt := k.erase(&agent.EraseAgent{Agent: "a"})
		k.equal("counts", []uint64{receipt.Checkpoints, receipt.Threads, receipt.Sessions, receipt.Kept}, []uint64{1, 1, 2, 1})
		k.lacks(agent.CodeNotFound, &agent.GetThread{Thread: "chat"})
		k.lacks(agent.CodeNotFound, &agent.GetCheckpoint{Key: "state of s"})
		k.equal("another agent's", len(find[*agent.Thawed](k, &agent.Thaw{Key: "b"}).Entries), 3)
	}},
}

var ttlClaims = []claim{
	{"a_conversations_ttl_is_told_and_taken_back", func(k *kit) {
		k.refuse(agent.CodeNotFound, 0, &agent.SetTTL{Conversation: "c", TTL: time.Hour})
		k.saveState("c", 0, agent.LifecycleInterrupt, blob("1"))
		result := k.commit(&agent.SetTTL{Conversation: "c", TTL: time.Hour})
		row := resultOf[*agent.ConversationResult](k, result, 0).Conversation
		k.equal("told", []int64{row.ExpiresAt, k.dialogue().ExpiresAt}, []int64{result.Time + 3600e3, result.Time + 3600e3})
		k.equal("a save leaves it", k.saveState("c", 1, agent.LifecycleInterrupt, blob("2")).ExpiresAt, row.ExpiresAt)
		k.refuse(agent.CodeDeleted, 0, &agent.SetTTL{Conversation: "c", IfIncarnation: 1 << 60})
		k.commit(&agent.SetTTL{Conversation: "c"})
		k.equal("taken back", k.dialogue().ExpiresAt, int64(0))
	}},
	{"a_ttl_is_told_and_taken_back", func(k *kit) {
		k.sleeper("a", "t", "s")
		result := k.commit(&agent.SetTTL{Thread: "t", TTL: time.Hour}, &agent.SetTTL{Session: "s", TTL: time.Minute})
		k.equal("thread", []int64{resultOf[*agent.ThreadResult](k, result, 0).Thread.ExpiresAt, k.thread("t").ExpiresAt}, []int64{result.Time + 3600e3, result.Time + 3600e3})
		k.equal("session", []int64{resultOf[*agent.SessionResult](k, result, 1).Session.ExpiresAt, k.stored().ExpiresAt}, []int64{result.Time + 60e3, result.Time + 60e3})
		k.appendTo("t", messages("m", 4, 1)...)
		k.equal("an append leaves it", k.thread("t").ExpiresAt, result.Time+3600e3)
		k.commit(&agent.SetTTL{Thread: "t"}, &agent.SetTTL{Session: "s"})
		k.equal("taken back", []int64{k.thread("t").ExpiresAt, k.stored().ExpiresAt}, []int64{0, 0})
		k.refuse(agent.CodeNotFound, 0, &agent.SetTTL{Thread: "z", TTL: time.Hour})
		k.refuse(agent.CodeNotFound, 0, &agent.SetTTL{Session: "z", TTL: time.Hour})
		k.refuse(agent.CodeDeleted, 0, &agent.SetTTL{Thread: "t", IfIncarnation: 1 << 60})
		k.refuseInvalid(agent.CodeInvalid, 0, "thread", &agent.SetTTL{TTL: time.Hour})
		k.refuseInvalid(agent.CodeInvalid, 0, "thread", &agent.SetTTL{Conversation: "t", Session: "s"})
		k.refuseInvalid(agent.CodeInvalid, 0, "thread", &agent.SetTTL{Thread: "t", Session: "s"})
		k.refuseInvalid(agent.CodeInvalid, 0, "ttl", &agent.SetTTL{Thread: "t", TTL: agent.TTLMax + time.Millisecond})
	}},
}
