package rest

import (
	"context"
	"net/http"

	"dormouse/agent"
	"dormouse/api/document"
)

func (f *front) routeInstanceWatches() {
	const tag = "instances"
	register(f, route{
		method: http.MethodGet, path: "/v1/managers/{manager}/watch", id: "watch-instances", tag: tag,
		summary: "Server-sent events: how a manager's instances change, on all nodes, from now on",
		effect:  scoped, media: eventStream, streams: true,
	}, func(c *call, _ *none) error { return c.watchInstances("") })
	register(f, route{
		method: http.MethodGet, path: "/v1/managers/{manager}/instances/{key}/watch", id: "watch-instance", tag: tag,
		summary: "Server-sent events: how an instance changes from now on",
		effect:  scoped, media: eventStream, streams: true,
	}, func(c *call, _ *none) error { return c.watchInstances(c.id("key")) })
}

// watchInstances streams until the caller leaves. The first element is waited
// for, so that a watch that cannot begin is answered by a status.
func (c *call) watchInstances(key string) error {
	host, err := c.instances()
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
	first, err := c.firstOf(came)
	if err != nil {
		return err
	}
	return c.stream(came, first)
}

// instance writes an event about instances. They have no ids: a watch begins
// again, and says so.
func (e *events) instance(event *agent.InstanceEvent) error {
	if event.Missed {
		return e.event("missed", "", document.InstancesMissed{Node: event.Node, Reason: event.Reason})
	}
	return e.event("instance", "", document.InstanceChangeOf(event))
}
