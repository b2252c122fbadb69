package document

import (
	"fmt"

	"dormouse/agent"
	"dormouse/internal/strictjson"
)

// Review is a question of a session's turn that a person must answer.
type Review struct {
	ID          string             `json:"id"`
	SessionID   string             `json:"session_id"`
	Incarnation uint64             `json:"incarnation" doc:"Of its session"`
	RequestID   string             `json:"request_id,omitzero"`
	InterruptID string             `json:"interrupt_id,omitzero"`
	Operation   string             `json:"operation" doc:"The operation to approve"`
	Arguments   JSON               `json:"arguments"`
	Reason      string             `json:"reason,omitzero"`
	Metadata    JSON               `json:"metadata"`
	Assignee    string             `json:"assignee,omitzero" doc:"Absent if any person may decide"`
	EscalateTo  string             `json:"escalate_to,omitzero"`
	Escalated   bool               `json:"escalated"`
	Deciders    []string           `json:"deciders,omitempty" doc:"The principals who may decide it; absent if any may"`
	Status      agent.ReviewStatus `json:"status" doc:"pending, approved, denied, edited, expired, withdrawn"`
	CreatedAt   int64              `json:"created_at"`
	ExpiresAt   int64              `json:"expires_at,omitzero" doc:"Absent if it does not expire"`
	EscalateAt  int64              `json:"escalate_at,omitzero"`
	DecidedBy   string             `json:"decided_by,omitzero"`
	DecidedAt   int64              `json:"decided_at,omitzero"`
	Decided     JSON               `json:"decided,omitzero" doc:"Of an edit: the new arguments of the operation"`
	Note        string             `json:"note,omitzero"`
}

// ReviewOf returns the document of r.
func ReviewOf(r agent.Review) Review {
	return Review{
		ID: r.ID, SessionID: r.Session, Incarnation: r.Incarnation, RequestID: r.RequestID, InterruptID: r.InterruptID,
		Operation: r.Operation, Arguments: JSON(r.Arguments), Reason: r.Reason, Metadata: JSON(r.Metadata),
		Assignee: r.Assignee, EscalateTo: r.EscalateTo, Escalated: r.Escalated, Status: r.Status, CreatedAt: r.CreatedAt,
		ExpiresAt: r.ExpiresAt, EscalateAt: r.EscalateAt, DecidedBy: r.DecidedBy, DecidedAt: r.DecidedAt,
		Decided: JSON(r.Decided), Note: r.Note, Deciders: r.Deciders,
	}
}

// ReviewDraft requests a review.
type ReviewDraft struct {
	ID              string          `json:"id,omitempty" doc:"\"review:\" and the interrupt's id if absent"`
	InterruptID     string          `json:"interrupt_id,omitempty"`
	RequestID       string          `json:"request_id,omitempty" doc:"The request that the turn answers if absent"`
	Operation       string          `json:"operation,omitempty"`
	Arguments       JSON            `json:"arguments,omitempty"`
	Reason          strictjson.Text `json:"reason,omitempty"`
	Metadata        JSON            `json:"metadata,omitempty"`
	Assignee        string          `json:"assignee,omitempty"`
	EscalateTo      string          `json:"escalate_to,omitempty" doc:"The assignee after the escalation"`
	Deciders        []string        `json:"deciders,omitempty" doc:"The principals who may decide it; any if absent, or if nodes ask for no tokens"`
	TTLMS           uint64          `json:"ttl_ms,omitempty" doc:"It expires after this time; never if absent"`
	EscalateAfterMS uint64          `json:"escalate_after_ms,omitempty" doc:"Must be less than ttl_ms"`
}

// DraftedReviews returns the reviews that a turn requests.
func DraftedReviews(drafts []ReviewDraft) ([]agent.ReviewDraft, error) {
	var out []agent.ReviewDraft
	for i, d := range drafts {
		ttl, err := Duration(fmt.Sprintf("reviews[%d].ttl_ms", i), d.TTLMS)
		if err != nil {
			return nil, err
		}
		after, err := Duration(fmt.Sprintf("reviews[%d].escalate_after_ms", i), d.EscalateAfterMS)
		if err != nil {
			return nil, err
		}
		out = append(out, agent.ReviewDraft{
			ID: d.ID, InterruptID: d.InterruptID, RequestID: d.RequestID, Operation: d.Operation, Arguments: agent.JSON(d.Arguments),
			Reason: string(d.Reason), Metadata: agent.JSON(d.Metadata), Assignee: d.Assignee, EscalateTo: d.EscalateTo, TTL: ttl, EscalateAfter: after, Deciders: d.Deciders,
		})
	}
	return out, nil
}

// DecideBody is a person's decision about a review.
type DecideBody struct {
	Decision    agent.ReviewDecision `json:"decision" doc:"approve, deny, or edit: approve with other arguments"`
	By          string               `json:"by" doc:"Who decides"`
	Arguments   JSON                 `json:"arguments,omitempty" doc:"Of an edit"`
	Note        strictjson.Text      `json:"note,omitempty"`
	InterruptID string               `json:"interrupt_id,omitempty" doc:"Refuse the decision if the review has another one"`
}

// ToOp returns the op that the body asks for.
func (b *DecideBody) ToOp(review string) agent.Op {
	return &agent.DecideReview{
		Review: review, Decision: b.Decision, By: b.By, Arguments: agent.JSON(b.Arguments), Note: string(b.Note), InterruptID: b.InterruptID,
	}
}
