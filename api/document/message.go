package document

import (
	"dormouse/agent"
)

// Message is one message that people see.
type Message struct {
	ID        string `json:"id"`
	Seq       uint64 `json:"seq"`
	Revision  uint64 `json:"revision"`
	At        int64  `json:"at"`
	UpdatedAt int64  `json:"updated_at"`
	Role      string `json:"role"`
	Type      string `json:"type"`
	Content   JSON   `json:"content"`
	ToolCall  string `json:"tool_call,omitzero"`
	Status    string `json:"status,omitzero"`
	Synthetic bool   `json:"synthetic,omitzero"`
}

// MessageOf returns the document of m.
func MessageOf(m *agent.Message) Message {
	return Message{
		ID: m.ID, Seq: m.Seq, Revision: m.Revision, At: m.At, UpdatedAt: m.UpdatedAt, Role: string(m.Role), Type: m.Type,
		Content: JSON(m.Content), ToolCall: m.ToolCall, Status: string(m.Status), Synthetic: m.Synthetic,
	}
}

// MessagePage is a page of a conversation's messages.
type MessagePage struct {
	Conversation ConversationRow `json:"conversation"`
	Items        []Message       `json:"items" nullable:"false"`
	Next         *uint64         `json:"next" doc:"Pass it as from; null at the end"`
}

// MessagePageOf returns the document of l.
func MessagePageOf(l *agent.MessageList) MessagePage {
	out := MessagePage{Conversation: ConversationRowOf(l.Conversation), Items: []Message{}, Next: l.Next}
	for i := range l.Items {
		out.Items = append(out.Items, MessageOf(&l.Items[i]))
	}
	return out
}

// messageUpdated is the result of an update of a message in a commit.
type messageUpdated struct {
	Found   bool       `json:"found"`
	Message EntryStamp `json:"message"`
}

func messageUpdatedOf(r *agent.MessageResult) messageUpdated {
	return messageUpdated{Found: r.Found, Message: EntryStamp(r.Message)}
}

// MessagesBody saves messages of a conversation.
type MessagesBody struct {
	refBody
	Messages []messageDraft `json:"messages" nullable:"false"`
}

type messageDraft struct {
	ID        string `json:"id,omitempty" doc:"Generated if absent"`
	Role      string `json:"role" enum:"user,assistant,tool,system"`
	Type      string `json:"type,omitempty" doc:"Any string; text if absent"`
	Content   JSON   `json:"content,omitempty"`
	ToolCall  string `json:"tool_call,omitempty" doc:"The id of the call that it shows; with role tool, of the call whose result it shows"`
	Status    string `json:"status,omitempty" doc:"Of a tool call: executing, completed, failed, interrupted or cancelled"`
	Synthetic bool   `json:"synthetic,omitempty"`
}

// ToOp returns the op that the body asks for.
func (b *MessagesBody) ToOp(id string) agent.Op {
	op := &agent.SaveMessages{ConversationRef: b.ref(id), Messages: make([]agent.MessageDraft, len(b.Messages))}
	for i, m := range b.Messages {
		op.Messages[i] = agent.MessageDraft{
			ID: m.ID, Role: agent.MessageRole(m.Role), Type: m.Type, Content: agent.JSON(m.Content), ToolCall: m.ToolCall,
			Status: agent.ToolStatus(m.Status), Synthetic: m.Synthetic,
		}
	}
	return op
}

// UpdateMessageBody changes a message in place.
type UpdateMessageBody struct {
	refBody
	Status  string `json:"status,omitempty" doc:"The current one if absent"`
	Content JSON   `json:"content,omitempty" doc:"The current one if absent"`
}

// ToOp returns the update of a message of the conversation id.
func (b *UpdateMessageBody) ToOp(id, message string) agent.Op {
	return &agent.UpdateMessage{ConversationRef: b.ref(id), Message: message, Status: agent.ToolStatus(b.Status), Content: agent.JSON(b.Content)}
}
