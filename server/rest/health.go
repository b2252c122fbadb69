package rest

import (
	"net/http"

	"dormouse/agent"
	"dormouse/api/document"
	"dormouse/server/rest/web"
)

func routeHealth(f *web.API) {
	const tag = "health"
	web.Register(f, web.Route{
		Method: http.MethodGet, Path: "/livez", ID: "get-livez", Tag: tag, Probe: true, Summary: "Is the process up?", Answers: document.Health{},
	}, func(c *web.Request, _ *web.None) error {
		return c.Answer(web.Reply{Body: document.Health{Status: "ok"}})
	})
	web.Register(f, web.Route{
		Method: http.MethodGet, Path: "/readyz", ID: "get-readyz", Tag: tag, Probe: true, Summary: "Is the node ready to serve?", Answers: document.Health{},
	}, func(c *web.Request, _ *web.None) error {
		if f.Options.Ready == nil {
			return c.Answer(web.Reply{Body: document.Health{Status: "ok"}})
		}
		if why := f.Options.Ready(); why != nil {
			return agent.Errorf(agent.CodeUnavailable, "not ready: %v", why)
		}
		return c.Answer(web.Reply{Body: document.Health{Status: "ok"}})
	})
	if f.Options.Metrics == nil {
		return
	}
	web.Register(f, web.Route{
		Method: http.MethodGet, Path: "/metrics", ID: "get-metrics", Tag: tag, Probe: true, Summary: "Metrics, in the Prometheus format", Media: "text/plain",
	}, func(c *web.Request, _ *web.None) error {
		f.Options.Metrics.ServeHTTP(c.Writer, c.HTTP)
		return nil
	})
}
