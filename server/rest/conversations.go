package rest

import (
	"net/http"

	"dormouse/agent"
	"dormouse/api/document"
	"dormouse/server/rest/web"
)

func routeConversations(f *web.API) {
	const tag, one = "conversations", "/v1/conversations/{id}"
	ref := []string{"agent_id", "owner_id", "if_incarnation"}
	web.Register(f, web.Route{
		Method: http.MethodPut, Path: one, ID: "save-conversation", Tag: tag,
		Summary: "Save the state from which a conversation continues: a stale revision is refused with revision_mismatch",
		Effect:  web.Writes, Condition: "if_revision", BodyNeeded: true, Creates: true, Answers: document.ConversationRow{},
	}, saveConversation)
	web.Register(f, web.Route{
		Method: http.MethodGet, Path: one, ID: "get-conversation", Tag: tag,
		Summary: "Read a conversation with its state and pending messages; forbidden if it has another agent or owner",
		Effect:  web.Reads, Query: ref, Answers: document.SavedConversation{},
	}, getConversation)
	web.Register(f, web.Route{
		Method: http.MethodDelete, Path: one, ID: "delete-conversation", Tag: tag, Summary: "Delete a conversation with its messages",
		Effect: web.Writes, Condition: "if_revision", Query: append([]string{"if_revision", "seal_ms"}, ref...), Status: http.StatusNoContent,
	}, deleteConversation)
	web.Register(f, web.Route{
		Method: http.MethodGet, Path: "/v1/conversations", ID: "list-conversations", Tag: tag,
		Summary: "List conversations in id order: all, or those of one agent, of one owner, or interrupted ones",
		Effect:  web.Reads, Query: append([]string{"interrupted", "agent_id", "owner_id"}, web.RowsQuery...), Answers: document.List[document.ConversationRow]{},
	}, listConversations)
	web.Register(f, web.Route{
		Method: http.MethodPost, Path: one + "/interrupted", ID: "set-interrupted", Tag: tag,
		Summary: "Set whether a conversation is interrupted: it waits for a person", Effect: web.Writes, BodyNeeded: true, Answers: document.ConversationChange{},
	}, func(c *web.Request, body *document.InterruptedBody) error { return changeConversation(c, body) })
	web.Register(f, web.Route{
		Method: http.MethodPost, Path: one + "/pending", ID: "pend-message", Tag: tag,
		Summary: "Keep a message for a busy agent, until a save consumes it", Effect: web.Writes, BodyNeeded: true, Answers: document.ConversationChange{},
	}, func(c *web.Request, body *document.PendBody) error { return changeConversation(c, body) })
	web.Register(f, web.Route{
		Method: http.MethodPost, Path: one + "/messages", ID: "save-messages", Tag: tag,
		Summary: "Add messages that people see", Effect: web.Writes, BodyNeeded: true, Answers: document.ConversationChange{},
	}, func(c *web.Request, body *document.MessagesBody) error { return changeConversation(c, body) })
	web.Register(f, web.Route{
		Method: http.MethodGet, Path: one + "/messages", ID: "list-messages", Tag: tag, Summary: "Read the messages that people see, in order",
		Effect: web.Reads, Query: append([]string{"from", "tail", "limit"}, ref...), Answers: document.MessagePage{},
	}, listMessages)
	web.Register(f, web.Route{
		Method: http.MethodPatch, Path: one + "/messages/{message}", ID: "update-message", Tag: tag,
		Summary: "Change a message in place: a tool call's status or result", Effect: web.Writes, Existing: true, BodyNeeded: true, Answers: document.EntryStamp{},
	}, updateMessage)
}

func saveConversation(c *web.Request, body *document.SaveConversationBody) error {
	result, err := c.Commit(body.ToOp(c.ID("id"), c.Conditioned(body.IfRevision)))
	if err != nil {
		return err
	}
	done, err := web.ResultOf[*agent.ConversationResult](result, 0)
	if err != nil {
		return err
	}
	row := done.Conversation
	a := web.Reply{Revision: &row.Revision, Body: document.ConversationRowOf(row)}
	if row.Revision == 1 { // revisions start at 1 in each incarnation
		a.Location = web.PathOf("conversations", row.ID)
	}
	return c.Answer(a)
}

// refOf returns the conversation that the path and the query name.
func refOf(c *web.Request) agent.ConversationRef {
	return agent.ConversationRef{ID: c.ID("id"), Agent: c.Text("agent_id"), Owner: c.Text("owner_id"), IfIncarnation: c.Number("if_incarnation")}
}

func getConversation(c *web.Request, _ *web.None) error {
	found, err := web.Read[*agent.SavedConversation](c, &agent.GetConversation{ConversationRef: refOf(c)})
	if err != nil {
		return err
	}
	return c.Answer(web.Reply{Revision: &found.Revision, Body: document.SavedConversationOf(found)})
}

func deleteConversation(c *web.Request, _ *web.None) error {
	_, err := c.Commit(&agent.DeleteConversation{
		ConversationRef: refOf(c), IfRevision: c.Conditioned(c.Optional("if_revision")), Seal: c.Duration("seal_ms"),
	})
	if err != nil {
		return err
	}
	return c.Answer(web.Reply{})
}

func listConversations(c *web.Request, _ *web.None) error {
	found, err := web.Read[*agent.ConversationList](c, &agent.ListConversations{
		Page: c.Page(), Interrupted: c.Flag("interrupted"), Agent: c.Text("agent_id"), Owner: c.Text("owner_id"),
	})
	if err != nil {
		return err
	}
	return c.Answer(web.Reply{Body: document.ListOf(found.Items, found.Next, document.ConversationRowOf)})
}

// conversationBody is a body with an op on a conversation.
type conversationBody interface {
	ToOp(conversation string) agent.Op
}

// changeConversation commits the op of a body.
func changeConversation(c *web.Request, body conversationBody) error {
	result, err := c.Commit(body.ToOp(c.ID("id")))
	if err != nil {
		return err
	}
	done, err := web.ResultOf[*agent.ConversationResult](result, 0)
	if err != nil {
		return err
	}
	return c.Answer(web.Reply{Body: document.ConversationChangeOf(done)})
}

func listMessages(c *web.Request, _ *web.None) error {
	found, err := web.Read[*agent.MessageList](c, &agent.ListMessages{
		ConversationRef: refOf(c), From: c.Number("from"), Tail: c.Number("tail"), Limit: c.Number("limit"),
	})
	if err != nil {
		return err
	}
	return c.Answer(web.Reply{Body: document.MessagePageOf(found)})
}

func updateMessage(c *web.Request, body *document.UpdateMessageBody) error {
	result, err := c.Commit(body.ToOp(c.ID("id"), c.ID("message")))
	if err != nil {
		return err
	}
	done, err := web.ResultOf[*agent.MessageResult](result, 0)
	if err != nil {
		return err
	}
	if !done.Found {
		return agent.Errorf(agent.CodeNotFound, "conversation %q has no message %q", c.ID("id"), c.ID("message"))
	}
	return c.Answer(web.Reply{Body: document.EntryStamp(done.Message)})
}
