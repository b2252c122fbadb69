package convert

import (
	"fmt"

	"dormouse/agent"
	"dormouse/api/ops"
	apipb "dormouse/proto/api"
)

func conversationReadToProto(out *apipb.Read, read agent.Read) {
	switch r := read.(type) {
	case *agent.GetConversation:
		out.Read = &apipb.Read_GetConversation{GetConversation: ops.ConversationRefToProto(&r.ConversationRef)}
	case *agent.ListConversations:
		out.Read = &apipb.Read_ListConversations{ListConversations: &apipb.ListConversations{
			Prefix: r.Prefix, After: r.After, Limit: r.Limit, Order: string(r.Order), Since: r.Since, Until: r.Until,
			Interrupted: r.Interrupted, Agent: r.Agent, Owner: r.Owner,
		}}
	case *agent.ListMessages:
		out.Read = &apipb.Read_ListMessages{ListMessages: &apipb.ListMessages{
			Ref: ops.ConversationRefToProto(&r.ConversationRef), From: r.From, Tail: r.Tail, Limit: r.Limit,
		}}
	default:
		panic(fmt.Sprintf("convert: read %T has no protobuf message", read))
	}
}

func conversationReadFromProto(read *apipb.Read) agent.Read {
	switch r := read.GetRead().(type) {
	case *apipb.Read_GetConversation:
		return &agent.GetConversation{ConversationRef: ops.ConversationRefFromProto(r.GetConversation)}
	case *apipb.Read_ListConversations:
		l := r.ListConversations
		return &agent.ListConversations{
			Page:        pageFromProto(l),
			Interrupted: l.GetInterrupted(), Agent: l.GetAgent(), Owner: l.GetOwner(),
		}
	case *apipb.Read_ListMessages:
		l := r.ListMessages
		return &agent.ListMessages{ConversationRef: ops.ConversationRefFromProto(l.GetRef()), From: l.GetFrom(), Tail: l.GetTail(), Limit: l.GetLimit()}
	default:
		return nil
	}
}

func conversationAnswerToProto(out *apipb.Answer, found agent.Found) {
	switch f := found.(type) {
	case *agent.SavedConversation:
		out.Answer = &apipb.Answer_Conversation{Conversation: savedConversationToProto(f)}
	case *agent.ConversationList:
		out.Answer = &apipb.Answer_Conversations{Conversations: &apipb.ConversationList{
			Items: each(f.Items, ops.ConversationRowToProto), Next: f.Next,
		}}
	case *agent.MessageList:
		out.Answer = &apipb.Answer_Messages{Messages: &apipb.MessageList{
			Conversation: ops.ConversationRowToProto(&f.Conversation), Items: each(f.Items, displayedToProto), Next: f.Next,
		}}
	default:
		panic(fmt.Sprintf("convert: answer %T has no protobuf message", found))
	}
}

func conversationAnswerFromProto(a *apipb.Answer) (agent.Found, error) {
	switch f := a.GetAnswer().(type) {
	case *apipb.Answer_Conversation:
		return savedConversationFromProto(f.Conversation), nil
	case *apipb.Answer_Conversations:
		list := &agent.ConversationList{Next: f.Conversations.GetNext()}
		for _, row := range f.Conversations.GetItems() {
			list.Items = append(list.Items, ops.ConversationRowFromProto(row))
		}
		return list, nil
	case *apipb.Answer_Messages:
		list := &agent.MessageList{Conversation: ops.ConversationRowFromProto(f.Messages.GetConversation())}
		if f.Messages != nil {
			list.Next = f.Messages.Next
		}
		for _, m := range f.Messages.GetItems() {
			list.Items = append(list.Items, displayedFromProto(m))
		}
		return list, nil
	default:
		return nil, ops.NoAnswer()
	}
}

func savedConversationToProto(c *agent.SavedConversation) *apipb.SavedConversation {
	out := &apipb.SavedConversation{Row: ops.ConversationRowToProto(&c.ConversationRow), State: c.State}
	for _, p := range c.Pending {
		out.Pending = append(out.Pending, &apipb.PendingMessage{Number: p.Number, Message: p.Message, At: p.At})
	}
	return out
}

func savedConversationFromProto(c *apipb.SavedConversation) *agent.SavedConversation {
	out := &agent.SavedConversation{ConversationRow: ops.ConversationRowFromProto(c.GetRow()), State: ops.JSON(c.GetState())}
	for _, p := range c.GetPending() {
		out.Pending = append(out.Pending, agent.PendingMessage{Number: p.GetNumber(), Message: ops.JSON(p.GetMessage()), At: p.GetAt()})
	}
	return out
}

// displayedToProto converts a visible message.
func displayedToProto(m *agent.Message) *apipb.Message {
	return &apipb.Message{
		Id: m.ID, Seq: m.Seq, Revision: m.Revision, At: m.At, UpdatedAt: m.UpdatedAt, Role: string(m.Role), Type: m.Type,
		Content: m.Content, ToolCall: m.ToolCall, Status: string(m.Status), Synthetic: m.Synthetic,
	}
}

func displayedFromProto(m *apipb.Message) agent.Message {
	return agent.Message{
		ID: m.GetId(), Seq: m.GetSeq(), Revision: m.GetRevision(), At: m.GetAt(), UpdatedAt: m.GetUpdatedAt(),
		Role: agent.MessageRole(m.GetRole()), Type: m.GetType(), Content: ops.JSON(m.GetContent()), ToolCall: m.GetToolCall(),
		Status: agent.ToolStatus(m.GetStatus()), Synthetic: m.GetSynthetic(),
	}
}
