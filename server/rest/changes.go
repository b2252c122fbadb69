package rest

import (
	"net/http"

	"dormouse/agent"
	"dormouse/api/document"
	"dormouse/server/rest/web"
)

func routeChanges(f *web.API) {
	web.Register(f, web.Route{
		Method: http.MethodGet, Path: "/v1/changes", ID: "watch-changes", Tag: "scopes",
		Summary: "Server-sent events: every change of the scope, in the order of the log",
		Effect:  web.Reads, Feed: true, Query: []string{"prefix", "from_index", "include"}, Media: web.EventStream, Streams: true,
		Events: web.WatchEvents(map[string]any{"change": document.Change{}, "compacted": document.WatchEnd{}}),
	}, watchChanges)
}

// watchChanges streams until the client disconnects or an event ends the feed. It waits for the
// first event, so that a feed that cannot begin is answered with a status.
func watchChanges(c *web.Request, _ *web.None) error {
	w := agent.Watch{Scope: c.Scope, Changes: true, Prefix: c.Text("prefix"), From: c.Number("from_index"), Body: c.IncludesBody()}
	if err := resumeChanges(c, &w); err != nil {
		return err
	}
	if c.Err != nil {
		return c.Err
	}
	came, end := c.Start(c.Follow(w))
	defer end()
	first, err := web.FirstOf(c, came)
	if err != nil {
		return err
	}
	return c.Stream(came, first)
}

// resumeChanges continues after Last-Event-ID, which a reconnecting client sends besides the
// original from_index. It is the index.ordinal of the last change, or an index whose changes are
// complete.
func resumeChanges(c *web.Request, w *agent.Watch) error {
	last, err := web.SingleHeader(c.HTTP.Header, web.HeaderLastEvent)
	if err != nil || last == "" {
		return err
	}
	from, skip, ok := agent.AfterPlace(last)
	if !ok {
		return agent.Invalid(web.HeaderLastEvent, "it is %q, and should be the id of an event of this feed", last)
	}
	w.From, w.Skip = from, skip
	return nil
}
