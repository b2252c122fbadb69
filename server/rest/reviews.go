package rest

import (
	"math"
	"net/http"

	"dormouse/agent"
	"dormouse/api/document"
)

func routeReviews(f *api) {
	const tag, all, one = "reviews", "/v1/reviews", "/v1/reviews/{review}"
	register(f, route{
		method: http.MethodGet, path: all, id: "list-reviews", tag: tag,
		summary: "List reviews by deadline, those without one last; the reviews of a session in order of creation",
		effect:  reads, query: []string{"status", "before", "assignee", "session", "after", "limit"}, answers: document.List[document.Review]{},
	}, listReviews)
	register(f, route{
		method: http.MethodGet, path: one, id: "get-review", tag: tag, summary: "Read a review",
		effect: reads, answers: document.Review{},
	}, getReview)
	register(f, route{
		method: http.MethodPost, path: one + "/decide", id: "decide-review", tag: tag, summary: "Decide a review; the decision is final",
		effect: writes, bodyNeeded: true, answers: document.Review{},
	}, decideReview)
}

func listReviews(c *request, _ *none) error {
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
	return c.answer(reply{body: document.ListOf(found.Items, found.Next, document.ReviewOf)})
}

func getReview(c *request, _ *none) error {
	found, err := read[*agent.Review](c, &agent.GetReview{Review: c.id("review")})
	if err != nil {
		return err
	}
	return c.answer(reply{body: document.ReviewOf(*found)})
}

func decideReview(c *request, body *document.DecideBody) error {
	result, err := c.commit(body.ToOp(c.id("review")))
	if err != nil {
		return err
	}
	done, err := resultOf[*agent.ReviewResult](result, 0)
	if err != nil {
		return err
	}
	return c.answer(reply{body: document.ReviewOf(done.Review)})
}
