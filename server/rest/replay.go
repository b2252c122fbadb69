package rest

import (
	"net/http"

	"dormouse/agent"
	"dormouse/agent/replay"
	"dormouse/api/document"
)

func routeReplay(f *api) {
	register(f, route{
		method: http.MethodGet, path: "/v1/sessions/{id}/replay", id: "replay-session", tag: "sessions",
		summary: "Read the history of a session as one timeline; nothing is executed",
		effect:  reads, query: []string{"tail"}, answers: document.Replayed{},
	}, replaySession)
}

// replaySession answers with several reads: a concurrent write may be visible in one part and not
// in another.
func replaySession(c *request, _ *none) error {
	told, err := replay.Read(c.readAll, c.id("id"), c.number("tail"), agent.ReadBytesMax)
	if err != nil {
		return err
	}
	return c.answer(reply{revision: &told.Session.Revision, body: document.ReplayedOf(told)})
}
