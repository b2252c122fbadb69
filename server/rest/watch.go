package rest

import (
	"net/http"
	"strconv"

	"dormouse/agent"
	"dormouse/api/document"
)

func routeWatch(f *api) {
	register(f, route{
		method: http.MethodGet, path: "/v1/threads/{id}/watch", id: "watch-thread", tag: "threads",
		summary: "Server-sent events: a thread's entries as they come",
		effect:  reads, query: []string{"from", "incarnation"}, media: eventStream, streams: true,
		events: watchEvents(map[string]any{"entry": document.Entry{}, "compacted": document.WatchEnd{}, "deleted": document.WatchEnd{}}),
	}, watchThread)
}

// watchFrom returns the first seq to send. It is the one after Last-Event-ID, which a reconnecting
// client sends besides the original from.
func watchFrom(c *request) (from uint64, resumed bool, err error) {
	from = c.number("from")
	last, err := single(c.r.Header, headerLastEvent)
	if err != nil || last == "" {
		return from, false, err
	}
	seq, err := strconv.ParseUint(last, 10, 64)
	if err != nil || seq+1 == 0 {
		return 0, false, agent.Invalid(headerLastEvent, "it is %q, and should be a seq", last)
	}
	return seq + 1, true, nil
}

// watchThread streams until the client disconnects or an event ends the watch. It first reads the
// thread, so that a missing one is answered with a status.
//
// A seq does not identify an incarnation of the thread; the query's incarnation does. Without it, a
// resumed watch detects a new incarnation only by a rev below a seq that the client has had.
func watchThread(c *request, _ *none) error {
	incarnation := c.number("incarnation")
	from, resumed, err := watchFrom(c)
	if err != nil {
		return err
	}
	found, err := c.openWatch(&agent.GetThread{Thread: c.id("id")})
	if err != nil {
		return err
	}
	if t, ok := found.(*agent.Thread); ok && resumed && from > t.Rev && !c.flag("stale") {
		return c.stream(nil, watched{event: agent.Event{Kind: agent.EventDeleted}})
	}
	return c.watch(agent.Watch{Scope: c.scope, Thread: c.id("id"), From: from, Incarnation: incarnation})
}
