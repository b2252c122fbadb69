package document

import (
	"dormouse/agent"
)

var conversationOps = map[string]func() wireOp{
	"save_conversation":   func() wireOp { return new(saveConversationOp) },
	"set_interrupted":     func() wireOp { return new(setInterruptedOp) },
	"pend_message":        func() wireOp { return new(pendMessageOp) },
	"save_messages":       func() wireOp { return new(saveMessagesOp) },
	"update_message":      func() wireOp { return new(updateMessageOp) },
	"delete_conversation": func() wireOp { return new(deleteConversationOp) },
}

// ConversationRow is a conversation without its contents.
type ConversationRow struct {
	ID           string `json:"id"`
	Incarnation  uint64 `json:"incarnation"`
	Revision     uint64 `json:"revision" doc:"Counts the saves of the state; 0 before the first one"`
	AgentID      string `json:"agent_id,omitzero"`
	OwnerID      string `json:"owner_id,omitzero"`
	Lifecycle    string `json:"lifecycle,omitzero"`
	Interrupted  bool   `json:"interrupted"`
	Version      uint64 `json:"version,omitzero" doc:"Of the state's format, as the state declares"`
	Title        string `json:"title,omitzero"`
	MessageCount uint64 `json:"message_count"`
	PendingCount uint64 `json:"pending_count"`
	Consumed     uint64 `json:"consumed" doc:"Pending messages up to this number are part of the state"`
	CreatedAt    int64  `json:"created_at"`
	UpdatedAt    int64  `json:"updated_at"`
	SavedAt      int64  `json:"saved_at,omitzero"`
	ExpiresAt    int64  `json:"expires_at,omitzero"`
}

// ConversationRowOf returns the document of r.
func ConversationRowOf(r agent.ConversationRow) ConversationRow {
	return ConversationRow{
		ID: r.ID, Incarnation: r.Incarnation, Revision: r.Revision, AgentID: r.Agent, OwnerID: r.Owner, Lifecycle: string(r.Lifecycle),
		Interrupted: r.Interrupted, Version: r.Version, Title: r.Title, MessageCount: r.MessageCount, PendingCount: r.PendingCount,
		Consumed: r.Consumed, CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt, SavedAt: r.SavedAt,
		ExpiresAt: r.ExpiresAt,
	}
}

// SavedConversation is a conversation with its state and pending messages.
type SavedConversation struct {
	ConversationRow
	State   JSON             `json:"state,omitzero" doc:"Absent before the first save"`
	Pending []pendingMessage `json:"pending" nullable:"false"`
}

type pendingMessage struct {
	Number  uint64 `json:"number"`
	Message JSON   `json:"message"`
	At      int64  `json:"at"`
}

// SavedConversationOf returns the document of c.
func SavedConversationOf(c *agent.SavedConversation) SavedConversation {
	out := SavedConversation{ConversationRow: ConversationRowOf(c.ConversationRow), State: JSON(c.State), Pending: []pendingMessage{}}
	for _, p := range c.Pending {
		out.Pending = append(out.Pending, pendingMessage{Number: p.Number, Message: JSON(p.Message), At: p.At})
	}
	return out
}

// ConversationChange is the result of a write to a conversation.
type ConversationChange struct {
	Conversation ConversationRow `json:"conversation"`
	Pending      uint64          `json:"pending,omitzero" doc:"Of a pending message: its number"`
	Messages     []EntryStamp    `json:"messages,omitempty" doc:"Of messages: where each one was stored"`
}

// ConversationChangeOf returns the document of r.
func ConversationChangeOf(r *agent.ConversationResult) ConversationChange {
	out := ConversationChange{Conversation: ConversationRowOf(r.Conversation), Pending: r.Pending}
	for _, s := range r.Messages {
		out.Messages = append(out.Messages, EntryStamp(s))
	}
	return out
}

// refBody names the agent and the owner of a conversation.
type refBody struct {
	AgentID       string `json:"agent_id,omitempty" doc:"Must be the conversation's agent, if it has one; any if absent"`
	OwnerID       string `json:"owner_id,omitempty" doc:"Must be the conversation's owner, if it has one; any if absent"`
	IfIncarnation uint64 `json:"if_incarnation,omitempty"`
}

func (b *refBody) ref(id string) agent.ConversationRef {
	return agent.ConversationRef{ID: id, Agent: b.AgentID, Owner: b.OwnerID, IfIncarnation: b.IfIncarnation}
}

