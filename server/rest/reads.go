package rest

import (
	"net/http"

	"dormouse/api/document"
)

func routeReads(f *api) {
	register(f, route{
		method: http.MethodPost, path: "/v1/reads", id: "read", tag: "commits",
		summary: "Answer several reads at one index",
		effect:  reads, bodyNeeded: true, numbered: true, answers: document.Answered{},
	}, readSeveral)
}

func readSeveral(c *request, body *document.ReadsBody) error {
	asked, err := body.ToReads()
	if err != nil {
		return err
	}
	answers, err := c.readAll(asked...)
	if err != nil {
		return err
	}
	out, err := body.Answered(answers)
	if err != nil {
		return err
	}
	return c.answer(reply{body: out})
}
