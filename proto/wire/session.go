package wire

import (
	"dormouse/agent"
	apipb "dormouse/proto/api"
)

func conversationToProto(c *agent.Conversation) *apipb.Conversation {
	if c == nil {
		return nil
	}
	return &apipb.Conversation{
		AgentState: c.AgentState, ContinuationRevision: c.ContinuationRevision, TurnCount: c.TurnCount,
		ContextState: c.ContextState, LastCompletedRequestId: c.LastCompletedRequestID,
	}
}

func conversationFromProto(c *apipb.Conversation) *agent.Conversation {
	if c == nil {
		return nil
	}
	return &agent.Conversation{
		AgentState: json(c.AgentState), ContinuationRevision: c.ContinuationRevision, TurnCount: c.TurnCount,
		ContextState: json(c.ContextState), LastCompletedRequestID: c.LastCompletedRequestId,
	}
}

func requestToProto(r *agent.SessionRequest) *apipb.SessionRequest {
	if r == nil {
		return nil
	}
	return &apipb.SessionRequest{
		Id: r.ID, Input: r.Input, Metadata: r.Metadata, OwnerId: r.Owner, At: r.At, Outcome: string(r.Outcome),
	}
}

func requestFromProto(r *apipb.SessionRequest) *agent.SessionRequest {
	if r == nil {
		return nil
	}
	return &agent.SessionRequest{
		ID: r.Id, Input: json(r.Input), Metadata: json(r.Metadata), Owner: r.OwnerId, At: r.At,
		Outcome: agent.RequestOutcome(r.Outcome),
	}
}

func requestsToProto(requests []agent.SessionRequest) []*apipb.SessionRequest {
	out := make([]*apipb.SessionRequest, len(requests))
	for i := range requests {
		out[i] = requestToProto(&requests[i])
	}
	return out
}

func requestsFromProto(requests []*apipb.SessionRequest) []agent.SessionRequest {
	var out []agent.SessionRequest
	for _, r := range requests {
		if r != nil {
			out = append(out, *requestFromProto(r))
		}
	}
	return out
}

func sessionSnapshotToProto(s *agent.SessionSnapshot) *apipb.SessionSnapshot {
	return &apipb.SessionSnapshot{
		Id: s.ID, AgentId: s.Agent, RequestId: s.RequestID,
		Cursor:    &apipb.Cursor{Phase: string(s.Cursor.Phase), LoopIndex: s.Cursor.LoopIndex, Metadata: s.Cursor.Metadata},
		TurnState: s.TurnState, Metadata: s.Metadata, At: s.At,
	}
}

func sessionSnapshotFromProto(s *apipb.SessionSnapshot) agent.SessionSnapshot {
	return agent.SessionSnapshot{
		ID: s.GetId(), Agent: s.GetAgentId(), RequestID: s.GetRequestId(),
		Cursor: agent.Cursor{
			Phase: agent.CursorPhase(s.GetCursor().GetPhase()), LoopIndex: s.GetCursor().GetLoopIndex(),
			Metadata: json(s.GetCursor().GetMetadata()),
		},
		TurnState: json(s.GetTurnState()), Metadata: json(s.GetMetadata()), At: s.GetAt(),
	}
}

func sessionSnapshotsToProto(snapshots []agent.SessionSnapshot) []*apipb.SessionSnapshot {
	out := make([]*apipb.SessionSnapshot, len(snapshots))
	for i := range snapshots {
		out[i] = sessionSnapshotToProto(&snapshots[i])
	}
	return out
}

func sessionSnapshotsFromProto(snapshots []*apipb.SessionSnapshot) []agent.SessionSnapshot {
	var out []agent.SessionSnapshot
	for _, s := range snapshots {
		out = append(out, sessionSnapshotFromProto(s))
	}
	return out
}

func sessionRowToProto(r *agent.SessionRow) *apipb.SessionRow {
	out := &apipb.SessionRow{
		Id: r.ID, Incarnation: r.Incarnation, Revision: r.Revision, Mode: string(r.Mode), Busy: string(r.Busy),
		AgentId: r.Agent, Status: string(r.Status), RequestId: r.RequestID, Recoverable: r.Recoverable,
		RequestCount: r.RequestCount, SnapshotCount: r.SnapshotCount, QueueLength: r.QueueLength,
		CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt, ExpiresAt: r.ExpiresAt,
	}
	if l := r.Lease; l != nil {
		out.Lease = &apipb.SessionLease{
			LeaseId: l.LeaseID, OwnerId: l.Owner, RequestId: l.RequestID, Epoch: l.Epoch,
			AcquiredAt: l.AcquiredAt, ExpiresAt: l.ExpiresAt,
		}
	}
	return out
}

