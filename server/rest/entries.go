package rest

import (
	"net/http"

	"dormouse/agent"
	"dormouse/api/document"
	"dormouse/server/rest/web"
)

func routeEntries(f *web.API) {
	const tag, path = "threads", "/v1/threads/{id}/entries"
	web.Register(f, web.Route{
		Method: http.MethodPost, Path: path, ID: "append-entries", Tag: tag, Summary: "Append entries; creates the thread if it does not exist",
		Effect: web.Writes, Condition: "expected_rev", BodyNeeded: true, Creates: true, Answers: document.ThreadStamp{},
	}, appendEntries)
	web.Register(f, web.Route{
		Method: http.MethodGet, Path: path, ID: "load-entries", Tag: tag, Summary: "Read entries in seq order",
		Effect: web.Reads, Query: []string{"from", "to", "tail", "kind", "at_rev", "limit", "order", "since", "until"}, Answers: document.EntryPage{},
	}, loadEntries)
	web.Register(f, web.Route{
		Method: http.MethodGet, Path: path + "/{entry}", ID: "get-entry", Tag: tag, Summary: "Read one entry by its id",
		Effect: web.Reads, Answers: document.Entry{},
	}, getEntry)
	routeEntryBytes(f)
	routeWatch(f)
}

func appendEntries(c *web.Request, body *document.AppendBody) error {
	op, err := body.ToOp(c.ID("id"))
	if err != nil {
		return err
	}
	op.ExpectedRev = c.Conditioned(op.ExpectedRev)
	return answerAppend(c, op)
}

// answerAppend commits one append.
func answerAppend(c *web.Request, op *agent.AppendThread) error {
	result, err := c.Commit(op)
	if err != nil {
		return err
	}
	done, err := web.ResultOf[*agent.ThreadResult](result, 0)
	if err != nil {
		return err
	}
	a := web.Reply{Revision: &done.Thread.Rev, Body: document.ThreadStampOf(done)}
	// A thread is new while its rev is 0. Its creation time distinguishes a first append from a
	// later one whose entries exist already.
	first := len(done.Entries) == 0 && done.Thread.Rev == 0 || len(done.Entries) > 0 && done.Entries[0].Seq == 0
	if first && done.Thread.CreatedAt == result.Time {
		a.Location = web.PathOf("threads", done.Thread.ID)
	}
	return c.Answer(a)
}

func loadEntries(c *web.Request, _ *web.None) error {
	found, err := web.Read[*agent.Entries](c, &agent.LoadEntries{
		Thread: c.ID("id"),
		From:   c.Number("from"),
		To:     c.Optional("to"),
		Tail:   c.Number("tail"),
		AtRev:  c.Optional("at_rev"),
		Kinds:  c.Query["kind"],
		Limit:  c.Number("limit"),
		Order:  agent.Order(c.Text("order")),
		Times:  c.Times(),
	})
	if err != nil {
		return err
	}
	return c.Answer(web.Reply{Revision: &found.Thread.Rev, Body: document.EntryPageOf(found)})
}

func getEntry(c *web.Request, _ *web.None) error {
	found, err := web.Read[*agent.Entry](c, &agent.GetEntry{Thread: c.ID("id"), Entry: c.ID("entry")})
	if err != nil {
		return err
	}
	return c.Answer(web.Reply{Body: document.EntryOf(*found)})
}
