package client

import (
	"context"

	"dormouse/agent"
)

// DecideReview decides a review, once: a second decision is review_already_decided, a
// late one approval_expired.
func (s Reviews) DecideReview(ctx context.Context, decide agent.DecideReview) (agent.Review, error) {
	r, err := do[*agent.ReviewResult](ctx, s.target, &decide)
	if err != nil {
		return agent.Review{}, err
	}
	return r.Review, nil
}

// GetReview reads a review; not_found if it does not exist.
func (s Reviews) GetReview(ctx context.Context, review string) (*agent.Review, error) {
	return ask[*agent.Review](ctx, s.target, &agent.GetReview{Review: review})
}

// ListReviews lists reviews by deadline, by default pending ones, or the reviews of
// one session. The Next of a page is the After of the following one.
func (s Reviews) ListReviews(ctx context.Context, list agent.ListReviews) (*agent.ReviewList, error) {
	return ask[*agent.ReviewList](ctx, s.target, &list)
}
