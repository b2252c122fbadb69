package agenttest

import (
	"context"
	"fmt"
	"strings"
	"time"

	"dormouse/agent"
)

// blob returns a state in the format of Sagents.
func blob(text string) agent.JSON {
	return agent.JSON(fmt.Sprintf(`{"version":2,"state":{"messages":[%q],"todos":[]},"serialized_at":"2026-11-22T06:00:00Z"}`, text))
}

func dialogue(id string) agent.ConversationRef { return agent.ConversationRef{ID: id} }

// saveState saves a state over the given revision.
func (k *kit) saveState(id string, revision uint64, lifecycle agent.Lifecycle, state agent.JSON) agent.ConversationRow {
	k.Helper()
	return apply[*agent.ConversationResult](k, &agent.SaveConversation{
		ConversationRef: dialogue(id), Revision: revision, Lifecycle: lifecycle, State: state,
	}).Conversation
}

// dialogue returns conversation c.
func (k *kit) dialogue() *agent.SavedConversation {
	k.Helper()
	return find[*agent.SavedConversation](k, &agent.GetConversation{ConversationRef: dialogue("c")})
}

// interrupted returns the ids of the conversations that wait for a person.
func (k *kit) interrupted() string {
	k.Helper()
	var ids []string
	for _, row := range find[*agent.ConversationList](k, &agent.ListConversations{Interrupted: true}).Items {
		ids = append(ids, row.ID)
	}
	return strings.Join(ids, " ")
}

// listed returns the ids of the conversations of a list. It retries while a new
// cluster cannot list by agent or owner yet.
func (k *kit) listed(list agent.ListConversations) string {
	k.Helper()
	var found agent.Answer
	if err := k.onceAble(func() error {
		answers, err := k.service.Read(k.ctx, agent.Reads{Scope: k.scope, Reads: []agent.Read{&list}})
		if err != nil {
			return err
		}
		if found = answers.Answers[0]; found.Err != nil {
			return found.Err
		}
		return nil
	}); err != nil {
		k.Fatalf("list: %v", err)
	}
	rows, ok := found.Found.(*agent.ConversationList)
	if !ok {
		k.Fatalf("a list of conversations is a %T", found.Found)
	}
	var ids []string
	for _, row := range rows.Items {
		ids = append(ids, row.ID)
	}
	return strings.Join(ids, " ")
}

