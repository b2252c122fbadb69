package rest

import "dormouse/agent"

// refBody says on whose behalf a conversation is written.
type refBody struct {
	AgentID       string `json:"agent_id,omitempty" doc:"Must be the conversation's, where it has one; any where absent"`
	OwnerID       string `json:"owner_id,omitempty" doc:"Must be the conversation's, where it has one; any where absent"`
	IfIncarnation uint64 `json:"if_incarnation,omitempty"`
}

func (b *refBody) ref(id string) agent.ConversationRef {
	return agent.ConversationRef{ID: id, Agent: b.AgentID, Owner: b.OwnerID, IfIncarnation: b.IfIncarnation}
}

type saveConversationBody struct {
	refBody
	IfRevision *uint64  `json:"if_revision,omitempty" doc:"The revision that the state was loaded at. It is always checked; absent means 0, the first save"`
	Lifecycle  string   `json:"lifecycle" enum:"completion,cancel,error,interrupt,title_generated,shutdown"`
	State      document `json:"state" doc:"With a version, from 1 on, and a state, an object"`
	Title      string   `json:"title,omitempty" doc:"Keeps the one that is there where absent"`
	Consumed   uint64   `json:"consumed,omitempty" doc:"Pending messages up to this number are in the state, and go"`
}

func (b *saveConversationBody) save(id string, revision *uint64) *agent.SaveConversation {
	op := &agent.SaveConversation{
		ConversationRef: b.ref(id), Lifecycle: agent.Lifecycle(b.Lifecycle), State: agent.JSON(b.State), Title: b.Title, Consumed: b.Consumed,
	}
	if revision != nil {
		op.Revision = *revision
	}
	return op
}

type interruptedBody struct {
	refBody
	Interrupted bool `json:"interrupted"`
}

func (b *interruptedBody) ToOp(id string) agent.Op {
	return &agent.SetInterrupted{ConversationRef: b.ref(id), Interrupted: b.Interrupted}
}

type pendBody struct {
	refBody
	Message document `json:"message"`
}

func (b *pendBody) ToOp(id string) agent.Op {
	return &agent.PendMessage{ConversationRef: b.ref(id), Message: agent.JSON(b.Message)}
}

type messagesBody struct {
	refBody
	Messages []messageDraft `json:"messages" nullable:"false"`
}

type messageDraft struct {
	ID        string   `json:"id,omitempty" doc:"Made for it where absent"`
	Role      string   `json:"role" enum:"user,assistant,tool,system"`
	Type      string   `json:"type,omitempty" doc:"Open; text where absent"`
	Content   document `json:"content,omitempty"`
	ToolCall  string   `json:"tool_call,omitempty" doc:"The id of the call that it shows or, as role tool, shows the result of"`
	Status    string   `json:"status,omitempty" doc:"Of a tool call: executing, completed, failed, interrupted or cancelled"`
	Synthetic bool     `json:"synthetic,omitempty"`
}

func (b *messagesBody) ToOp(id string) agent.Op {
	op := &agent.SaveMessages{ConversationRef: b.ref(id), Messages: make([]agent.MessageDraft, len(b.Messages))}
	for i, m := range b.Messages {
		op.Messages[i] = agent.MessageDraft{
			ID: m.ID, Role: agent.MessageRole(m.Role), Type: m.Type, Content: agent.JSON(m.Content), ToolCall: m.ToolCall,
			Status: agent.ToolStatus(m.Status), Synthetic: m.Synthetic,
		}
	}
	return op
}

type updateMessageBody struct {
	refBody
	Status  string   `json:"status,omitempty" doc:"Keeps it where absent"`
	Content document `json:"content,omitempty" doc:"Keeps it where absent"`
}

func (b *updateMessageBody) update(id, message string) agent.Op {
	return &agent.UpdateMessage{ConversationRef: b.ref(id), Message: message, Status: agent.ToolStatus(b.Status), Content: agent.JSON(b.Content)}
}

// The ops of a commit: a body and whose it is.
type (
	saveConversationOp struct {
		opName
		ConversationID string `json:"conversation_id"`
		saveConversationBody
	}
	setInterruptedOp struct {
		opName
		ConversationID string `json:"conversation_id"`
		interruptedBody
	}
	pendMessageOp struct {
		opName
		ConversationID string `json:"conversation_id"`
		pendBody
	}
	saveMessagesOp struct {
		opName
		ConversationID string `json:"conversation_id"`
		messagesBody
	}
	updateMessageOp struct {
		opName
		ConversationID string `json:"conversation_id"`
		MessageID      string `json:"message_id"`
		updateMessageBody
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
	return o.save(o.ConversationID, o.IfRevision), nil
}
func (o *setInterruptedOp) op() (agent.Op, error) { return o.ToOp(o.ConversationID), nil }
func (o *pendMessageOp) op() (agent.Op, error)    { return o.ToOp(o.ConversationID), nil }
func (o *saveMessagesOp) op() (agent.Op, error)   { return o.ToOp(o.ConversationID), nil }
func (o *updateMessageOp) op() (agent.Op, error)  { return o.update(o.ConversationID, o.MessageID), nil }

func (o *deleteConversationOp) op() (agent.Op, error) {
	seal, err := timed("seal_ms", o.SealMS)
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
		pageRead
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
