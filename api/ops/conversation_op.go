package ops

import (
	"fmt"

	"dormouse/agent"
	oppb "dormouse/proto/op"
)

func conversationOpToProto(out *oppb.Op, op agent.Op) {
	switch op := op.(type) {
	case *agent.SaveConversation:
		out.Op = &oppb.Op_SaveConversation{SaveConversation: &oppb.SaveConversation{
			Ref: ConversationRefToProto(&op.ConversationRef), Revision: op.Revision, Lifecycle: string(op.Lifecycle), State: op.State,
			Title: op.Title, Consumed: op.Consumed,
		}}
	case *agent.SetInterrupted:
		out.Op = &oppb.Op_SetInterrupted{SetInterrupted: &oppb.SetInterrupted{
			Ref: ConversationRefToProto(&op.ConversationRef), Interrupted: op.Interrupted,
		}}
	case *agent.PendMessage:
		out.Op = &oppb.Op_PendMessage{PendMessage: &oppb.PendMessage{Ref: ConversationRefToProto(&op.ConversationRef), Message: op.Message}}
	case *agent.SaveMessages:
		out.Op = &oppb.Op_SaveMessages{SaveMessages: &oppb.SaveMessages{
			Ref: ConversationRefToProto(&op.ConversationRef), Messages: messageDraftsToProto(op.Messages),
		}}
	case *agent.UpdateMessage:
		out.Op = &oppb.Op_UpdateMessage{UpdateMessage: &oppb.UpdateMessage{
			Ref: ConversationRefToProto(&op.ConversationRef), Message: op.Message, Status: string(op.Status), Content: op.Content,
		}}
	case *agent.DeleteConversation:
		out.Op = &oppb.Op_DeleteConversation{DeleteConversation: &oppb.DeleteConversation{
			Ref: ConversationRefToProto(&op.ConversationRef), IfRevision: op.IfRevision, SealMs: Millis(op.Seal),
		}}
	case *agent.ReviseValue:
		out.Op = &oppb.Op_ReviseValue{ReviseValue: &oppb.ReviseValue{
			Key: op.Key, To: op.To, ContentType: op.ContentType, Metadata: op.Metadata,
			IfRevision: op.IfRevision, IfIncarnation: op.IfIncarnation,
		}}
	default:
		panic(fmt.Sprintf("ops: op %T has no protobuf message", op))
	}
}

func conversationOpFromProto(op *oppb.Op) (agent.Op, error) {
	switch o := op.GetOp().(type) {
	case *oppb.Op_SaveConversation:
		if s := o.SaveConversation; s != nil {
			return &agent.SaveConversation{
				ConversationRef: ConversationRefFromProto(s.Ref), Revision: s.Revision, Lifecycle: agent.Lifecycle(s.Lifecycle), State: JSON(s.State),
				Title: s.Title, Consumed: s.Consumed,
			}, nil
		}
	case *oppb.Op_SetInterrupted:
		if s := o.SetInterrupted; s != nil {
			return &agent.SetInterrupted{ConversationRef: ConversationRefFromProto(s.Ref), Interrupted: s.Interrupted}, nil
		}
	case *oppb.Op_PendMessage:
		if p := o.PendMessage; p != nil {
			return &agent.PendMessage{ConversationRef: ConversationRefFromProto(p.Ref), Message: JSON(p.Message)}, nil
		}
	case *oppb.Op_SaveMessages:
		if s := o.SaveMessages; s != nil {
			return &agent.SaveMessages{ConversationRef: ConversationRefFromProto(s.Ref), Messages: messageDraftsFromProto(s.Messages)}, nil
		}
	case *oppb.Op_UpdateMessage:
		if u := o.UpdateMessage; u != nil {
			return &agent.UpdateMessage{
				ConversationRef: ConversationRefFromProto(u.Ref), Message: u.Message, Status: agent.ToolStatus(u.Status), Content: JSON(u.Content),
			}, nil
		}
	case *oppb.Op_DeleteConversation:
		if d := o.DeleteConversation; d != nil {
			seal, err := Duration("seal_ms", d.SealMs)
			return &agent.DeleteConversation{ConversationRef: ConversationRefFromProto(d.Ref), IfRevision: d.IfRevision, Seal: seal}, err
		}
	case *oppb.Op_ReviseValue:
		if r := o.ReviseValue; r != nil {
			return &agent.ReviseValue{
				Key: r.Key, To: r.To, ContentType: r.ContentType, Metadata: JSON(r.Metadata),
				IfRevision: r.IfRevision, IfIncarnation: r.IfIncarnation,
			}, nil
		}
	}
	return nil, noKind()
}

