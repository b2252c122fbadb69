package rest

import (
	"math"
	"net/http"

	"dormouse/agent"
	"dormouse/api/document"
	"dormouse/server/rest/web"
)

func routeReviews(f *web.API) {
	const tag, all, one = "reviews", "/v1/reviews", "/v1/reviews/{review}"
	web.Register(f, web.Route{
		Method: http.MethodGet, Path: all, ID: "list-reviews", Tag: tag,
		Summary: "List reviews by deadline, those without one last; the reviews of a session in order of creation",
		Effect:  web.Reads, Query: []string{"status", "before", "assignee", "session", "after", "limit"}, Answers: document.List[document.Review]{},
	}, listReviews)
	web.Register(f, web.Route{
		Method: http.MethodGet, Path: one, ID: "get-review", Tag: tag, Summary: "Read a review",
		Effect: web.Reads, Answers: document.Review{},
	}, getReview)
	web.Register(f, web.Route{
		Method: http.MethodPost, Path: one + "/decide", ID: "decide-review", Tag: tag, Summary: "Decide a review; the decision is final",
		Effect: web.Writes, BodyNeeded: true, Answers: document.Review{},
	}, decideReview)
}

func listReviews(c *web.Request, _ *web.None) error {
	before := c.Number("before")
	if before > math.MaxInt64 {
		return agent.Invalid("before", "before is %d, and should be Unix milliseconds", before)
	}
	found, err := web.Read[*agent.ReviewList](c, &agent.ListReviews{
		Page:     agent.Page{After: c.Text("after"), Limit: c.Number("limit")},
		Status:   agent.ReviewStatus(c.Text("status")),
		Before:   int64(before),
		Assignee: c.Text("assignee"),
		Session:  c.Text("session"),
	})
	if err != nil {
		return err
	}
	return c.Answer(web.Reply{Body: document.ListOf(found.Items, found.Next, document.ReviewOf)})
}

func getReview(c *web.Request, _ *web.None) error {
	found, err := web.Read[*agent.Review](c, &agent.GetReview{Review: c.ID("review")})
	if err != nil {
		return err
	}
	return c.Answer(web.Reply{Body: document.ReviewOf(*found)})
}

func decideReview(c *web.Request, body *document.DecideBody) error {
	result, err := c.Commit(body.ToOp(c.ID("review")))
	if err != nil {
		return err
	}
	done, err := web.ResultOf[*agent.ReviewResult](result, 0)
	if err != nil {
		return err
	}
	return c.Answer(web.Reply{Body: document.ReviewOf(done.Review)})
}
