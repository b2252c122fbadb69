package ops

import (
	"dormouse/agent"
	oppb "dormouse/proto/op"
)

var reviewCodecs = []opCodec{
	codec(encodeDecideReview, (*oppb.Op).GetDecideReview, decodeDecideReview),
}

// ReviewToProto converts a review to protobuf.
func ReviewToProto(r *agent.Review) *oppb.Review {
	return &oppb.Review{
		Id: r.ID, Incarnation: r.Incarnation, Session: r.Session, RequestId: r.RequestID, InterruptId: r.InterruptID,
		Operation: r.Operation, Arguments: r.Arguments, Reason: r.Reason, Metadata: r.Metadata, Assignee: r.Assignee,
		EscalateTo: r.EscalateTo, Escalated: r.Escalated, Status: string(r.Status), CreatedAt: r.CreatedAt,
		ExpiresAt: r.ExpiresAt, EscalateAt: r.EscalateAt, DecidedBy: r.DecidedBy, DecidedAt: r.DecidedAt,
		Decided: r.Decided, Note: r.Note, Deciders: r.Deciders,
	}
}

// ReviewFromProto converts a review from protobuf.
func ReviewFromProto(r *oppb.Review) *agent.Review {
	return &agent.Review{
		ID: r.GetId(), Incarnation: r.GetIncarnation(), Session: r.GetSession(), RequestID: r.GetRequestId(),
		InterruptID: r.GetInterruptId(), Operation: r.GetOperation(), Arguments: JSON(r.GetArguments()), Reason: r.GetReason(),
		Metadata: JSON(r.GetMetadata()), Assignee: r.GetAssignee(), EscalateTo: r.GetEscalateTo(), Escalated: r.GetEscalated(),
		Status: agent.ReviewStatus(r.GetStatus()), CreatedAt: r.GetCreatedAt(), ExpiresAt: r.GetExpiresAt(),
		EscalateAt: r.GetEscalateAt(), DecidedBy: r.GetDecidedBy(), DecidedAt: r.GetDecidedAt(),
		Decided: JSON(r.GetDecided()), Note: r.GetNote(), Deciders: r.GetDeciders(),
	}
}

func reviewDraftsToProto(drafts []agent.ReviewDraft) []*oppb.ReviewDraft {
	out := make([]*oppb.ReviewDraft, len(drafts))
	for i := range drafts {
		d := &drafts[i]
		out[i] = &oppb.ReviewDraft{
			Id: d.ID, InterruptId: d.InterruptID, RequestId: d.RequestID, Operation: d.Operation, Arguments: d.Arguments,
			Reason: d.Reason, Metadata: d.Metadata, Assignee: d.Assignee, EscalateTo: d.EscalateTo,
			TtlMs: Millis(d.TTL), EscalateAfterMs: Millis(d.EscalateAfter), Deciders: d.Deciders,
		}
	}
	return out
}

func reviewDraftsFromProto(drafts []*oppb.ReviewDraft) ([]agent.ReviewDraft, error) {
	var out []agent.ReviewDraft
	for _, d := range drafts {
		ttl, err := Duration("ttl_ms", d.GetTtlMs())
		if err != nil {
			return nil, err
		}
		after, err := Duration("escalate_after_ms", d.GetEscalateAfterMs())
		if err != nil {
			return nil, err
		}
		out = append(out, agent.ReviewDraft{
			ID: d.GetId(), InterruptID: d.GetInterruptId(), RequestID: d.GetRequestId(), Operation: d.GetOperation(),
			Arguments: JSON(d.GetArguments()), Reason: d.GetReason(), Metadata: JSON(d.GetMetadata()),
			Assignee: d.GetAssignee(), EscalateTo: d.GetEscalateTo(), TTL: ttl, EscalateAfter: after, Deciders: d.GetDeciders(),
		})
	}
	return out, nil
}

func encodeDecideReview(out *oppb.Op, o *agent.DecideReview) {
	out.Op = &oppb.Op_DecideReview{DecideReview: &oppb.DecideReview{
		Review: o.Review, Decision: string(o.Decision), By: o.By, Arguments: o.Arguments, Note: o.Note,
		InterruptId: o.InterruptID,
	}}
}

func decodeDecideReview(p *oppb.DecideReview) (agent.Op, error) {
	return &agent.DecideReview{
		Review: p.Review, Decision: agent.ReviewDecision(p.Decision), By: p.By, Arguments: JSON(p.Arguments),
		Note: p.Note, InterruptID: p.InterruptId,
	}, nil
}