func sessionRowFromProto(r *apipb.SessionRow) agent.SessionRow {
	out := agent.SessionRow{
		ID: r.GetId(), Incarnation: r.GetIncarnation(), Revision: r.GetRevision(), Mode: agent.SessionMode(r.GetMode()),
		Busy: agent.BusyPolicy(r.GetBusy()), Agent: r.GetAgentId(), Status: agent.SessionStatus(r.GetStatus()),
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

func sessionToProto(s *agent.Session) *apipb.Session {
	out := &apipb.Session{
		Row: sessionRowToProto(&s.SessionRow), SchemaVersion: s.SchemaVersion, Spec: s.Spec, Metadata: s.Metadata,
		Environment: s.Environment, Conversation: conversationToProto(&s.Conversation), QueueMax: s.QueueMax,
		Thread: s.Thread, Checkpoint: s.Checkpoint, Result: s.Result, Failure: s.Failure,
		Requests: requestsToProto(s.Requests), Snapshots: sessionSnapshotsToProto(s.Snapshots),
		Queue: requestsToProto(s.Queue), PendingReviews: reviewsToProto(s.PendingReviews),
	}
	if l := s.Lineage; l != nil {
		out.Lineage = &apipb.SessionLineage{
			Session: l.Session, Incarnation: l.Incarnation, Revision: l.Revision, SnapshotId: l.Snapshot,
		}
	}
	return out
}

func sessionFromProto(s *apipb.Session) (*agent.Session, error) {
	if s == nil {
		return nil, noAnswer()
	}
	out := &agent.Session{
		SessionRow: sessionRowFromProto(s.Row), SchemaVersion: s.SchemaVersion, Spec: json(s.Spec),
		Metadata: json(s.Metadata), Environment: json(s.Environment), QueueMax: s.QueueMax,
		Thread: s.Thread, Checkpoint: s.Checkpoint, Result: json(s.Result), Failure: json(s.Failure),
		Requests: requestsFromProto(s.Requests), Snapshots: sessionSnapshotsFromProto(s.Snapshots),
		Queue: requestsFromProto(s.Queue), PendingReviews: reviewsFromProto(s.PendingReviews),
	}
	if c := conversationFromProto(s.Conversation); c != nil {
		out.Conversation = *c
	}
	if l := s.Lineage; l != nil {
		out.Lineage = &agent.Lineage{
			Session: l.Session, Incarnation: l.Incarnation, Revision: l.Revision, Snapshot: l.SnapshotId,
		}
	}
	return out, nil
}

func sessionListToProto(l *agent.SessionList) *apipb.SessionList {
	out := &apipb.SessionList{Items: make([]*apipb.SessionRow, len(l.Items)), Next: l.Next}
	for i := range l.Items {
		out.Items[i] = sessionRowToProto(&l.Items[i])
	}
	return out
}

func sessionListFromProto(l *apipb.SessionList) *agent.SessionList {
	out := &agent.SessionList{Next: l.GetNext()}
	for _, r := range l.GetItems() {
		out.Items = append(out.Items, sessionRowFromProto(r))
	}
	return out
}

func sessionResultToProto(r *agent.SessionResult) *apipb.SessionResult {
	out := &apipb.SessionResult{Session: sessionRowToProto(&r.Session), Queued: r.Queued}
	if r.Recovery != nil {
		out.Recovery = &apipb.SessionRecovery{Resume: r.Recovery.Resume, Restart: r.Recovery.Restart}
	}
	return out
}

func sessionResultFromProto(r *apipb.SessionResult) *agent.SessionResult {
	out := &agent.SessionResult{Session: sessionRowFromProto(r.Session), Queued: r.Queued}
	if r.Recovery != nil {
		out.Recovery = &agent.Recovery{Resume: r.Recovery.Resume, Restart: r.Recovery.Restart}
	}
	return out
}