// SaveConversationBody saves the state of a conversation.
type SaveConversationBody struct {
	refBody
	IfRevision *uint64 `json:"if_revision,omitempty" doc:"The revision of the state that was loaded. It is always checked; absent means 0, the first save"`
	Lifecycle  string  `json:"lifecycle" enum:"completion,cancel,error,interrupt,title_generated,shutdown"`
	State      JSON    `json:"state" doc:"With a version, at least 1, and a state, an object"`
	Title      string  `json:"title,omitempty" doc:"The current one if absent"`
	Consumed   uint64  `json:"consumed,omitempty" doc:"Pending messages up to this number are part of the state, and are removed"`
}

// ToOp returns the save of a conversation loaded at a revision; nil means 0, the first
// save.
func (b *SaveConversationBody) ToOp(id string, revision *uint64) *agent.SaveConversation {
	op := &agent.SaveConversation{
		ConversationRef: b.ref(id), Lifecycle: agent.Lifecycle(b.Lifecycle), State: agent.JSON(b.State), Title: b.Title, Consumed: b.Consumed,
	}
	if revision != nil {
		op.Revision = *revision
	}
	return op
}

// InterruptedBody sets whether a conversation waits for a person.
type InterruptedBody struct {
	refBody
	Interrupted bool `json:"interrupted"`
}

// ToOp returns the op that the body asks for.
func (b *InterruptedBody) ToOp(id string) agent.Op {
	return &agent.SetInterrupted{ConversationRef: b.ref(id), Interrupted: b.Interrupted}
}

// PendBody keeps a message for a busy agent.
type PendBody struct {
	refBody
	Message JSON `json:"message"`
}

// ToOp returns the op that the body asks for.
func (b *PendBody) ToOp(id string) agent.Op {
	return &agent.PendMessage{ConversationRef: b.ref(id), Message: agent.JSON(b.Message)}
}

// The ops of a commit: a body and the id of its conversation.
type (
	saveConversationOp struct {
		opName
		ConversationID string `json:"conversation_id"`
		SaveConversationBody
	}
	setInterruptedOp struct {
		opName
		ConversationID string `json:"conversation_id"`
		InterruptedBody
	}
	pendMessageOp struct {
		opName
		ConversationID string `json:"conversation_id"`
		PendBody
	}
	saveMessagesOp struct {
		opName
		ConversationID string `json:"conversation_id"`
		MessagesBody
	}
	updateMessageOp struct {
		opName
		ConversationID string `json:"conversation_id"`
		MessageID      string `json:"message_id"`
		UpdateMessageBody
	}
	deleteConversationOp struct {
		opName
		ConversationID string `json:"conversation_id"`
		refBody
		IfRevision *uint64 `json:"if_revision,omitempty"`
		SealMS     uint64  `json:"seal_ms,omitempty"`
	}
)

func (o *saveConversationOp) op() (agent.Op, error) {
	return o.ToOp(o.ConversationID, o.IfRevision), nil
}

func (o *setInterruptedOp) op() (agent.Op, error) { return o.ToOp(o.ConversationID), nil }
func (o *pendMessageOp) op() (agent.Op, error)    { return o.ToOp(o.ConversationID), nil }
func (o *saveMessagesOp) op() (agent.Op, error)   { return o.ToOp(o.ConversationID), nil }
func (o *updateMessageOp) op() (agent.Op, error)  { return o.ToOp(o.ConversationID, o.MessageID), nil }

func (o *deleteConversationOp) op() (agent.Op, error) {
	seal, err := Duration("seal_ms", o.SealMS)
	return &agent.DeleteConversation{ConversationRef: o.ref(o.ConversationID), IfRevision: o.IfRevision, Seal: seal}, err
}

// The reads.
type (
	conversationRead struct {
		readName
		ConversationID string `json:"conversation_id"`
		refBody
	}
	getConversationRead   struct{ conversationRead }
	listConversationsRead struct {
		rowsRead
		Interrupted bool   `json:"interrupted,omitempty" doc:"This, agent_id, or owner_id"`
		AgentID     string `json:"agent_id,omitempty"`
		OwnerID     string `json:"owner_id,omitempty"`
	}
	listMessagesRead struct {
		conversationRead
		From  uint64 `json:"from,omitempty"`
		Tail  uint64 `json:"tail,omitempty"`
		Limit uint64 `json:"limit,omitempty"`
	}
)

func (r *getConversationRead) read() agent.Read {
	return &agent.GetConversation{ConversationRef: r.ref(r.ConversationID)}
}

func (r *listConversationsRead) read() agent.Read {
	return &agent.ListConversations{Page: r.page(), Interrupted: r.Interrupted, Agent: r.AgentID, Owner: r.OwnerID}
}

func (r *listMessagesRead) read() agent.Read {
	return &agent.ListMessages{ConversationRef: r.ref(r.ConversationID), From: r.From, Tail: r.Tail, Limit: r.Limit}
}
