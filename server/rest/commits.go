package rest

import (
	"net/http"

	"dormouse/agent"
	"dormouse/api/document"
)

func routeCommits(f *api) {
	register(f, route{
		method: http.MethodPost, path: "/v1/commits", id: "commit", tag: "commits",
		summary: "Apply several ops, all or none",
		effect:  writes, bodyNeeded: true, numbered: true, answers: document.Committed{},
	}, commitOps)
}

func commitOps(c *request, body *document.CommitBody) error {
	if fence := body.Fence.ToAgent(); fence != nil {
		if c.fence != nil && *c.fence != *fence {
			return agent.Invalid("fence", "the body has fence %s at epoch %d, the header %s at %d", fence.Claim, fence.Epoch, c.fence.Claim, c.fence.Epoch)
		}
		c.fence = fence
	}
	ops, err := body.ToOps()
	if err != nil {
		return err
	}
	result, err := c.commit(ops...)
	if err != nil {
		return err
	}
	out, err := body.Committed(result)
	if err != nil {
		return err
	}
	return c.answer(reply{body: out})
}
