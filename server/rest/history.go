package rest

import (
	"net/http"

	"dormouse/agent"
	"dormouse/api/document"
)

func routeHistory(f *api) {
	register(f, route{
		method: http.MethodGet, path: "/v1/cluster/history", id: "get-history", tag: "cluster",
		summary: "The calls of this node's servers over the last hour, in steps of 10 s", answers: document.History{},
		detail: "The node keeps it in memory, and begins again when it starts. The sum over all nodes is the cluster's.",
	}, callHistory)
}

func callHistory(c *request, _ *none) error {
	if c.api.options.History == nil {
		return agent.Errorf(agent.CodeUnavailable, "this node keeps no history of its calls")
	}
	return c.answer(reply{body: document.HistoryOf(c.api.options.Node, c.api.options.History())})
}
