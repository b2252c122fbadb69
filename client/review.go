package client

import (
	"context"

	"dormouse/agent"
)

// DecideReview answers a review, once and for all: a second answer is
// review_already_decided, a late one approval_expired.
func (s Scope) DecideReview(ctx context.Context, decide agent.DecideReview) (agent.Review, error) {
	r, err := do[*agent.ReviewResult](ctx, s, &decide)
	if err != nil {
		return agent.Review{}, err
	}
	return r.Review, nil
}

// GetReview reads a review; not_found if there is none.
func (s Scope) GetReview(ctx context.Context, review string) (*agent.Review, error) {
	return ask[*agent.Review](ctx, s, &agent.GetReview{Review: review})
}

// ListReviews lists reviews by deadline, pending ones where no status is
// named, or those of one session. The Next of a page is the After of the one
// that follows.
func (s Scope) ListReviews(ctx context.Context, list agent.ListReviews) (*agent.ReviewList, error) {
	return ask[*agent.ReviewList](ctx, s, &list)
}
