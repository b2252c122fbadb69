package rest

import (
	"net/http"

	"dormouse/agent"
	"dormouse/api/document"
)

func routeHealth(f *api) {
	const tag = "health"
	register(f, route{
		method: http.MethodGet, path: "/livez", id: "get-livez", tag: tag, probe: true, summary: "Is the process up?", answers: document.Health{},
	}, func(c *request, _ *none) error {
		return c.answer(reply{body: document.Health{Status: "ok"}})
	})
	register(f, route{
		method: http.MethodGet, path: "/readyz", id: "get-readyz", tag: tag, probe: true, summary: "Is the node ready to serve?", answers: document.Health{},
	}, func(c *request, _ *none) error {
		if f.options.Ready == nil {
			return c.answer(reply{body: document.Health{Status: "ok"}})
		}
		if why := f.options.Ready(); why != nil {
			return agent.Errorf(agent.CodeUnavailable, "not ready: %v", why)
		}
		return c.answer(reply{body: document.Health{Status: "ok"}})
	})
	if f.options.Metrics == nil {
		return
	}
	register(f, route{
		method: http.MethodGet, path: "/metrics", id: "get-metrics", tag: tag, probe: true, summary: "Metrics, in the Prometheus format", media: "text/plain",
	}, func(c *request, _ *none) error {
		f.options.Metrics.ServeHTTP(c.w, c.r)
		return nil
	})
}
