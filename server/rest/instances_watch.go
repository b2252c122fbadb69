package rest

import (
	"context"
	"net/http"

	"dormouse/agent"
	"dormouse/api/document"
)

func routeInstanceWatches(f *api) {
	const tag = "instances"
	register(f, route{
		method: http.MethodGet, path: "/v1/managers/{manager}/watch", id: "watch-instances", tag: tag,
		summary: "Server-sent events: changes of a manager's instances, on all nodes, from now on",
		effect:  scoped, media: eventStream, streams: true,
		events: watchEvents(map[string]any{"instance": document.InstanceChange{}, "missed": document.InstancesMissed{}}),
	}, func(c *request, _ *none) error { return watchInstances(c, "") })
	register(f, route{
		method: http.MethodGet, path: "/v1/managers/{manager}/instances/{key}/watch", id: "watch-instance", tag: tag,
		summary: "Server-sent events: changes of an instance from now on",
		effect:  scoped, media: eventStream, streams: true,
		events: watchEvents(map[string]any{"instance": document.InstanceChange{}, "missed": document.InstancesMissed{}}),
	}, func(c *request, _ *none) error { return watchInstances(c, c.id("key")) })
}

// watchInstances streams until the client disconnects. It waits for the first element, so that a
// watch that cannot begin is answered with a status.
func watchInstances(c *request, key string) error {
	host, err := instances(c)
	if err != nil {
		return err
	}
	w := agent.InstanceWatch{Scope: c.scope, Manager: c.id("manager"), Key: key}
	if err := w.Validate(); err != nil {
		return err
	}
	came, end := c.start(func(ctx context.Context, tell func(watched) bool) {
		for event, err := range host.Watch(ctx, w) {
			if !tell(watched{instance: &event, err: err}) {
				return
			}
		}
	})
	defer end()
	first, err := firstOf(c, came)
	if err != nil {
		return err
	}
	return c.stream(came, first)
}
