package rest

import (
	"context"
	"net/http"

	"dormouse/agent"
	"dormouse/api/document"
	"dormouse/server/rest/web"
)

func routeInstanceWatches(f *web.API) {
	const tag = "instances"
	web.Register(f, web.Route{
		Method: http.MethodGet, Path: "/v1/managers/{manager}/watch", ID: "watch-instances", Tag: tag,
		Summary: "Server-sent events: changes of a manager's instances, on all nodes, from now on",
		Effect:  web.Scoped, Media: web.EventStream, Streams: true,
		Events: web.WatchEvents(map[string]any{"instance": document.InstanceChange{}, "missed": document.InstancesMissed{}}),
	}, func(c *web.Request, _ *web.None) error { return watchInstances(c, "") })
	web.Register(f, web.Route{
		Method: http.MethodGet, Path: "/v1/managers/{manager}/instances/{key}/watch", ID: "watch-instance", Tag: tag,
		Summary: "Server-sent events: changes of an instance from now on",
		Effect:  web.Scoped, Media: web.EventStream, Streams: true,
		Events: web.WatchEvents(map[string]any{"instance": document.InstanceChange{}, "missed": document.InstancesMissed{}}),
	}, func(c *web.Request, _ *web.None) error { return watchInstances(c, c.ID("key")) })
}

// watchInstances streams until the client disconnects. It waits for the first element, so that a
// watch that cannot begin is answered with a status.
func watchInstances(c *web.Request, key string) error {
	host, err := instances(c)
	if err != nil {
		return err
	}
	w := agent.InstanceWatch{Scope: c.Scope, Manager: c.ID("manager"), Key: key}
	if err := w.Validate(); err != nil {
		return err
	}
	came, end := c.Start(func(ctx context.Context, tell func(web.Watched) bool) {
		for event, err := range host.Watch(ctx, w) {
			if !tell(web.Watched{Instance: &event, Err: err}) {
				return
			}
		}
	})
	defer end()
	first, err := web.FirstOf(c, came)
	if err != nil {
		return err
	}
	return c.Stream(came, first)
}
