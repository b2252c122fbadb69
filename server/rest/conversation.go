package rest

import "dormouse/agent"

// conversationRow is a conversation without its contents.
type conversationRow struct {
	ID           string `json:"id"`
	Incarnation  uint64 `json:"incarnation"`
	Revision     uint64 `json:"revision" doc:"Counts the saves of the state; 0 before the first one"`
	AgentID      string `json:"agent_id,omitzero"`
	OwnerID      string `json:"owner_id,omitzero"`
	Lifecycle    string `json:"lifecycle,omitzero"`
	Interrupted  bool   `json:"interrupted"`
	Version      uint64 `json:"version,omitzero" doc:"Of the state's format, as the state says"`
	Title        string `json:"title,omitzero"`
	MessageCount uint64 `json:"message_count"`
	PendingCount uint64 `json:"pending_count"`
	Consumed     uint64 `json:"consumed" doc:"Pending messages up to this number are in the state"`
	CreatedAt    int64  `json:"created_at"`
	UpdatedAt    int64  `json:"updated_at"`
	SavedAt      int64  `json:"saved_at,omitzero"`
	ExpiresAt    int64  `json:"expires_at,omitzero"`
}

func conversationRowOf(r agent.ConversationRow) conversationRow {
	return conversationRow{
		ID: r.ID, Incarnation: r.Incarnation, Revision: r.Revision, AgentID: r.Agent, OwnerID: r.Owner, Lifecycle: string(r.Lifecycle),
		Interrupted: r.Interrupted, Version: r.Version, Title: r.Title, MessageCount: r.MessageCount, PendingCount: r.PendingCount,
		Consumed: r.Consumed, CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt, SavedAt: r.SavedAt,
		ExpiresAt: r.ExpiresAt,
	}
}

// savedConversation is a conversation with what its agent goes on from.
type savedConversation struct {
	conversationRow
	State   document         `json:"state,omitzero" doc:"Left out before the first save"`
	Pending []pendingMessage `json:"pending" nullable:"false"`
}

type pendingMessage struct {
	Number  uint64   `json:"number"`
	Message document `json:"message"`
	At      int64    `json:"at"`
}

func savedConversationOf(c *agent.SavedConversation) savedConversation {
	out := savedConversation{conversationRow: conversationRowOf(c.ConversationRow), State: document(c.State), Pending: []pendingMessage{}}
	for _, p := range c.Pending {
		out.Pending = append(out.Pending, pendingMessage{Number: p.Number, Message: document(p.Message), At: p.At})
	}
	return out
}

// conversationChange answers a write to a conversation.
type conversationChange struct {
	Conversation conversationRow `json:"conversation"`
	Pending      uint64          `json:"pending,omitzero" doc:"Of a pending message: its number"`
	Messages     []entryStamp    `json:"messages,omitempty" doc:"Of messages: where each one went"`
}

func conversationChangeOf(r *agent.ConversationResult) conversationChange {
	out := conversationChange{Conversation: conversationRowOf(r.Conversation), Pending: r.Pending}
	for _, s := range r.Messages {
		out.Messages = append(out.Messages, entryStamp(s))
	}
	return out
}

// message is one row of what people see.
type message struct {
	ID        string   `json:"id"`
	Seq       uint64   `json:"seq"`
	Revision  uint64   `json:"revision"`
	At        int64    `json:"at"`
	UpdatedAt int64    `json:"updated_at"`
	Role      string   `json:"role"`
	Type      string   `json:"type"`
	Content   document `json:"content"`
	ToolCall  string   `json:"tool_call,omitzero"`
	Status    string   `json:"status,omitzero"`
	Synthetic bool     `json:"synthetic,omitzero"`
}

func messageOf(m *agent.Message) message {
	return message{
		ID: m.ID, Seq: m.Seq, Revision: m.Revision, At: m.At, UpdatedAt: m.UpdatedAt, Role: string(m.Role), Type: m.Type,
		Content: document(m.Content), ToolCall: m.ToolCall, Status: string(m.Status), Synthetic: m.Synthetic,
	}
}

// messagePage is a page of a conversation's messages.
type messagePage struct {
	Conversation conversationRow `json:"conversation"`
	Items        []message       `json:"items" nullable:"false"`
	Next         *uint64         `json:"next" doc:"Pass it as from; null at the end"`
}

func messagePageOf(l *agent.MessageList) messagePage {
	out := messagePage{Conversation: conversationRowOf(l.Conversation), Items: []message{}, Next: l.Next}
	for i := range l.Items {
		out.Items = append(out.Items, messageOf(&l.Items[i]))
	}
	return out
}

// messageUpdated answers an update of a message within a commit.
type messageUpdated struct {
	Found   bool       `json:"found"`
	Message entryStamp `json:"message"`
}

func messageUpdatedOf(r *agent.MessageResult) messageUpdated {
	return messageUpdated{Found: r.Found, Message: entryStamp(r.Message)}
}
