package rest

import (
	"net/http"

	"dormouse/agent"
	"dormouse/agent/replay"
	"dormouse/api/document"
)

func (f *front) routeReplay() {
	register(f, route{
		method: http.MethodGet, path: "/v1/sessions/{id}/replay", id: "replay-session", tag: "sessions",
		summary: "What happened to a session, as one timeline; nothing is executed",
		effect:  reads, query: []string{"tail"}, answers: document.Replayed{},
	}, (*call).replaySession)
}

// replaySession answers in a few reads: what is written in between may be told
// of one part and not of another.
func (c *call) replaySession(*none) error {
	told, err := replay.Read(c.readAll, c.id("id"), c.number("tail"), agent.ReadBytesMax)
	if err != nil {
		return err
	}
	return c.answer(reply{revision: &told.Session.Revision, body: document.ReplayedOf(told)})
}
