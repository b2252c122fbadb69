package ops

import (
	"dormouse/agent"
	oppb "dormouse/proto/op"
)

// ConversationRowToProto converts a conversation row to protobuf.
func ConversationRowToProto(r *agent.ConversationRow) *oppb.ConversationRow {
	return &oppb.ConversationRow{
		Id: r.ID, Incarnation: r.Incarnation, Revision: r.Revision, Agent: r.Agent, Owner: r.Owner, Lifecycle: string(r.Lifecycle),
		Interrupted: r.Interrupted, Version: r.Version, Title: r.Title, MessageCount: r.MessageCount, PendingCount: r.PendingCount,
		Consumed: r.Consumed, CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt, SavedAt: r.SavedAt,
		ExpiresAt: r.ExpiresAt,
	}
}

// ConversationRowFromProto converts a conversation row from protobuf.
func ConversationRowFromProto(r *oppb.ConversationRow) agent.ConversationRow {
	return agent.ConversationRow{
		ID: r.GetId(), Incarnation: r.GetIncarnation(), Revision: r.GetRevision(), Agent: r.GetAgent(), Owner: r.GetOwner(),
		Lifecycle: agent.Lifecycle(r.GetLifecycle()), Interrupted: r.GetInterrupted(), Version: r.GetVersion(), Title: r.GetTitle(),
		MessageCount: r.GetMessageCount(), PendingCount: r.GetPendingCount(), Consumed: r.GetConsumed(),
		CreatedAt: r.GetCreatedAt(), UpdatedAt: r.GetUpdatedAt(), SavedAt: r.GetSavedAt(),
		ExpiresAt: r.GetExpiresAt(),
	}
}
