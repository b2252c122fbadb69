package command

import (
	"dormouse/agent"
	logpb "dormouse/proto/log"
)

func encodeConversationOp(op agent.Op) (*logpb.Op, error) {
	switch o := op.(type) {
	case *agent.SaveConversation:
		return &logpb.Op{Op: &logpb.Op_SaveConversation{SaveConversation: &logpb.SaveConversation{
			Ref: encodeRef(&o.ConversationRef), Revision: o.Revision, Lifecycle: string(o.Lifecycle), State: o.State, Title: o.Title,
			Consumed: o.Consumed,
		}}}, nil
	case *agent.SetInterrupted:
		return &logpb.Op{Op: &logpb.Op_SetInterrupted{SetInterrupted: &logpb.SetInterrupted{
			Ref: encodeRef(&o.ConversationRef), Interrupted: o.Interrupted,
		}}}, nil
	case *agent.PendMessage:
		return &logpb.Op{Op: &logpb.Op_PendMessage{PendMessage: &logpb.PendMessage{
			Ref: encodeRef(&o.ConversationRef), Message: o.Message,
		}}}, nil
	case *agent.SaveMessages:
		p := &logpb.SaveMessages{Ref: encodeRef(&o.ConversationRef)}
		for i := range o.Messages {
			p.Messages = append(p.Messages, encodeMessageDraft(&o.Messages[i]))
		}
		return &logpb.Op{Op: &logpb.Op_SaveMessages{SaveMessages: p}}, nil
	case *agent.UpdateMessage:
		return &logpb.Op{Op: &logpb.Op_UpdateMessage{UpdateMessage: &logpb.UpdateMessage{
			Ref: encodeRef(&o.ConversationRef), Message: o.Message, Status: string(o.Status), Content: o.Content,
		}}}, nil
	case *agent.DeleteConversation:
		return &logpb.Op{Op: &logpb.Op_DeleteConversation{DeleteConversation: &logpb.DeleteConversation{
			Ref: encodeRef(&o.ConversationRef), IfRevision: o.IfRevision, SealMs: Millis(o.Seal),
		}}}, nil
	case *agent.ReviseValue:
		return &logpb.Op{Op: &logpb.Op_ReviseValue{ReviseValue: &logpb.ReviseValue{
			Key: o.Key, To: o.To, ContentType: o.ContentType, Metadata: o.Metadata, IfRevision: o.IfRevision, IfIncarnation: o.IfIncarnation,
		}}}, nil
	default:
		return encodeTimerOp(op)
	}
}

func decodeConversationOp(op *logpb.Op) (agent.Op, error) {
	switch p := op.Op.(type) {
	case *logpb.Op_SaveConversation:
		o := p.SaveConversation
		return &agent.SaveConversation{
			ConversationRef: decodeRef(o.Ref), Revision: o.Revision, Lifecycle: agent.Lifecycle(o.Lifecycle), State: o.State, Title: o.Title,
			Consumed: o.Consumed,
		}, nil
	case *logpb.Op_SetInterrupted:
		return &agent.SetInterrupted{ConversationRef: decodeRef(p.SetInterrupted.Ref), Interrupted: p.SetInterrupted.Interrupted}, nil
	case *logpb.Op_PendMessage:
		return &agent.PendMessage{ConversationRef: decodeRef(p.PendMessage.Ref), Message: p.PendMessage.Message}, nil
	case *logpb.Op_SaveMessages:
		o := &agent.SaveMessages{ConversationRef: decodeRef(p.SaveMessages.Ref), Messages: make([]agent.MessageDraft, len(p.SaveMessages.Messages))}
		for i, d := range p.SaveMessages.Messages {
			o.Messages[i] = decodeMessageDraft(d)
		}
		return o, nil
	case *logpb.Op_UpdateMessage:
		o := p.UpdateMessage
		return &agent.UpdateMessage{
			ConversationRef: decodeRef(o.Ref), Message: o.Message, Status: agent.ToolStatus(o.Status), Content: o.Content,
		}, nil
	case *logpb.Op_DeleteConversation:
		o := p.DeleteConversation
		return &agent.DeleteConversation{ConversationRef: decodeRef(o.Ref), IfRevision: o.IfRevision, Seal: Duration(o.SealMs)}, nil
	case *logpb.Op_ReviseValue:
		o := p.ReviseValue
		return &agent.ReviseValue{
			Key: o.Key, To: o.To, ContentType: o.ContentType, Metadata: o.Metadata, IfRevision: o.IfRevision, IfIncarnation: o.IfIncarnation,
		}, nil
	default:
		return decodeTimerOp(op)
	}
}

