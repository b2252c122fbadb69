package rest

import (
	"net/http"

	"dormouse/agent"
	"dormouse/api/document"
	"dormouse/server/rest/web"
)

func routeCommits(f *web.API) {
	web.Register(f, web.Route{
		Method: http.MethodPost, Path: "/v1/commits", ID: "commit", Tag: "commits",
		Summary: "Apply several ops, all or none",
		Effect:  web.Writes, BodyNeeded: true, Numbered: true, Answers: document.Committed{},
	}, commitOps)
}

func commitOps(c *web.Request, body *document.CommitBody) error {
	if fence := body.Fence.ToAgent(); fence != nil {
		if c.Fence != nil && *c.Fence != *fence {
			return agent.Invalid("fence", "the body has fence %s at epoch %d, the header %s at %d", fence.Claim, fence.Epoch, c.Fence.Claim, c.Fence.Epoch)
		}
		c.Fence = fence
	}
	ops, err := body.ToOps()
	if err != nil {
		return err
	}
	result, err := c.Commit(ops...)
	if err != nil {
		return err
	}
	out, err := body.Committed(result)
	if err != nil {
		return err
	}
	return c.Answer(web.Reply{Body: out})
}
