package rest

import (
	"net/http"

	"dormouse/api/document"
	"dormouse/server/rest/web"
)

func routeReads(f *web.API) {
	web.Register(f, web.Route{
		Method: http.MethodPost, Path: "/v1/reads", ID: "read", Tag: "commits",
		Summary: "Answer several reads at one index",
		Effect:  web.Reads, BodyNeeded: true, Numbered: true, Answers: document.Answered{},
	}, readSeveral)
}

func readSeveral(c *web.Request, body *document.ReadsBody) error {
	asked, err := body.ToReads()
	if err != nil {
		return err
	}
	answers, err := c.ReadAll(asked...)
	if err != nil {
		return err
	}
	out, err := body.Answered(answers)
	if err != nil {
		return err
	}
	return c.Answer(web.Reply{Body: out})
}