func encodeRef(r *agent.ConversationRef) *logpb.ConversationRef {
	return &logpb.ConversationRef{Id: r.ID, Agent: r.Agent, Owner: r.Owner, IfIncarnation: r.IfIncarnation}
}

func decodeRef(p *logpb.ConversationRef) agent.ConversationRef {
	return agent.ConversationRef{ID: p.GetId(), Agent: p.GetAgent(), Owner: p.GetOwner(), IfIncarnation: p.GetIfIncarnation()}
}

func encodeMessageDraft(d *agent.MessageDraft) *logpb.MessageDraft {
	return &logpb.MessageDraft{
		Id: d.ID, Role: string(d.Role), Type: d.Type, Content: d.Content, ToolCall: d.ToolCall, Status: string(d.Status), Synthetic: d.Synthetic,
	}
}

func decodeMessageDraft(p *logpb.MessageDraft) agent.MessageDraft {
	return agent.MessageDraft{
		ID: p.Id, Role: agent.MessageRole(p.Role), Type: p.Type, Content: p.Content, ToolCall: p.ToolCall,
		Status: agent.ToolStatus(p.Status), Synthetic: p.Synthetic,
	}
}

// encodeConversationResult keeps what a retry is to be told: the row as callers
// see it.
func encodeConversationResult(r *agent.ConversationResult) *logpb.ConversationResult {
	v := &r.Conversation
	p := &logpb.ConversationResult{Id: v.ID, Pending: r.Pending, Row: &logpb.ConversationRow{
		Incarnation: v.Incarnation, Revision: v.Revision, Agent: v.Agent, Owner: v.Owner, Lifecycle: string(v.Lifecycle),
		Interrupted: v.Interrupted, Version: v.Version, Title: v.Title, Messages: v.MessageCount, Pending: v.PendingCount,
		Consumed: v.Consumed, CreatedAt: v.CreatedAt, UpdatedAt: v.UpdatedAt, SavedAt: v.SavedAt,
		ExpiresAt: v.ExpiresAt,
	}}
	for _, m := range r.Messages {
		p.Messages = append(p.Messages, encodeMessageStamp(m))
	}
	return p
}

func decodeConversationResult(p *logpb.ConversationResult) *agent.ConversationResult {
	r := &agent.ConversationResult{Conversation: ConversationRowOf(p.GetId(), p.GetRow()), Pending: p.GetPending()}
	for _, m := range p.GetMessages() {
		r.Messages = append(r.Messages, decodeMessageStamp(m))
	}
	return r
}

func encodeMessageResult(r *agent.MessageResult) *logpb.MessageResult {
	return &logpb.MessageResult{Found: r.Found, Message: encodeMessageStamp(r.Message)}
}

func encodeMessageStamp(s agent.EntryStamp) *logpb.MessageStamp {
	return &logpb.MessageStamp{Id: s.ID, Seq: s.Seq, At: s.At}
}

func decodeMessageStamp(p *logpb.MessageStamp) agent.EntryStamp {
	return agent.EntryStamp{ID: p.GetId(), Seq: p.GetSeq(), At: p.GetAt()}
}

// ConversationRowOf is a conversation's row as callers see it.
func ConversationRowOf(id string, row *logpb.ConversationRow) agent.ConversationRow {
	return agent.ConversationRow{
		ID: id, Incarnation: row.GetIncarnation(), Revision: row.GetRevision(), Agent: row.GetAgent(), Owner: row.GetOwner(),
		Lifecycle: agent.Lifecycle(row.GetLifecycle()), Interrupted: row.GetInterrupted(), Version: row.GetVersion(), Title: row.GetTitle(),
		MessageCount: row.GetMessages(), PendingCount: row.GetPending(), Consumed: row.GetConsumed(),
		CreatedAt: row.GetCreatedAt(), UpdatedAt: row.GetUpdatedAt(), SavedAt: row.GetSavedAt(),
		ExpiresAt: row.GetExpiresAt(),
	}
}

// MessageOf is a message as callers see it.
func MessageOf(incarnation, seq uint64, row *logpb.MessageRow) agent.Message {
	m := agent.Message{
		ID: row.Id, Seq: seq, Revision: row.Revision, At: row.At, UpdatedAt: row.UpdatedAt, Role: agent.MessageRole(row.Role),
		Type: row.Type, Content: OrEmptyObject(row.Content), ToolCall: row.ToolCall, Status: agent.ToolStatus(row.Status), Synthetic: row.Synthetic,
	}
	if m.ID == "" {
		m.ID = agent.MessageID(incarnation, seq)
	}
	return m
}
