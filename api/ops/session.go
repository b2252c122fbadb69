package ops

import (
	"dormouse/agent"
	oppb "dormouse/proto/op"
)

// SessionSettingsToProto converts the settings of a session to protobuf.
func SessionSettingsToProto(s *agent.SessionSettings) *oppb.SessionSettings {
	return &oppb.SessionSettings{
		Busy: string(s.Busy), QueueMax: s.QueueMax, SchemaVersion: s.SchemaVersion, Thread: s.Thread, Checkpoint: s.Checkpoint,
	}
}

// SessionSettingsFromProto converts the settings of a session from protobuf.
func SessionSettingsFromProto(s *oppb.SessionSettings) agent.SessionSettings {
	return agent.SessionSettings{
		Busy: agent.BusyPolicy(s.GetBusy()), QueueMax: s.GetQueueMax(), SchemaVersion: s.GetSchemaVersion(),
		Thread: s.GetThread(), Checkpoint: s.GetCheckpoint(),
	}
}

// TurnStateToProto converts a turn state to protobuf.
func TurnStateToProto(c *agent.Conversation) *oppb.Conversation {
	if c == nil {
		return nil
	}
	return &oppb.Conversation{
		AgentState: c.AgentState, ContinuationRevision: c.ContinuationRevision, TurnCount: c.TurnCount,
		ContextState: c.ContextState, LastCompletedRequestId: c.LastCompletedRequestID,
	}
}

// TurnStateFromProto converts a turn state from protobuf.
func TurnStateFromProto(c *oppb.Conversation) *agent.Conversation {
	if c == nil {
		return nil
	}
	return &agent.Conversation{
		AgentState: JSON(c.AgentState), ContinuationRevision: c.ContinuationRevision, TurnCount: c.TurnCount,
		ContextState: JSON(c.ContextState), LastCompletedRequestID: c.LastCompletedRequestId,
	}
}

// RequestToProto converts a request to protobuf.
func RequestToProto(r *agent.SessionRequest) *oppb.SessionRequest {
	if r == nil {
		return nil
	}
	return &oppb.SessionRequest{
		Id: r.ID, Input: r.Input, Metadata: r.Metadata, OwnerId: r.Owner, At: r.At, Outcome: string(r.Outcome),
	}
}

// RequestFromProto converts a request from protobuf.
func RequestFromProto(r *oppb.SessionRequest) *agent.SessionRequest {
	if r == nil {
		return nil
	}
	return &agent.SessionRequest{
		ID: r.Id, Input: JSON(r.Input), Metadata: JSON(r.Metadata), Owner: r.OwnerId, At: r.At,
		Outcome: agent.RequestOutcome(r.Outcome),
	}
}

func sessionSnapshotToProto(s *agent.SessionSnapshot) *oppb.SessionSnapshot {
	return &oppb.SessionSnapshot{
		Id: s.ID, AgentId: s.Agent, RequestId: s.RequestID,
		Cursor:    &oppb.Cursor{Phase: string(s.Cursor.Phase), LoopIndex: s.Cursor.LoopIndex, Metadata: s.Cursor.Metadata},
		TurnState: s.TurnState, Metadata: s.Metadata, At: s.At,
	}
}

func sessionSnapshotFromProto(s *oppb.SessionSnapshot) agent.SessionSnapshot {
	return agent.SessionSnapshot{
		ID: s.GetId(), Agent: s.GetAgentId(), RequestID: s.GetRequestId(),
		Cursor: agent.Cursor{
			Phase: agent.CursorPhase(s.GetCursor().GetPhase()), LoopIndex: s.GetCursor().GetLoopIndex(),
			Metadata: JSON(s.GetCursor().GetMetadata()),
		},
		TurnState: JSON(s.GetTurnState()), Metadata: JSON(s.GetMetadata()), At: s.GetAt(),
	}
}

// SessionSnapshotsToProto converts session snapshots to protobuf.
func SessionSnapshotsToProto(snapshots []agent.SessionSnapshot) []*oppb.SessionSnapshot {
	out := make([]*oppb.SessionSnapshot, len(snapshots))
	for i := range snapshots {
		out[i] = sessionSnapshotToProto(&snapshots[i])
	}
	return out
}

// SessionSnapshotsFromProto converts session snapshots from protobuf.
func SessionSnapshotsFromProto(snapshots []*oppb.SessionSnapshot) []agent.SessionSnapshot {
	var out []agent.SessionSnapshot
	for _, s := range snapshots {
		out = append(out, sessionSnapshotFromProto(s))
	}
	return out
}

// SessionRowToProto converts a session row to protobuf.
func SessionRowToProto(r *agent.SessionRow) *oppb.SessionRow {
	out := &oppb.SessionRow{
		Id: r.ID, Incarnation: r.Incarnation, Revision: r.Revision, Mode: string(r.Mode),
		Settings: SessionSettingsToProto(&r.SessionSettings), AgentId: r.Agent, Status: string(r.Status), RequestId: r.RequestID, Recoverable: r.Recoverable,
		RequestCount: r.RequestCount, SnapshotCount: r.SnapshotCount, QueueLength: r.QueueLength,
		CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt, ExpiresAt: r.ExpiresAt,
	}
	if l := r.Lease; l != nil {
		out.Lease = &oppb.SessionLease{
			LeaseId: l.LeaseID, OwnerId: l.Owner, RequestId: l.RequestID, Epoch: l.Epoch,
			AcquiredAt: l.AcquiredAt, ExpiresAt: l.ExpiresAt,
		}
	}
	return out
}

// SessionRowFromProto converts a session row from protobuf.
func SessionRowFromProto(r *oppb.SessionRow) agent.SessionRow {
	out := agent.SessionRow{
		ID: r.GetId(), Incarnation: r.GetIncarnation(), Revision: r.GetRevision(), Mode: agent.SessionMode(r.GetMode()),
		SessionSettings: SessionSettingsFromProto(r.GetSettings()), Agent: r.GetAgentId(), Status: agent.SessionStatus(r.GetStatus()),
		RequestID: r.GetRequestId(), Recoverable: r.GetRecoverable(), RequestCount: r.GetRequestCount(),
		SnapshotCount: r.GetSnapshotCount(), QueueLength: r.GetQueueLength(),
		CreatedAt: r.GetCreatedAt(), UpdatedAt: r.GetUpdatedAt(), ExpiresAt: r.GetExpiresAt(),
	}
	if l := r.GetLease(); l != nil {
		out.Lease = &agent.Lease{
			LeaseID: l.LeaseId, Owner: l.OwnerId, RequestID: l.RequestId, Epoch: l.Epoch,
			AcquiredAt: l.AcquiredAt, ExpiresAt: l.ExpiresAt,
		}
	}
	return out
}

func sessionResultToProto(r *agent.SessionResult) *oppb.SessionResult {
	out := &oppb.SessionResult{Session: SessionRowToProto(&r.Session), Queued: r.Queued}
	if r.Recovery != nil {
		out.Recovery = &oppb.SessionRecovery{Resume: r.Recovery.Resume, Restart: r.Recovery.Restart}
	}
	return out
}

func sessionResultFromProto(r *oppb.SessionResult) *agent.SessionResult {
	out := &agent.SessionResult{Session: SessionRowFromProto(r.Session), Queued: r.Queued}
	if r.Recovery != nil {
		out.Recovery = &agent.Recovery{Resume: r.Recovery.Resume, Restart: r.Recovery.Restart}
	}
	return out
}