// ConversationRefToProto converts a conversation ref to protobuf.
func ConversationRefToProto(r *agent.ConversationRef) *oppb.ConversationRef {
	return &oppb.ConversationRef{Id: r.ID, Agent: r.Agent, Owner: r.Owner, IfIncarnation: r.IfIncarnation}
}

// ConversationRefFromProto converts a conversation ref from protobuf.
func ConversationRefFromProto(r *oppb.ConversationRef) agent.ConversationRef {
	return agent.ConversationRef{ID: r.GetId(), Agent: r.GetAgent(), Owner: r.GetOwner(), IfIncarnation: r.GetIfIncarnation()}
}

func messageDraftsToProto(drafts []agent.MessageDraft) []*oppb.MessageDraft {
	out := make([]*oppb.MessageDraft, len(drafts))
	for i := range drafts {
		d := &drafts[i]
		out[i] = &oppb.MessageDraft{
			Id: d.ID, Role: string(d.Role), Type: d.Type, Content: d.Content, ToolCall: d.ToolCall, Status: string(d.Status),
			Synthetic: d.Synthetic,
		}
	}
	return out
}

func messageDraftsFromProto(drafts []*oppb.MessageDraft) []agent.MessageDraft {
	out := make([]agent.MessageDraft, len(drafts))
	for i, d := range drafts {
		out[i] = agent.MessageDraft{
			ID: d.GetId(), Role: agent.MessageRole(d.GetRole()), Type: d.GetType(), Content: JSON(d.GetContent()),
			ToolCall: d.GetToolCall(), Status: agent.ToolStatus(d.GetStatus()), Synthetic: d.GetSynthetic(),
		}
	}
	return out
}

func conversationResultToProto(r *agent.ConversationResult) *oppb.ConversationResult {
	out := &oppb.ConversationResult{Conversation: ConversationRowToProto(&r.Conversation), Pending: r.Pending}
	for _, m := range r.Messages {
		out.Messages = append(out.Messages, messageStampToProto(m))
	}
	return out
}

func conversationResultFromProto(r *oppb.ConversationResult) *agent.ConversationResult {
	out := &agent.ConversationResult{Conversation: ConversationRowFromProto(r.GetConversation()), Pending: r.GetPending()}
	for _, m := range r.GetMessages() {
		out.Messages = append(out.Messages, messageStampFromProto(m))
	}
	return out
}

func messageResultToProto(r *agent.MessageResult) *oppb.MessageResult {
	return &oppb.MessageResult{Found: r.Found, Message: messageStampToProto(r.Message)}
}

func messageResultFromProto(r *oppb.MessageResult) *agent.MessageResult {
	return &agent.MessageResult{Found: r.GetFound(), Message: messageStampFromProto(r.GetMessage())}
}

func messageStampToProto(s agent.EntryStamp) *oppb.MessageStamp {
	return &oppb.MessageStamp{Id: s.ID, Seq: s.Seq, At: s.At}
}

func messageStampFromProto(s *oppb.MessageStamp) agent.EntryStamp {
	return agent.EntryStamp{ID: s.GetId(), Seq: s.GetSeq(), At: s.GetAt()}
}
