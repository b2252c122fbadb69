package wire

import (
	"dormouse/agent"
	apipb "dormouse/proto/api"
)

func reviewToProto(r *agent.Review) *apipb.Review {
	return &apipb.Review{
		Id: r.ID, Incarnation: r.Incarnation, Session: r.Session, RequestId: r.RequestID, InterruptId: r.InterruptID,
		Operation: r.Operation, Arguments: r.Arguments, Reason: r.Reason, Metadata: r.Metadata, Assignee: r.Assignee,
		EscalateTo: r.EscalateTo, Escalated: r.Escalated, Status: string(r.Status), CreatedAt: r.CreatedAt,
		ExpiresAt: r.ExpiresAt, EscalateAt: r.EscalateAt, DecidedBy: r.DecidedBy, DecidedAt: r.DecidedAt,
		Decided: r.Decided, Note: r.Note,
	}
}

func reviewFromProto(r *apipb.Review) *agent.Review {
	return &agent.Review{
		ID: r.GetId(), Incarnation: r.GetIncarnation(), Session: r.GetSession(), RequestID: r.GetRequestId(),
		InterruptID: r.GetInterruptId(), Operation: r.GetOperation(), Arguments: json(r.GetArguments()), Reason: r.GetReason(),
		Metadata: json(r.GetMetadata()), Assignee: r.GetAssignee(), EscalateTo: r.GetEscalateTo(), Escalated: r.GetEscalated(),
		Status: agent.ReviewStatus(r.GetStatus()), CreatedAt: r.GetCreatedAt(), ExpiresAt: r.GetExpiresAt(),
		EscalateAt: r.GetEscalateAt(), DecidedBy: r.GetDecidedBy(), DecidedAt: r.GetDecidedAt(),
		Decided: json(r.GetDecided()), Note: r.GetNote(),
	}
}

func reviewsToProto(reviews []agent.Review) []*apipb.Review {
	out := make([]*apipb.Review, len(reviews))
	for i := range reviews {
		out[i] = reviewToProto(&reviews[i])
	}
	return out
}

func reviewsFromProto(reviews []*apipb.Review) []agent.Review {
	var out []agent.Review
	for _, r := range reviews {
		out = append(out, *reviewFromProto(r))
	}
	return out
}

func reviewDraftsToProto(drafts []agent.ReviewDraft) []*apipb.ReviewDraft {
	out := make([]*apipb.ReviewDraft, len(drafts))
	for i := range drafts {
		d := &drafts[i]
		out[i] = &apipb.ReviewDraft{
			Id: d.ID, InterruptId: d.InterruptID, RequestId: d.RequestID, Operation: d.Operation, Arguments: d.Arguments,
			Reason: d.Reason, Metadata: d.Metadata, Assignee: d.Assignee, EscalateTo: d.EscalateTo,
			TtlMs: millis(d.TTL), EscalateAfterMs: millis(d.EscalateAfter),
		}
	}
	return out
}

func reviewDraftsFromProto(drafts []*apipb.ReviewDraft) ([]agent.ReviewDraft, error) {
	var out []agent.ReviewDraft
	for _, d := range drafts {
		ttl, err := duration("ttl_ms", d.GetTtlMs())
		if err != nil {
			return nil, err
		}
		after, err := duration("escalate_after_ms", d.GetEscalateAfterMs())
		if err != nil {
			return nil, err
		}
		out = append(out, agent.ReviewDraft{
			ID: d.GetId(), InterruptID: d.GetInterruptId(), RequestID: d.GetRequestId(), Operation: d.GetOperation(),
			Arguments: json(d.GetArguments()), Reason: d.GetReason(), Metadata: json(d.GetMetadata()),
			Assignee: d.GetAssignee(), EscalateTo: d.GetEscalateTo(), TTL: ttl, EscalateAfter: after,
		})
	}
	return out, nil
}
