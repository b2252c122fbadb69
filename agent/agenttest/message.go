package agenttest

import (
	"fmt"
	"strings"

	"dormouse/agent"
)

// shown returns what people see of conversation c: ids and statuses in order.
func (k *kit) shown() string {
	k.Helper()
	var all []string
	for q := (agent.ListMessages{ConversationRef: dialogue("c"), Limit: 2}); ; {
		page := find[*agent.MessageList](k, &q)
		for _, m := range page.Items {
			all = append(all, strings.TrimSuffix(m.ID+"="+string(m.Status), "="))
		}
		if page.Next == nil {
			return strings.Join(all, " ")
		}
		q.From = *page.Next
	}
}

// show saves messages of conversation c.
func (k *kit) show(drafts ...agent.MessageDraft) *agent.ConversationResult {
	k.Helper()
	return apply[*agent.ConversationResult](k, &agent.SaveMessages{ConversationRef: dialogue("c"), Messages: drafts})
}

func said(id string) agent.MessageDraft {
	return agent.MessageDraft{ID: id, Role: agent.RoleUser, Content: agent.JSON(fmt.Sprintf(`{"text":%q}`, id))}
}

var messageClaims = []claim{
	{"SG-3_the_order_stands_where_times_tie", func(k *kit) {
		result := k.commit( // one commit has one time
			&agent.SaveMessages{ConversationRef: dialogue("c"), Messages: []agent.MessageDraft{said("z"), said("a")}},
			&agent.SaveMessages{ConversationRef: dialogue("c"), Messages: []agent.MessageDraft{said("m")}},
		)
		k.equal("stamps", resultOf[*agent.ConversationResult](k, result, 1).Messages, []agent.EntryStamp{{ID: "m", Seq: 2, At: result.Time}})
		k.show(said("b"))
		k.equal("order", k.shown(), "z a m b")
		var before agent.Message
		for i, m := range find[*agent.MessageList](k, &agent.ListMessages{ConversationRef: dialogue("c")}).Items {
			if m.Seq != uint64(i) || m.At < before.At {
				k.Fatalf("message %d is at %d, %d, after %d", i, m.Seq, m.At, before.At)
			}
			before = m
		}
		k.equal("tail", find[*agent.MessageList](k, &agent.ListMessages{ConversationRef: dialogue("c"), Tail: 2}).Items[0].ID, "m")
		k.equal("more than all", len(find[*agent.MessageList](k, &agent.ListMessages{ConversationRef: dialogue("c"), Tail: 9}).Items), 4)
		k.equal("past the end", len(find[*agent.MessageList](k, &agent.ListMessages{ConversationRef: dialogue("c"), From: 9}).Items), 0)
	}},

	{"messages_are_read_back_whole", func(k *kit) {
		result := k.commit(&agent.SaveMessages{ConversationRef: agent.ConversationRef{ID: "c", Agent: "a"}, Messages: []agent.MessageDraft{
			{Role: agent.RoleSystem, Synthetic: true},
			{Role: agent.RoleAssistant, Type: "tool_call", Content: agent.JSON(`{ "z": 1, "a": 2.0 }`), ToolCall: "t1"},
			{Role: agent.RoleTool, Type: "tool_result", ToolCall: "t1", Content: agent.JSON(`{"text":"…"}`)},
		}})
		row := resultOf[*agent.ConversationResult](k, result, 0).Conversation
		list := find[*agent.MessageList](k, &agent.ListMessages{ConversationRef: dialogue("c")})
		k.equal("row", list.Conversation, row)
		k.equal("counts", []uint64{row.MessageCount, row.Revision}, []uint64{3, 0})
		at := result.Time
		k.equal("messages", list.Items, []agent.Message{
			{ID: agent.MessageID(row.Incarnation, 0), Revision: 1, At: at, UpdatedAt: at, Role: agent.RoleSystem, Type: "text", Content: agent.JSON(`{}`), Synthetic: true},
			{
				ID: "call:t1", Seq: 1, Revision: 1, At: at, UpdatedAt: at, Role: agent.RoleAssistant, Type: "tool_call",
				Content: agent.JSON(`{"z":1,"a":2.0}`), ToolCall: "t1", Status: agent.ToolExecuting,
			},
			{
				ID: "result:t1", Seq: 2, Revision: 1, At: at, UpdatedAt: at, Role: agent.RoleTool, Type: "tool_result",
				Content: agent.JSON(`{"text":"…"}`), ToolCall: "t1",
			},
		})
	}},

	{"SG-4_a_tool_call_changes_in_its_place", func(k *kit) {
		k.show(said("q"), agent.MessageDraft{Role: agent.RoleAssistant, Type: "tool_call", ToolCall: "t"}, said("later"))
		update := func(id string, status agent.ToolStatus, content agent.JSON) bool {
			return apply[*agent.MessageResult](k, &agent.UpdateMessage{
				ConversationRef: dialogue("c"), Message: id, Status: status, Content: content,
			}).Found
		}
		for _, status := range []agent.ToolStatus{
			agent.ToolInterrupted, agent.ToolExecuting, agent.ToolFailed, agent.ToolExecuting, agent.ToolCancelled, agent.ToolCompleted,
		} {
			if !update(agent.ToolMessageID("t", agent.RoleAssistant), status, nil) {
				k.Fatalf("%s: no such message", status)
			}
			k.equal("order", k.shown(), "q call:t="+string(status)+" later")
		}
		update("call:t", "", agent.JSON(`{"result":1}`)) // and keeps the status
		m := find[*agent.MessageList](k, &agent.ListMessages{ConversationRef: dialogue("c")}).Items[1]
		k.equal("message", []any{string(m.Content), m.Status, m.Revision}, []any{`{"result":1}`, agent.ToolCompleted, uint64(8)})
	}},

	{"SG-4_a_missing_message_is_tolerated", func(k *kit) {
		missing := func(id, message string) *agent.UpdateMessage {
			return &agent.UpdateMessage{ConversationRef: dialogue(id), Message: message, Status: agent.ToolCompleted}
		}
		result := k.commit(missing("c", "call:t"), &agent.SaveMessages{ConversationRef: dialogue("c"), Messages: []agent.MessageDraft{said("m")}})
		if resultOf[*agent.MessageResult](k, result, 0).Found {
			k.Fatal("found in a conversation that was not there")
		}
		row := resultOf[*agent.ConversationResult](k, result, 1).Conversation
		for _, id := range []string{"call:t", "result:t", agent.MessageID(row.Incarnation, 0), agent.MessageID(row.Incarnation, 1), agent.MessageID(1, 0)} {
			if apply[*agent.MessageResult](k, missing("c", id)).Found {
				k.Fatalf("found %q", id)
			}
		}
		k.equal("messages", k.shown(), "m")
	}},

	{"a_tool_result_is_resolved_in_one_commit", func(k *kit) {
		k.show(
			agent.MessageDraft{Role: agent.RoleAssistant, Type: "tool_call", ToolCall: "t", Status: agent.ToolInterrupted},
			agent.MessageDraft{Role: agent.RoleTool, Type: "tool_result", ToolCall: "t", Content: agent.JSON(`{"text":"interrupted"}`)})
		k.commit(
			&agent.UpdateMessage{ConversationRef: dialogue("c"), Message: "call:t", Status: agent.ToolCompleted},
			&agent.UpdateMessage{ConversationRef: dialogue("c"), Message: "result:t", Content: agent.JSON(`{"text":"42"}`)})
		k.equal("shown", k.shown(), "call:t=completed result:t")
		k.equal("result", string(find[*agent.MessageList](k, &agent.ListMessages{ConversationRef: dialogue("c"), Tail: 1}).Items[0].Content), `{"text":"42"}`)
	}},

	{"a_message_that_is_there_is_skipped", func(k *kit) {
		first := k.show(said("m"), said("n"))
		again := k.show(said("n"), said("o"))
		k.equal("stamps", again.Messages[0], first.Messages[1])
		e := k.refuse(agent.CodeDuplicateEntry, 0, &agent.SaveMessages{ConversationRef: dialogue("c"), Messages: []agent.MessageDraft{
			said("p"), {ID: "m", Role: agent.RoleUser, Content: agent.JSON(`{"text":"other"}`)},
		}})
		k.equal("seq told", e.Seq, uint64(0))
		k.equal("shown", k.shown(), "m n o")
		generated := k.show(agent.MessageDraft{Role: agent.RoleUser}).Messages[0]
		k.equal("sent back", k.show(agent.MessageDraft{ID: generated.ID, Role: agent.RoleUser}).Messages[0], generated)
		call := agent.MessageDraft{Role: agent.RoleAssistant, ToolCall: "t"}
		stamp := k.show(call).Messages[0]
		k.commit(&agent.UpdateMessage{ConversationRef: dialogue("c"), Message: "call:t", Status: agent.ToolFailed})
		k.equal("after an update", k.show(call).Messages[0], stamp) // which the repeated save does not undo
		k.equal("tail", find[*agent.MessageList](k, &agent.ListMessages{ConversationRef: dialogue("c"), Tail: 1}).Items[0].Status, agent.ToolFailed)
	}},

	{"a_message_that_is_wrong_is_refused", func(k *kit) {
		for _, c := range []struct {
			field string
			draft agent.MessageDraft
		}{
			{"messages[0].role", agent.MessageDraft{}},
			{"messages[0].role", agent.MessageDraft{Role: "narrator"}},
			{"messages[0].status", agent.MessageDraft{Role: agent.RoleAssistant, ToolCall: "t", Status: "pondering"}},
			{"messages[0].status", agent.MessageDraft{Role: agent.RoleAssistant, Status: agent.ToolCompleted}},
			{"messages[0].id", agent.MessageDraft{ID: "mine", Role: agent.RoleAssistant, ToolCall: "t"}},
			{"messages[0].content", agent.MessageDraft{Role: agent.RoleUser, Content: agent.JSON(`"text"`)}},
		} {
			k.refuseInvalid(agent.CodeInvalid, 0, c.field, &agent.SaveMessages{ConversationRef: dialogue("c"), Messages: []agent.MessageDraft{c.draft}})
		}
		k.refuseInvalid(agent.CodeInvalid, 0, "messages", &agent.SaveMessages{ConversationRef: dialogue("c")})
		k.refuseInvalid(agent.CodeInvalid, 0, "conversation_id", &agent.SaveMessages{Messages: []agent.MessageDraft{said("m")}})
		k.refuseInvalid(agent.CodeInvalid, 0, "status", &agent.UpdateMessage{ConversationRef: dialogue("c"), Message: "m", Status: "pondering"})
		k.refuseInvalid(agent.CodeInvalid, 0, "status", &agent.UpdateMessage{ConversationRef: dialogue("c"), Message: "m"})
		k.refuseInvalid(agent.CodeTooLarge, 0, "messages[0].content", &agent.SaveMessages{ConversationRef: dialogue("c"), Messages: []agent.MessageDraft{
			{Role: agent.RoleUser, Content: agent.JSON(`{"text":"` + strings.Repeat("x", agent.MessageBytesMax) + `"}`)},
		}})
		k.refuseInvalid(agent.CodeTooLarge, 0, "messages[0].tool_call", &agent.SaveMessages{ConversationRef: dialogue("c"), Messages: []agent.MessageDraft{
			{Role: agent.RoleAssistant, ToolCall: strings.Repeat("x", agent.ToolCallBytesMax+1)},
		}})
		k.show(agent.MessageDraft{Role: agent.RoleTool, ToolCall: strings.Repeat("x", agent.ToolCallBytesMax)})
	}},
}
