package rest

import (
	"net/http"

	"dormouse/agent"
	"dormouse/api/document"
)

func routeChanges(f *api) {
	register(f, route{
		method: http.MethodGet, path: "/v1/changes", id: "watch-changes", tag: "scopes",
		summary: "Server-sent events: every change of the scope, in the order of the log",
		effect:  reads, feed: true, query: []string{"prefix", "from_index", "include"}, media: eventStream, streams: true,
		events: watchEvents(map[string]any{"change": document.Change{}, "compacted": document.WatchEnd{}}),
	}, watchChanges)
}

// watchChanges streams until the client disconnects or an event ends the feed. It waits for the
// first event, so that a feed that cannot begin is answered with a status.
func watchChanges(c *request, _ *none) error {
	w := agent.Watch{Scope: c.scope, Changes: true, Prefix: c.text("prefix"), From: c.number("from_index"), Body: c.includesBody()}
	if err := resumeChanges(c, &w); err != nil {
		return err
	}
	if c.err != nil {
		return c.err
	}
	came, end := c.start(c.follow(w))
	defer end()
	first, err := firstOf(c, came)
	if err != nil {
		return err
	}
	return c.stream(came, first)
}

// resumeChanges continues after Last-Event-ID, which a reconnecting client sends besides the
// original from_index. It is the index.ordinal of the last change, or an index whose changes are
// complete.
func resumeChanges(c *request, w *agent.Watch) error {
	last, err := single(c.r.Header, headerLastEvent)
	if err != nil || last == "" {
		return err
	}
	from, skip, ok := agent.AfterPlace(last)
	if !ok {
		return agent.Invalid(headerLastEvent, "it is %q, and should be the id of an event of this feed", last)
	}
	w.From, w.Skip = from, skip
	return nil
}
