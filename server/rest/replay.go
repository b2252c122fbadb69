package rest

import (
	"net/http"

	"dormouse/agent"
	"dormouse/agent/replay"
	"dormouse/api/document"
	"dormouse/server/rest/web"
)

func routeReplay(f *web.API) {
	web.Register(f, web.Route{
		Method: http.MethodGet, Path: "/v1/sessions/{id}/replay", ID: "replay-session", Tag: "sessions",
		Summary: "Read the history of a session as one timeline; nothing is executed",
		Effect:  web.Reads, Query: []string{"tail"}, Answers: document.Replayed{},
	}, replaySession)
}

// replaySession answers with several reads: a concurrent write may be visible in one part and not
// in another.
func replaySession(c *web.Request, _ *web.None) error {
	told, err := replay.Read(c.ReadAll, c.ID("id"), c.Number("tail"), agent.ReadBytesMax)
	if err != nil {
		return err
	}
	return c.Answer(web.Reply{Revision: &told.Session.Revision, Body: document.ReplayedOf(told)})
}