var conversationClaims = []claim{
	{"SG-1_a_state_is_loaded_as_it_was_saved", func(k *kit) {
		k.lacks(agent.CodeNotFound, &agent.GetConversation{ConversationRef: dialogue("c")})
		state := agent.JSON(`{ "version": 2, "state": {"z":18446744073709551615, "a":[1.0]}, "serialized_at":"then" }`)
		result := k.commit(&agent.SaveConversation{
			ConversationRef: agent.ConversationRef{ID: "c", Agent: "a", Owner: "u"},
			Lifecycle:       agent.LifecycleTitleGenerated, State: state, Title: "Tea – 茶",
		})
		saved := resultOf[*agent.ConversationResult](k, result, 0).Conversation
		want := agent.SavedConversation{
			ConversationRow: agent.ConversationRow{
				ID: "c", Incarnation: saved.Incarnation, Revision: 1, Agent: "a", Owner: "u", Lifecycle: agent.LifecycleTitleGenerated,
				Version: 2, Title: "Tea – 茶", CreatedAt: result.Time, UpdatedAt: result.Time, SavedAt: result.Time,
			},
			State: agent.JSON(`{"version":2,"state":{"z":18446744073709551615,"a":[1.0]},"serialized_at":"then"}`),
		}
		k.equal("result", saved, want.ConversationRow)
		k.equal("conversation", k.dialogue(), &want)
		k.equal("list", find[*agent.ConversationList](k, &agent.ListConversations{}).Items, []agent.ConversationRow{want.ConversationRow})
		again := k.saveState("c", 1, agent.LifecycleCompletion, blob("on"))
		if again.Revision != 2 || again.Title != "Tea – 茶" || again.Owner != "u" || again.CreatedAt != result.Time {
			k.Fatalf("saved again: %+v", again)
		}
	}},

	{"SG-2_another_scope_has_none_of_it", func(k *kit) {
		other := k.in(newName("scope"))
		k.saveState("c", 0, agent.LifecycleInterrupt, blob("mine"))
		k.commit(&agent.SaveMessages{ConversationRef: dialogue("c"), Messages: []agent.MessageDraft{{Role: agent.RoleUser}}})
		k.commit(&agent.PutValue{Key: fileKey("/notes.md"), Bytes: []byte("mine")})
		other.lacks(agent.CodeNotFound, &agent.GetConversation{ConversationRef: dialogue("c")})
		other.lacks(agent.CodeNotFound, &agent.ListMessages{ConversationRef: dialogue("c")})
		other.lacks(agent.CodeNotFound, &agent.GetValue{Key: fileKey("/notes.md")})
		k.equal("listed", other.interrupted(), "")
		other.saveState("c", 0, agent.LifecycleCompletion, blob("theirs"))
		k.equal("state", k.dialogue().State, blob("mine"))
	}},

	{"conversations_are_listed_by_agent_and_by_owner", func(k *kit) {
		lists := func(agentID, owner string) []string {
			return []string{k.listed(agent.ListConversations{Agent: agentID}), k.listed(agent.ListConversations{Owner: owner})}
		}
		for _, ref := range []agent.ConversationRef{
			{ID: "d", Agent: "a", Owner: "u"}, {ID: "c", Agent: "a", Owner: "v"}, {ID: "b", Agent: "b", Owner: "u"}, {ID: "a"},
		} {
			k.commit(&agent.PendMessage{ConversationRef: ref, Message: agent.JSON(`{}`)})
		}
		k.equal("of a, for u", lists("a", "u"), []string{"c d", "b d"})
		k.equal("of none", lists("z", "z"), []string{"", ""})
		k.equal("elsewhere", k.in(newName("scope")).listed(agent.ListConversations{Agent: "a"}), "")

		// Any write may be the first one with an agent or an owner.
		k.saveState("a", 0, agent.LifecycleCompletion, blob("1"))
		k.equal("without agent and owner yet", lists("a", "u"), []string{"c d", "b d"})
		k.commit(&agent.SetInterrupted{ConversationRef: agent.ConversationRef{ID: "a", Agent: "a"}})
		k.equal("named to an agent", lists("a", "u"), []string{"a c d", "b d"})
		k.commit(&agent.SaveMessages{ConversationRef: agent.ConversationRef{ID: "a", Owner: "u"}, Messages: []agent.MessageDraft{{ID: "m", Role: agent.RoleUser}}})
		k.equal("named to an owner", lists("a", "u"), []string{"a c d", "a b d"})
		k.commit(&agent.UpdateMessage{ConversationRef: agent.ConversationRef{ID: "a", Agent: "a", Owner: "u"}, Message: "m", Status: agent.ToolFailed})
		k.equal("named again", lists("a", "u"), []string{"a c d", "a b d"})

		k.commit(&agent.DeleteConversation{ConversationRef: dialogue("d")})
		k.equal("without d", lists("a", "u"), []string{"a c", "a b"})
		k.commit(&agent.PendMessage{ConversationRef: agent.ConversationRef{ID: "d", Agent: "b"}, Message: agent.JSON(`{}`)})
		k.equal("another's d", lists("b", "u"), []string{"b d", "a b"})
	}},

	{"a_list_of_an_agents_conversations_is_paged", func(k *kit) {
		for _, id := range []string{"x1", "c1", "c2", "c3", "b"} {
			k.commit(&agent.PendMessage{ConversationRef: agent.ConversationRef{ID: id, Agent: "a", Owner: "u"}, Message: agent.JSON(`{}`)})
		}
		k.equal("all", k.listed(agent.ListConversations{Agent: "a"}), "b c1 c2 c3 x1")
		for _, list := range []agent.ListConversations{{Agent: "a"}, {Owner: "u"}} {
			list.Page = agent.Page{Prefix: "c", Limit: 2}
			page := find[*agent.ConversationList](k, &list)
			k.equal("first page", []string{k.listed(list), page.Next}, []string{"c1 c2", "c2"})
			list.After = page.Next
			page = find[*agent.ConversationList](k, &list)
			k.equal("second page", []string{k.listed(list), page.Next}, []string{"c3", ""})
		}
		for _, wrong := range []agent.ListConversations{
			{Agent: "a", Owner: "u"}, {Agent: "a", Interrupted: true}, {Owner: "u", Interrupted: true},
		} {
			_, err := k.service.Read(k.ctx, agent.Reads{Scope: k.scope, Reads: []agent.Read{&wrong}})
			k.failure(agent.CodeInvalid, err)
		}
	}},

	{"a_conversation_is_loaded_and_written_by_its_own", func(k *kit) {
		mine := agent.ConversationRef{ID: "c", Agent: "a", Owner: "u"}
		k.commit(&agent.SaveConversation{ConversationRef: mine, Lifecycle: agent.LifecycleCompletion, State: blob("1")})
		for _, ref := range []agent.ConversationRef{{ID: "c", Agent: "b", Owner: "u"}, {ID: "c", Agent: "a", Owner: "v"}, {ID: "c", Owner: "v"}} {
			k.lacks(agent.CodeForbidden, &agent.GetConversation{ConversationRef: ref})
			k.lacks(agent.CodeForbidden, &agent.ListMessages{ConversationRef: ref})
			for _, op := range []agent.Op{
				&agent.SaveConversation{ConversationRef: ref, Revision: 1, Lifecycle: agent.LifecycleCompletion, State: blob("2")},
				&agent.SetInterrupted{ConversationRef: ref, Interrupted: true},
				&agent.PendMessage{ConversationRef: ref, Message: agent.JSON(`{}`)},
				&agent.SaveMessages{ConversationRef: ref, Messages: []agent.MessageDraft{{Role: agent.RoleUser}}},
				&agent.UpdateMessage{ConversationRef: ref, Message: "m", Status: agent.ToolFailed},
				&agent.DeleteConversation{ConversationRef: ref},
			} {
				k.refuse(agent.CodeForbidden, 0, op)
			}
		}
		find[*agent.SavedConversation](k, &agent.GetConversation{ConversationRef: mine})
		k.equal("revision", k.dialogue().Revision, uint64(1))
	}},

	{"SG-5_what_waits_for_a_person_is_listed", func(k *kit) {
		for i, c := range []struct {
			lifecycle agent.Lifecycle
			want      string
		}{
			{agent.LifecycleInterrupt, "c"},
			{agent.LifecycleTitleGenerated, "c"}, // these two keep the flag
			{agent.LifecycleShutdown, "c"},
			{agent.LifecycleCompletion, ""},
			{agent.LifecycleShutdown, ""},
			{agent.LifecycleInterrupt, "c"},
			{agent.LifecycleError, ""},
			{agent.LifecycleInterrupt, "c"},
			{agent.LifecycleCancel, ""},
		} {
			k.saveState("c", uint64(i), c.lifecycle, blob(fmt.Sprint(i)))
			k.equal(fmt.Sprintf("after %s, %d", c.lifecycle, i), k.interrupted(), c.want)
			k.equal("flag", k.dialogue().Interrupted, c.want != "")
		}
		for range 2 { // a repeated op has no effect
			row := apply[*agent.ConversationResult](k, &agent.SetInterrupted{ConversationRef: dialogue("c"), Interrupted: true}).Conversation
			k.equal("row", []any{row.Interrupted, row.Revision, row.Lifecycle}, []any{true, uint64(9), agent.LifecycleCancel})
		}
		k.saveState("b", 0, agent.LifecycleInterrupt, blob("b"))
		k.equal("listed", k.interrupted(), "b c")
		k.commit(&agent.DeleteConversation{ConversationRef: dialogue("b")})
		k.commit(&agent.SetInterrupted{ConversationRef: dialogue("c")})
		k.equal("listed", k.interrupted(), "")
		k.refuse(agent.CodeNotFound, 0, &agent.SetInterrupted{ConversationRef: dialogue("b"), Interrupted: true})
	}},

	{"SG-6_a_pending_message_stays_until_it_is_consumed", func(k *kit) {
		pend := func(text string) uint64 {
			return apply[*agent.ConversationResult](k, &agent.PendMessage{
				ConversationRef: dialogue("c"), Message: agent.JSON(fmt.Sprintf(`{"text":%q}`, text)),
			}).Pending
		}
		k.equal("numbers", []uint64{pend("one"), pend("two")}, []uint64{1, 2}) // also before the first save
		loaded := k.dialogue()
		k.equal("revision", loaded.Revision, uint64(0))
		k.saveState("c", 0, agent.LifecycleShutdown, blob("without them"))
		k.equal("pending", k.dialogue().PendingCount, uint64(2))
		pend("three") // while the agent handles the first two
		row := apply[*agent.ConversationResult](k, &agent.SaveConversation{
			ConversationRef: dialogue("c"), Revision: 1, Lifecycle: agent.LifecycleCompletion, State: blob("with them"), Consumed: 2,
		}).Conversation
		k.equal("row", []uint64{row.PendingCount, row.Consumed}, []uint64{1, 2})
		left := k.dialogue().Pending
		if len(left) != 1 || left[0].Number != 3 || string(left[0].Message) != `{"text":"three"}` {
			k.Fatalf("left: %+v", left)
		}
		k.refuse(agent.CodeInvalid, 0, &agent.SaveConversation{
			ConversationRef: dialogue("c"), Revision: 2, Lifecycle: agent.LifecycleCompletion, State: blob("4"), Consumed: 4,
		})
	}},

	{"what_is_pending_is_bounded", func(k *kit) {
		op := &agent.PendMessage{ConversationRef: dialogue("c"), Message: agent.JSON(`{}`)}
		for range agent.ConversationPendingMax {
			k.commit(op)
		}
		_, err := k.send(agent.Commit{Ops: []agent.Op{op}})
		if e := k.refused(agent.CodeOverloaded, 0, err); e.Limit != "conversation_pending_max=64" {
			k.Fatalf("the limit is %q", e.Limit)
		}
	}},

	{"SG-7_not_to_know_is_not_to_have_none", func(k *kit) {
		k.saveState("c", 0, agent.LifecycleCompletion, blob("1"))
		ended, cancel := context.WithCancel(k.ctx)
		cancel()
		for _, id := range []string{"c", "never"} {
			_, err := k.service.Read(ended, agent.Reads{Scope: k.scope, Reads: []agent.Read{&agent.GetConversation{ConversationRef: dialogue(id)}}})
			k.failure(agent.CodeUnavailable, err)
		}
		k.dialogue()
		k.lacks(agent.CodeNotFound, &agent.GetConversation{ConversationRef: dialogue("never")})
	}},

	{"SG-8_a_shutdown_that_is_told_again_is_saved_once", func(k *kit) {
		k.saveState("c", 0, agent.LifecycleCompletion, blob("1"))
		first := k.saveState("c", 1, agent.LifecycleShutdown, blob("2"))
		for range 2 { // by other senders, without a common request id
			k.equal("row", k.saveState("c", 1, agent.LifecycleShutdown, blob("2")), first)
		}
		k.equal("revision", k.dialogue().Revision, uint64(2))
		k.refuse(agent.CodeRevisionMismatch, 0, &agent.SaveConversation{ // another state or lifecycle is not the same event
			ConversationRef: dialogue("c"), Revision: 1, Lifecycle: agent.LifecycleShutdown, State: blob("3"),
		})
		k.refuse(agent.CodeRevisionMismatch, 0, &agent.SaveConversation{
			ConversationRef: dialogue("c"), Revision: 1, Lifecycle: agent.LifecycleError, State: blob("2"),
		})
	}},

	{"SG-10_a_stale_state_never_overwrites_a_newer_one", func(k *kit) {
		k.saveState("c", 0, agent.LifecycleCompletion, blob("1"))
		k.saveState("c", 1, agent.LifecycleCompletion, blob("2"))
		for _, revision := range []uint64{0, 1, 3, 1<<64 - 1} {
			e := k.refuse(agent.CodeRevisionMismatch, 0, &agent.SaveConversation{
				ConversationRef: dialogue("c"), Revision: revision, Lifecycle: agent.LifecycleShutdown, State: blob("stale"),
			})
			k.equal("revision told", e.Revision, uint64(2))
		}
		k.equal("state", k.dialogue().State, blob("2"))
		k.commit(&agent.DeleteConversation{ConversationRef: dialogue("c"), Seal: time.Hour})
		k.refuse(agent.CodeDeleted, 0, &agent.SaveConversation{
			ConversationRef: dialogue("c"), Revision: 2, Lifecycle: agent.LifecycleShutdown, State: blob("late"),
		})
	}},

	{"SG-10_a_malformed_state_is_refused", func(k *kit) {
		k.saveState("c", 0, agent.LifecycleCompletion, blob("1"))
		for state, field := range map[string]string{
			``:                             "state",
			`null`:                         "state",
			`[]`:                           "state",
			`{"version":2,"state":{}`:      "state",
			`{}`:                           "state.version",
			`{"state":{}}`:                 "state.version",
			`{"version":0,"state":{}}`:     "state.version",
			`{"version":"2","state":{}}`:   "state.version",
			`{"version":2.5,"state":{}}`:   "state.version",
			`{"version":1e99,"state":{}}`:  "state.version",
			`{"version":2}`:                "state.state",
			`{"version":2,"state":null}`:   "state.state",
			`{"version":2,"state":"text"}`: "state.state",
		} {
			k.refuseInvalid(agent.CodeInvalid, 0, field, &agent.SaveConversation{
				ConversationRef: dialogue("c"), Revision: 1, Lifecycle: agent.LifecycleCompletion, State: agent.JSON(state),
			})
		}
		k.refuseInvalid(agent.CodeTooLarge, 0, "state", &agent.SaveConversation{
			ConversationRef: dialogue("c"), Revision: 1, Lifecycle: agent.LifecycleCompletion,
			State: blob(strings.Repeat("x", agent.ConversationStateMax)),
		})
		k.refuseInvalid(agent.CodeInvalid, 0, "lifecycle", &agent.SaveConversation{
			ConversationRef: dialogue("c"), Revision: 1, Lifecycle: "on_whim", State: blob("2"),
		})
		k.equal("state", k.dialogue().State, blob("1"))
	}},

	{"deleting_a_conversation", func(k *kit) {
		if r := apply[*agent.DeleteResult](k, &agent.DeleteConversation{ConversationRef: dialogue("c")}); r.Existed {
			k.Fatal("it existed")
		}
		first := k.saveState("c", 0, agent.LifecycleCompletion, blob("1"))
		k.commit(&agent.SaveMessages{ConversationRef: dialogue("c"), Messages: []agent.MessageDraft{{ID: "m", Role: agent.RoleUser}}})
		k.refuse(agent.CodeRevisionMismatch, 0, &agent.DeleteConversation{ConversationRef: dialogue("c"), IfRevision: ptr(uint64(7))})
		if r := apply[*agent.DeleteResult](k, &agent.DeleteConversation{ConversationRef: dialogue("c"), IfRevision: ptr(uint64(1))}); !r.Existed {
			k.Fatal("it did not exist")
		}
		k.lacks(agent.CodeNotFound, &agent.ListMessages{ConversationRef: dialogue("c")})
		late := agent.ConversationRef{ID: "c", IfIncarnation: first.Incarnation}
		k.refuse(agent.CodeDeleted, 0, &agent.PendMessage{ConversationRef: late, Message: agent.JSON(`{}`)})
		k.commit(&agent.PendMessage{ConversationRef: dialogue("c"), Message: agent.JSON(`{}`)})
		k.refuse(agent.CodeDeleted, 0, &agent.PendMessage{ConversationRef: late, Message: agent.JSON(`{}`)})
		k.equal("messages", find[*agent.MessageList](k, &agent.ListMessages{ConversationRef: dialogue("c")}).Items, []agent.Message{})
	}},
}
