package rest

import (
	"net/http"

	"dormouse/agent"
	"dormouse/api/document"
	"dormouse/server/rest/web"
)

func routeHistory(f *web.API) {
	web.Register(f, web.Route{
		Method: http.MethodGet, Path: "/v1/cluster/history", ID: "get-history", Tag: "cluster",
		Summary: "The calls of this node's servers over the last hour, in steps of 10 s", Answers: document.History{},
		Detail: "The node keeps it in memory, and begins again when it starts. The sum over all nodes is the cluster's.",
	}, callHistory)
}

func callHistory(c *web.Request, _ *web.None) error {
	if c.API.Options.History == nil {
		return agent.Errorf(agent.CodeUnavailable, "this node keeps no history of its calls")
	}
	return c.Answer(web.Reply{Body: document.HistoryOf(c.API.Options.Node, c.API.Options.History())})
}
