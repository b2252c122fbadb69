package convert

import (
	"dormouse/agent"
	"dormouse/api/ops"
	apipb "dormouse/proto/api"
	oppb "dormouse/proto/op"
)

func requestsToProto(requests []agent.SessionRequest) []*oppb.SessionRequest {
	out := make([]*oppb.SessionRequest, len(requests))
	for i := range requests {
		out[i] = ops.RequestToProto(&requests[i])
	}
	return out
}

func requestsFromProto(requests []*oppb.SessionRequest) []agent.SessionRequest {
	var out []agent.SessionRequest
	for _, r := range requests {
		if r != nil {
			out = append(out, *ops.RequestFromProto(r))
		}
	}
	return out
}

func sessionToProto(s *agent.Session) *apipb.Session {
	out := &apipb.Session{
		Row: ops.SessionRowToProto(&s.SessionRow), Spec: s.Spec, Metadata: s.Metadata,
		Environment: s.Environment, Conversation: ops.TurnStateToProto(&s.Conversation), Result: s.Result, Failure: s.Failure,
		Requests: requestsToProto(s.Requests), Snapshots: ops.SessionSnapshotsToProto(s.Snapshots),
		Queue: requestsToProto(s.Queue), PendingReviews: each(s.PendingReviews, ops.ReviewToProto),
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
		return nil, ops.NoAnswer()
	}
	out := &agent.Session{
		SessionRow: ops.SessionRowFromProto(s.Row), Spec: ops.JSON(s.Spec),
		Metadata: ops.JSON(s.Metadata), Environment: ops.JSON(s.Environment), Result: ops.JSON(s.Result), Failure: ops.JSON(s.Failure),
		Requests: requestsFromProto(s.Requests), Snapshots: ops.SessionSnapshotsFromProto(s.Snapshots),
		Queue: requestsFromProto(s.Queue), PendingReviews: reviewsFromProto(s.PendingReviews),
	}
	if c := ops.TurnStateFromProto(s.Conversation); c != nil {
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
	out := &apipb.SessionList{Items: make([]*oppb.SessionRow, len(l.Items)), Next: l.Next}
	for i := range l.Items {
		out.Items[i] = ops.SessionRowToProto(&l.Items[i])
	}
	return out
}

func sessionListFromProto(l *apipb.SessionList) *agent.SessionList {
	out := &agent.SessionList{Next: l.GetNext()}
	for _, r := range l.GetItems() {
		out.Items = append(out.Items, ops.SessionRowFromProto(r))
	}
	return out
}
