package rest

import (
	"net/http"

	"dormouse/agent"
	"dormouse/api/document"
)

func routeConversations(f *api) {
	const tag, one = "conversations", "/v1/conversations/{id}"
	ref := []string{"agent_id", "owner_id", "if_incarnation"}
	register(f, route{
		method: http.MethodPut, path: one, id: "save-conversation", tag: tag,
		summary: "Save the state from which a conversation continues: a stale revision is refused with revision_mismatch",
		effect:  writes, condition: "if_revision", bodyNeeded: true, creates: true, answers: document.ConversationRow{},
	}, saveConversation)
	register(f, route{
		method: http.MethodGet, path: one, id: "get-conversation", tag: tag,
		summary: "Read a conversation with its state and pending messages; forbidden if it has another agent or owner",
		effect:  reads, query: ref, answers: document.SavedConversation{},
	}, getConversation)
	register(f, route{
		method: http.MethodDelete, path: one, id: "delete-conversation", tag: tag, summary: "Delete a conversation with its messages",
		effect: writes, condition: "if_revision", query: append([]string{"if_revision", "seal_ms"}, ref...), status: http.StatusNoContent,
	}, deleteConversation)
	register(f, route{
		method: http.MethodGet, path: "/v1/conversations", id: "list-conversations", tag: tag,
		summary: "List conversations in id order: all, or those of one agent, of one owner, or interrupted ones",
		effect:  reads, query: append([]string{"interrupted", "agent_id", "owner_id"}, rowsQuery...), answers: document.List[document.ConversationRow]{},
	}, listConversations)
	register(f, route{
		method: http.MethodPost, path: one + "/interrupted", id: "set-interrupted", tag: tag,
		summary: "Set whether a conversation is interrupted: it waits for a person", effect: writes, bodyNeeded: true, answers: document.ConversationChange{},
	}, func(c *request, body *document.InterruptedBody) error { return changeConversation(c, body) })
	register(f, route{
		method: http.MethodPost, path: one + "/pending", id: "pend-message", tag: tag,
		summary: "Keep a message for a busy agent, until a save consumes it", effect: writes, bodyNeeded: true, answers: document.ConversationChange{},
	}, func(c *request, body *document.PendBody) error { return changeConversation(c, body) })
	register(f, route{
		method: http.MethodPost, path: one + "/messages", id: "save-messages", tag: tag,
		summary: "Add messages that people see", effect: writes, bodyNeeded: true, answers: document.ConversationChange{},
	}, func(c *request, body *document.MessagesBody) error { return changeConversation(c, body) })
	register(f, route{
		method: http.MethodGet, path: one + "/messages", id: "list-messages", tag: tag, summary: "Read the messages that people see, in order",
		effect: reads, query: append([]string{"from", "tail", "limit"}, ref...), answers: document.MessagePage{},
	}, listMessages)
	register(f, route{
		method: http.MethodPatch, path: one + "/messages/{message}", id: "update-message", tag: tag,
		summary: "Change a message in place: a tool call's status or result", effect: writes, existing: true, bodyNeeded: true, answers: document.EntryStamp{},
	}, updateMessage)
}

func saveConversation(c *request, body *document.SaveConversationBody) error {
	result, err := c.commit(body.ToOp(c.id("id"), c.conditioned(body.IfRevision)))
	if err != nil {
		return err
	}
	done, err := resultOf[*agent.ConversationResult](result, 0)
	if err != nil {
		return err
	}
	row := done.Conversation
	a := reply{revision: &row.Revision, body: document.ConversationRowOf(row)}
	if row.Revision == 1 { // revisions start at 1 in each incarnation
		a.location = location("conversations", row.ID)
	}
	return c.answer(a)
}

// refOf returns the conversation that the path and the query name.
func refOf(c *request) agent.ConversationRef {
	return agent.ConversationRef{ID: c.id("id"), Agent: c.text("agent_id"), Owner: c.text("owner_id"), IfIncarnation: c.number("if_incarnation")}
}

func getConversation(c *request, _ *none) error {
	found, err := read[*agent.SavedConversation](c, &agent.GetConversation{ConversationRef: refOf(c)})
	if err != nil {
		return err
	}
	return c.answer(reply{revision: &found.Revision, body: document.SavedConversationOf(found)})
}

func deleteConversation(c *request, _ *none) error {
	_, err := c.commit(&agent.DeleteConversation{
		ConversationRef: refOf(c), IfRevision: c.conditioned(c.optional("if_revision")), Seal: c.duration("seal_ms"),
	})
	if err != nil {
		return err
	}
	return c.answer(reply{})
}

func listConversations(c *request, _ *none) error {
	found, err := read[*agent.ConversationList](c, &agent.ListConversations{
		Page: c.page(), Interrupted: c.flag("interrupted"), Agent: c.text("agent_id"), Owner: c.text("owner_id"),
	})
	if err != nil {
		return err
	}
	return c.answer(reply{body: document.ListOf(found.Items, found.Next, document.ConversationRowOf)})
}

// conversationBody is a body with an op on a conversation.
type conversationBody interface {
	ToOp(conversation string) agent.Op
}

// changeConversation commits the op of a body.
func changeConversation(c *request, body conversationBody) error {
	result, err := c.commit(body.ToOp(c.id("id")))
	if err != nil {
		return err
	}
	done, err := resultOf[*agent.ConversationResult](result, 0)
	if err != nil {
		return err
	}
	return c.answer(reply{body: document.ConversationChangeOf(done)})
}

func listMessages(c *request, _ *none) error {
	found, err := read[*agent.MessageList](c, &agent.ListMessages{
		ConversationRef: refOf(c), From: c.number("from"), Tail: c.number("tail"), Limit: c.number("limit"),
	})
	if err != nil {
		return err
	}
	return c.answer(reply{body: document.MessagePageOf(found)})
}

func updateMessage(c *request, body *document.UpdateMessageBody) error {
	result, err := c.commit(body.ToOp(c.id("id"), c.id("message")))
	if err != nil {
		return err
	}
	done, err := resultOf[*agent.MessageResult](result, 0)
	if err != nil {
		return err
	}
	if !done.Found {
		return agent.Errorf(agent.CodeNotFound, "conversation %q has no message %q", c.id("id"), c.id("message"))
	}
	return c.answer(reply{body: document.EntryStamp(done.Message)})
}
