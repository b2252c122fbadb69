package ops

import (
	"dormouse/agent"
	oppb "dormouse/proto/op"
)

var conversationCodecs = []opCodec{
	codec(encodeSaveConversation, (*oppb.Op).GetSaveConversation, decodeSaveConversation),
	codec(encodeSetInterrupted, (*oppb.Op).GetSetInterrupted, decodeSetInterrupted),
	codec(encodePendMessage, (*oppb.Op).GetPendMessage, decodePendMessage),
	codec(encodeSaveMessages, (*oppb.Op).GetSaveMessages, decodeSaveMessages),
	codec(encodeUpdateMessage, (*oppb.Op).GetUpdateMessage, decodeUpdateMessage),
	codec(encodeDeleteConversation, (*oppb.Op).GetDeleteConversation, decodeDeleteConversation),
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

func encodeSaveConversation(out *oppb.Op, o *agent.SaveConversation) {
	out.Op = &oppb.Op_SaveConversation{SaveConversation: &oppb.SaveConversation{
		Ref: ConversationRefToProto(&o.ConversationRef), Revision: o.Revision, Lifecycle: string(o.Lifecycle), State: o.State,
		Title: o.Title, Consumed: o.Consumed,
	}}
}

func decodeSaveConversation(p *oppb.SaveConversation) (agent.Op, error) {
	return &agent.SaveConversation{
		ConversationRef: ConversationRefFromProto(p.Ref), Revision: p.Revision, Lifecycle: agent.Lifecycle(p.Lifecycle), State: JSON(p.State),
		Title: p.Title, Consumed: p.Consumed,
	}, nil
}

func encodeSetInterrupted(out *oppb.Op, o *agent.SetInterrupted) {
	out.Op = &oppb.Op_SetInterrupted{SetInterrupted: &oppb.SetInterrupted{
		Ref: ConversationRefToProto(&o.ConversationRef), Interrupted: o.Interrupted,
	}}
}

func decodeSetInterrupted(p *oppb.SetInterrupted) (agent.Op, error) {
	return &agent.SetInterrupted{ConversationRef: ConversationRefFromProto(p.Ref), Interrupted: p.Interrupted}, nil
}

func encodePendMessage(out *oppb.Op, o *agent.PendMessage) {
	out.Op = &oppb.Op_PendMessage{PendMessage: &oppb.PendMessage{Ref: ConversationRefToProto(&o.ConversationRef), Message: o.Message}}
}

func decodePendMessage(p *oppb.PendMessage) (agent.Op, error) {
	return &agent.PendMessage{ConversationRef: ConversationRefFromProto(p.Ref), Message: JSON(p.Message)}, nil
}

func encodeSaveMessages(out *oppb.Op, o *agent.SaveMessages) {
	out.Op = &oppb.Op_SaveMessages{SaveMessages: &oppb.SaveMessages{
		Ref: ConversationRefToProto(&o.ConversationRef), Messages: messageDraftsToProto(o.Messages),
	}}
}

func decodeSaveMessages(p *oppb.SaveMessages) (agent.Op, error) {
	return &agent.SaveMessages{ConversationRef: ConversationRefFromProto(p.Ref), Messages: messageDraftsFromProto(p.Messages)}, nil
}

func encodeUpdateMessage(out *oppb.Op, o *agent.UpdateMessage) {
	out.Op = &oppb.Op_UpdateMessage{UpdateMessage: &oppb.UpdateMessage{
		Ref: ConversationRefToProto(&o.ConversationRef), Message: o.Message, Status: string(o.Status), Content: o.Content,
	}}
}

func decodeUpdateMessage(p *oppb.UpdateMessage) (agent.Op, error) {
	return &agent.UpdateMessage{
		ConversationRef: ConversationRefFromProto(p.Ref), Message: p.Message, Status: agent.ToolStatus(p.Status), Content: JSON(p.Content),
	}, nil
}

func encodeDeleteConversation(out *oppb.Op, o *agent.DeleteConversation) {
	out.Op = &oppb.Op_DeleteConversation{DeleteConversation: &oppb.DeleteConversation{
		Ref: ConversationRefToProto(&o.ConversationRef), IfRevision: o.IfRevision, SealMs: Millis(o.Seal),
	}}
}

func decodeDeleteConversation(p *oppb.DeleteConversation) (agent.Op, error) {
	seal, err := Duration("seal_ms", p.SealMs)
	return &agent.DeleteConversation{ConversationRef: ConversationRefFromProto(p.Ref), IfRevision: p.IfRevision, Seal: seal}, err
}
