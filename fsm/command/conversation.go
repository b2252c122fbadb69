package command

import (
	"dormouse/agent"
	logpb "dormouse/proto/log"
)

// ConversationRowOf returns a conversation's row as callers see it.
func ConversationRowOf(id string, row *logpb.ConversationRow) agent.ConversationRow {
	return agent.ConversationRow{
		ID: id, Incarnation: row.GetIncarnation(), Revision: row.GetRevision(), Agent: row.GetAgent(), Owner: row.GetOwner(),
		Lifecycle: agent.Lifecycle(row.GetLifecycle()), Interrupted: row.GetInterrupted(), Version: row.GetVersion(), Title: row.GetTitle(),
		MessageCount: row.GetMessages(), PendingCount: row.GetPending(), Consumed: row.GetConsumed(),
		CreatedAt: row.GetCreatedAt(), UpdatedAt: row.GetUpdatedAt(), SavedAt: row.GetSavedAt(),
		ExpiresAt: row.GetExpiresAt(),
	}
}

// MessageOf returns a message as callers see it.
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
