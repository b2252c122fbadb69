package rest

import (
	"fmt"
	"math"
	"net/http"

	"dormouse/agent"
	"dormouse/internal/strictjson"
)

// review is a question that a session's turn waits for a person to answer.
type review struct {
	ID          string             `json:"id"`
	SessionID   string             `json:"session_id"`
	Incarnation uint64             `json:"incarnation" doc:"Of its session"`
	RequestID   string             `json:"request_id,omitzero"`
	InterruptID string             `json:"interrupt_id,omitzero"`
	Operation   string             `json:"operation" doc:"The capability that is to be called"`
	Arguments   document           `json:"arguments"`
	Reason      string             `json:"reason,omitzero"`
	Metadata    document           `json:"metadata"`
	Assignee    string             `json:"assignee,omitzero" doc:"Left out for anybody"`
	EscalateTo  string             `json:"escalate_to,omitzero"`
	Escalated   bool               `json:"escalated"`
	Status      agent.ReviewStatus `json:"status" doc:"pending, approved, denied, edited, expired, withdrawn"`
	CreatedAt   int64              `json:"created_at"`
	ExpiresAt   int64              `json:"expires_at,omitzero" doc:"Left out where it does not expire"`
	EscalateAt  int64              `json:"escalate_at,omitzero"`
	DecidedBy   string             `json:"decided_by,omitzero"`
	DecidedAt   int64              `json:"decided_at,omitzero"`
	Decided     document           `json:"decided,omitzero" doc:"Of an edit: what to call the operation with"`
	Note        string             `json:"note,omitzero"`
}

func reviewOf(r agent.Review) review {
	return review{
		ID: r.ID, SessionID: r.Session, Incarnation: r.Incarnation, RequestID: r.RequestID, InterruptID: r.InterruptID,
		Operation: r.Operation, Arguments: document(r.Arguments), Reason: r.Reason, Metadata: document(r.Metadata),
		Assignee: r.Assignee, EscalateTo: r.EscalateTo, Escalated: r.Escalated, Status: r.Status, CreatedAt: r.CreatedAt,
		ExpiresAt: r.ExpiresAt, EscalateAt: r.EscalateAt, DecidedBy: r.DecidedBy, DecidedAt: r.DecidedAt,
		Decided: document(r.Decided), Note: r.Note,
	}
}

// reviewDraft asks for a review.
type reviewDraft struct {
	ID              string          `json:"id,omitempty" doc:"review: and the interrupt's id where absent"`
	InterruptID     string          `json:"interrupt_id,omitempty"`
	RequestID       string          `json:"request_id,omitempty" doc:"The one that the turn answers where absent"`
	Operation       string          `json:"operation,omitempty"`
	Arguments       document        `json:"arguments,omitempty"`
	Reason          strictjson.Text `json:"reason,omitempty"`
	Metadata        document        `json:"metadata,omitempty"`
	Assignee        string          `json:"assignee,omitempty"`
	EscalateTo      string          `json:"escalate_to,omitempty" doc:"Who is the assignee from then on"`
	TTLMS           uint64          `json:"ttl_ms,omitempty" doc:"It expires after so long; never where absent"`
	EscalateAfterMS uint64          `json:"escalate_after_ms,omitempty" doc:"Before the ttl is over"`
}

func draftedReviews(drafts []reviewDraft) ([]agent.ReviewDraft, error) {
	var out []agent.ReviewDraft
	for i, d := range drafts {
		ttl, err := timed(fmt.Sprintf("reviews[%d].ttl_ms", i), d.TTLMS)
		if err != nil {
			return nil, err
		}
		after, err := timed(fmt.Sprintf("reviews[%d].escalate_after_ms", i), d.EscalateAfterMS)
		if err != nil {
			return nil, err
		}
		out = append(out, agent.ReviewDraft{
			ID: d.ID, InterruptID: d.InterruptID, RequestID: d.RequestID, Operation: d.Operation, Arguments: agent.JSON(d.Arguments),
			Reason: string(d.Reason), Metadata: agent.JSON(d.Metadata), Assignee: d.Assignee, EscalateTo: d.EscalateTo, TTL: ttl, EscalateAfter: after,
		})
	}
	return out, nil
}

// decideBody is a person's answer to a review.
type decideBody struct {
	Decision    agent.ReviewDecision `json:"decision" doc:"approve, deny, or edit: approve with other arguments"`
	By          string               `json:"by" doc:"Who decides"`
	Arguments   document             `json:"arguments,omitempty" doc:"Of an edit"`
	Note        strictjson.Text      `json:"note,omitempty"`
	InterruptID string               `json:"interrupt_id,omitempty" doc:"Refuse where the review is of another"`
}

func (b *decideBody) ToOp(review string) agent.Op {
	return &agent.DecideReview{
		Review: review, Decision: b.Decision, By: b.By, Arguments: agent.JSON(b.Arguments), Note: string(b.Note), InterruptID: b.InterruptID,
	}
}

func (f *front) routeReviews() {
	const tag, all, one = "reviews", "/v1/reviews", "/v1/reviews/{review}"
	register(f, route{
		method: http.MethodGet, path: all, id: "list-reviews", tag: tag,
		summary: "List reviews by deadline, those without one last; a session's in the order in which they were asked for",
		effect:  reads, query: []string{"status", "before", "assignee", "session", "after", "limit"}, answers: list[review]{},
	}, (*call).listReviews)
	register(f, route{
		method: http.MethodGet, path: one, id: "get-review", tag: tag, summary: "Read a review",
		effect: reads, answers: review{},
	}, (*call).getReview)
	register(f, route{
		method: http.MethodPost, path: one + "/decide", id: "decide-review", tag: tag, summary: "Answer a review, once and for all",
		effect: writes, bodyNeeded: true, answers: review{},
	}, (*call).decideReview)
}

func (c *call) listReviews(*none) error {
	before := c.number("before")
	if before > math.MaxInt64 {
		return agent.Invalid("before", "before is %d, and should be Unix milliseconds", before)
	}
	found, err := read[*agent.ReviewList](c, &agent.ListReviews{
		Page:     agent.Page{After: c.text("after"), Limit: c.number("limit")},
		Status:   agent.ReviewStatus(c.text("status")),
		Before:   int64(before),
		Assignee: c.text("assignee"),
		Session:  c.text("session"),
	})
	if err != nil {
		return err
	}
	return c.answer(reply{body: listOf(found.Items, found.Next, reviewOf)})
}

func (c *call) getReview(*none) error {
	found, err := read[*agent.Review](c, &agent.GetReview{Review: c.id("review")})
	if err != nil {
		return err
	}
	return c.answer(reply{body: reviewOf(*found)})
}

func (c *call) decideReview(body *decideBody) error {
	result, err := c.commit(body.ToOp(c.id("review")))
	if err != nil {
		return err
	}
	done, err := resultOf[*agent.ReviewResult](result, 0)
	if err != nil {
		return err
	}
	return c.answer(reply{body: reviewOf(done.Review)})
}
