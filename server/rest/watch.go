package rest

import (
	"net/http"
	"strconv"

	"dormouse/agent"
	"dormouse/api/document"
	"dormouse/server/rest/web"
)

func routeWatch(f *web.API) {
	web.Register(f, web.Route{
		Method: http.MethodGet, Path: "/v1/threads/{id}/watch", ID: "watch-thread", Tag: "threads",
		Summary: "Server-sent events: a thread's entries as they come",
		Effect:  web.Reads, Query: []string{"from", "incarnation"}, Media: web.EventStream, Streams: true,
		Events: web.WatchEvents(map[string]any{"entry": document.Entry{}, "compacted": document.WatchEnd{}, "deleted": document.WatchEnd{}}),
	}, watchThread)
}

// watchFrom returns the first seq to send. It is the one after Last-Event-ID, which a reconnecting
// client sends besides the original from.
func watchFrom(c *web.Request) (from uint64, resumed bool, err error) {
	from = c.Number("from")
	last, err := web.SingleHeader(c.HTTP.Header, web.HeaderLastEvent)
	if err != nil || last == "" {
		return from, false, err
	}
	seq, err := strconv.ParseUint(last, 10, 64)
	if err != nil || seq+1 == 0 {
		return 0, false, agent.Invalid(web.HeaderLastEvent, "it is %q, and should be a seq", last)
	}
	return seq + 1, true, nil
}

// watchThread streams until the client disconnects or an event ends the watch. It first reads the
// thread, so that a missing one is answered with a status.
//
// A seq does not identify an incarnation of the thread; the query's incarnation does. Without it, a
// resumed watch detects a new incarnation only by a rev below a seq that the client has had.
func watchThread(c *web.Request, _ *web.None) error {
	incarnation := c.Number("incarnation")
	from, resumed, err := watchFrom(c)
	if err != nil {
		return err
	}
	found, err := c.OpenWatch(&agent.GetThread{Thread: c.ID("id")})
	if err != nil {
		return err
	}
	if t, ok := found.(*agent.Thread); ok && resumed && from > t.Rev && !c.Flag("stale") {
		return c.Stream(nil, web.Watched{Event: agent.Event{Kind: agent.EventDeleted}})
	}
	return c.Watch(agent.Watch{Scope: c.Scope, Thread: c.ID("id"), From: from, Incarnation: incarnation})
}
