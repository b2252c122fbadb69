package wire

import (
	"fmt"

	"dormouse/agent"
	apipb "dormouse/proto/api"
)

func conversationOpToProto(out *apipb.Op, op agent.Op) {
	switch op := op.(type) {
	case *agent.SaveConversation:
		out.Op = &apipb.Op_SaveConversation{SaveConversation: &apipb.SaveConversation{
			Ref: refToProto(&op.ConversationRef), Revision: op.Revision, Lifecycle: string(op.Lifecycle), State: op.State,
			Title: op.Title, Consumed: op.Consumed,
		}}
	case *agent.SetInterrupted:
		out.Op = &apipb.Op_SetInterrupted{SetInterrupted: &apipb.SetInterrupted{
			Ref: refToProto(&op.ConversationRef), Interrupted: op.Interrupted,
		}}
	case *agent.PendMessage:
		out.Op = &apipb.Op_PendMessage{PendMessage: &apipb.PendMessage{Ref: refToProto(&op.ConversationRef), Message: op.Message}}
	case *agent.SaveMessages:
		out.Op = &apipb.Op_SaveMessages{SaveMessages: &apipb.SaveMessages{
			Ref: refToProto(&op.ConversationRef), Messages: messageDraftsToProto(op.Messages),
		}}
	case *agent.UpdateMessage:
		out.Op = &apipb.Op_UpdateMessage{UpdateMessage: &apipb.UpdateMessage{
			Ref: refToProto(&op.ConversationRef), Message: op.Message, Status: string(op.Status), Content: op.Content,
		}}
	case *agent.DeleteConversation:
		out.Op = &apipb.Op_DeleteConversation{DeleteConversation: &apipb.DeleteConversation{
			Ref: refToProto(&op.ConversationRef), IfRevision: op.IfRevision, SealMs: millis(op.Seal),
		}}
	case *agent.ReviseValue:
		out.Op = &apipb.Op_ReviseValue{ReviseValue: &apipb.ReviseValue{
			Key: op.Key, To: op.To, ContentType: op.ContentType, Metadata: op.Metadata,
			IfRevision: op.IfRevision, IfIncarnation: op.IfIncarnation,
		}}
	default:
		panic(fmt.Sprintf("wire: op %T has no wire format", op))
	}
}

func conversationOpFromProto(op *apipb.Op) (agent.Op, error) {
	switch o := op.GetOp().(type) {
	case *apipb.Op_SaveConversation:
		if s := o.SaveConversation; s != nil {
			return &agent.SaveConversation{
				ConversationRef: refFromProto(s.Ref), Revision: s.Revision, Lifecycle: agent.Lifecycle(s.Lifecycle), State: json(s.State),
				Title: s.Title, Consumed: s.Consumed,
			}, nil
		}
	case *apipb.Op_SetInterrupted:
		if s := o.SetInterrupted; s != nil {
			return &agent.SetInterrupted{ConversationRef: refFromProto(s.Ref), Interrupted: s.Interrupted}, nil
		}
	case *apipb.Op_PendMessage:
		if p := o.PendMessage; p != nil {
			return &agent.PendMessage{ConversationRef: refFromProto(p.Ref), Message: json(p.Message)}, nil
		}
	case *apipb.Op_SaveMessages:
		if s := o.SaveMessages; s != nil {
			return &agent.SaveMessages{ConversationRef: refFromProto(s.Ref), Messages: messageDraftsFromProto(s.Messages)}, nil
		}
	case *apipb.Op_UpdateMessage:
		if u := o.UpdateMessage; u != nil {
			return &agent.UpdateMessage{
				ConversationRef: refFromProto(u.Ref), Message: u.Message, Status: agent.ToolStatus(u.Status), Content: json(u.Content),
			}, nil
		}
	case *apipb.Op_DeleteConversation:
		if d := o.DeleteConversation; d != nil {
			seal, err := duration("seal_ms", d.SealMs)
			return &agent.DeleteConversation{ConversationRef: refFromProto(d.Ref), IfRevision: d.IfRevision, Seal: seal}, err
		}
	case *apipb.Op_ReviseValue:
		if r := o.ReviseValue; r != nil {
			return &agent.ReviseValue{
				Key: r.Key, To: r.To, ContentType: r.ContentType, Metadata: json(r.Metadata),
				IfRevision: r.IfRevision, IfIncarnation: r.IfIncarnation,
			}, nil
		}
	}
	return nil, noKind()
}

func refToProto(r *agent.ConversationRef) *apipb.ConversationRef {
	return &apipb.ConversationRef{Id: r.ID, Agent: r.Agent, Owner: r.Owner, IfIncarnation: r.IfIncarnation}
}

func refFromProto(r *apipb.ConversationRef) agent.ConversationRef {
	return agent.ConversationRef{ID: r.GetId(), Agent: r.GetAgent(), Owner: r.GetOwner(), IfIncarnation: r.GetIfIncarnation()}
}

func messageDraftsToProto(drafts []agent.MessageDraft) []*apipb.MessageDraft {
	out := make([]*apipb.MessageDraft, len(drafts))
	for i := range drafts {
		d := &drafts[i]
		out[i] = &apipb.MessageDraft{
			Id: d.ID, Role: string(d.Role), Type: d.Type, Content: d.Content, ToolCall: d.ToolCall, Status: string(d.Status),
			Synthetic: d.Synthetic,
		}
	}
	return out
}

func messageDraftsFromProto(drafts []*apipb.MessageDraft) []agent.MessageDraft {
	out := make([]agent.MessageDraft, len(drafts))
	for i, d := range drafts {
		out[i] = agent.MessageDraft{
			ID: d.GetId(), Role: agent.MessageRole(d.GetRole()), Type: d.GetType(), Content: json(d.GetContent()),
			ToolCall: d.GetToolCall(), Status: agent.ToolStatus(d.GetStatus()), Synthetic: d.GetSynthetic(),
		}
	}
	return out
}

func conversationResultToProto(r *agent.ConversationResult) *apipb.ConversationResult {
	out := &apipb.ConversationResult{Conversation: conversationRowToProto(&r.Conversation), Pending: r.Pending}
	for _, m := range r.Messages {
		out.Messages = append(out.Messages, messageStampToProto(m))
	}
	return out
}

func conversationResultFromProto(r *apipb.ConversationResult) *agent.ConversationResult {
	out := &agent.ConversationResult{Conversation: conversationRowFromProto(r.GetConversation()), Pending: r.GetPending()}
	for _, m := range r.GetMessages() {
		out.Messages = append(out.Messages, messageStampFromProto(m))
	}
	return out
}

func messageResultToProto(r *agent.MessageResult) *apipb.MessageResult {
	return &apipb.MessageResult{Found: r.Found, Message: messageStampToProto(r.Message)}
}

func messageResultFromProto(r *apipb.MessageResult) *agent.MessageResult {
	return &agent.MessageResult{Found: r.GetFound(), Message: messageStampFromProto(r.GetMessage())}
}

func messageStampToProto(s agent.EntryStamp) *apipb.MessageStamp {
	return &apipb.MessageStamp{Id: s.ID, Seq: s.Seq, At: s.At}
}

func messageStampFromProto(s *apipb.MessageStamp) agent.EntryStamp {
	return agent.EntryStamp{ID: s.GetId(), Seq: s.GetSeq(), At: s.GetAt()}
}
