package main

import (
	"github.com/go-json-experiment/json/jsontext"

	"dormouse/agent"
)

// refDoc says which conversation an op means, and on whose behalf.
type refDoc struct {
	opName
	guardDoc
	ConversationID string `json:"conversation_id"`
	AgentID        string `json:"agent_id"`
	OwnerID        string `json:"owner_id"`
}

func (d *refDoc) ref() agent.ConversationRef {
	return agent.ConversationRef{ID: d.ConversationID, Agent: d.AgentID, Owner: d.OwnerID, IfIncarnation: d.IfIncarnation}
}

type saveConversationDoc struct {
	refDoc
	IfRevision uint64         `json:"if_revision"` // always checked
	Lifecycle  string         `json:"lifecycle"`
	State      jsontext.Value `json:"state"`
	Title      string         `json:"title"`
	Consumed   uint64         `json:"consumed"`
}

func (d *saveConversationDoc) op() (agent.Op, error) {
	return &agent.SaveConversation{
		ConversationRef: d.ref(), Revision: d.IfRevision, Lifecycle: agent.Lifecycle(d.Lifecycle), State: agent.JSON(d.State),
		Title: d.Title, Consumed: d.Consumed,
	}, nil
}

type setInterruptedDoc struct {
	refDoc
	Interrupted bool `json:"interrupted"`
}

func (d *setInterruptedDoc) op() (agent.Op, error) {
	return &agent.SetInterrupted{ConversationRef: d.ref(), Interrupted: d.Interrupted}, nil
}

type pendMessageDoc struct {
	refDoc
	Message jsontext.Value `json:"message"`
}

func (d *pendMessageDoc) op() (agent.Op, error) {
	return &agent.PendMessage{ConversationRef: d.ref(), Message: agent.JSON(d.Message)}, nil
}

type saveMessagesDoc struct {
	refDoc
	Messages []struct {
		ID        string         `json:"id"`
		Role      string         `json:"role"`
		Type      string         `json:"type"`
		Content   jsontext.Value `json:"content"`
		ToolCall  string         `json:"tool_call"`
		Status    string         `json:"status"`
		Synthetic bool           `json:"synthetic"`
	} `json:"messages"`
}

func (d *saveMessagesDoc) op() (agent.Op, error) {
	op := &agent.SaveMessages{ConversationRef: d.ref()}
	for _, m := range d.Messages {
		op.Messages = append(op.Messages, agent.MessageDraft{
			ID: m.ID, Role: agent.MessageRole(m.Role), Type: m.Type, Content: agent.JSON(m.Content), ToolCall: m.ToolCall,
			Status: agent.ToolStatus(m.Status), Synthetic: m.Synthetic,
		})
	}
	return op, nil
}

type updateMessageDoc struct {
	refDoc
	MessageID string         `json:"message_id"`
	Status    string         `json:"status"`
	Content   jsontext.Value `json:"content"`
}

func (d *updateMessageDoc) op() (agent.Op, error) {
	return &agent.UpdateMessage{
		ConversationRef: d.ref(), Message: d.MessageID, Status: agent.ToolStatus(d.Status), Content: agent.JSON(d.Content),
	}, nil
}

type deleteConversationDoc struct {
	refDoc
	IfRevision *uint64      `json:"if_revision"`
	Seal       milliseconds `json:"seal_ms"`
}

func (d *deleteConversationDoc) op() (agent.Op, error) {
	return &agent.DeleteConversation{ConversationRef: d.ref(), IfRevision: d.IfRevision, Seal: d.Seal.span()}, nil
}

type reviseValueDoc struct {
	opName
	guardDoc
	Key         string         `json:"key"`
	To          string         `json:"to"`
	ContentType string         `json:"content_type"`
	Metadata    jsontext.Value `json:"metadata"`
	IfRevision  *uint64        `json:"if_revision"`
}

func (d *reviseValueDoc) op() (agent.Op, error) {
	return &agent.ReviseValue{
		Key: d.Key, To: d.To, ContentType: d.ContentType, Metadata: agent.JSON(d.Metadata), IfRevision: d.IfRevision, IfIncarnation: d.IfIncarnation,
	}, nil
}

type conversationChangedDoc struct {
	Conversation conversationRowDoc `json:"conversation"`
	Pending      uint64             `json:"pending,omitzero"`
	Messages     []stampDoc         `json:"messages,omitempty"`
}

func conversationChangedOf(r *agent.ConversationResult) conversationChangedDoc {
	doc := conversationChangedDoc{Conversation: conversationRowOf(r.Conversation), Pending: r.Pending}
	for _, m := range r.Messages {
		doc.Messages = append(doc.Messages, stampDoc(m))
	}
	return doc
}

type messageUpdatedDoc struct {
	Found   bool     `json:"found"`
	Message stampDoc `json:"message"`
}
