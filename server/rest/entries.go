package rest

import (
	"net/http"

	"dormouse/agent"
	"dormouse/api/document"
)

func routeEntries(f *api) {
	const tag, path = "threads", "/v1/threads/{id}/entries"
	register(f, route{
		method: http.MethodPost, path: path, id: "append-entries", tag: tag, summary: "Append entries; creates the thread if it does not exist",
		effect: writes, condition: "expected_rev", bodyNeeded: true, creates: true, answers: document.ThreadStamp{},
	}, appendEntries)
	register(f, route{
		method: http.MethodGet, path: path, id: "load-entries", tag: tag, summary: "Read entries in seq order",
		effect: reads, query: []string{"from", "to", "tail", "kind", "at_rev", "limit", "order", "since", "until"}, answers: document.EntryPage{},
	}, loadEntries)
	register(f, route{
		method: http.MethodGet, path: path + "/{entry}", id: "get-entry", tag: tag, summary: "Read one entry by its id",
		effect: reads, answers: document.Entry{},
	}, getEntry)
	routeEntryBytes(f)
	routeWatch(f)
}

func appendEntries(c *request, body *document.AppendBody) error {
	op, err := body.ToOp(c.id("id"))
	if err != nil {
		return err
	}
	op.ExpectedRev = c.conditioned(op.ExpectedRev)
	return answerAppend(c, op)
}

// answerAppend commits one append.
func answerAppend(c *request, op *agent.AppendThread) error {
	result, err := c.commit(op)
	if err != nil {
		return err
	}
	done, err := resultOf[*agent.ThreadResult](result, 0)
	if err != nil {
		return err
	}
	a := reply{revision: &done.Thread.Rev, body: document.ThreadStampOf(done)}
	// A thread is new while its rev is 0. Its creation time distinguishes a first append from a
	// later one whose entries exist already.
	first := len(done.Entries) == 0 && done.Thread.Rev == 0 || len(done.Entries) > 0 && done.Entries[0].Seq == 0
	if first && done.Thread.CreatedAt == result.Time {
		a.location = location("threads", done.Thread.ID)
	}
	return c.answer(a)
}

func loadEntries(c *request, _ *none) error {
	found, err := read[*agent.Entries](c, &agent.LoadEntries{
		Thread: c.id("id"),
		From:   c.number("from"),
		To:     c.optional("to"),
		Tail:   c.number("tail"),
		AtRev:  c.optional("at_rev"),
		Kinds:  c.query["kind"],
		Limit:  c.number("limit"),
		Order:  agent.Order(c.text("order")),
		Times:  c.times(),
	})
	if err != nil {
		return err
	}
	return c.answer(reply{revision: &found.Thread.Rev, body: document.EntryPageOf(found)})
}

func getEntry(c *request, _ *none) error {
	found, err := read[*agent.Entry](c, &agent.GetEntry{Thread: c.id("id"), Entry: c.id("entry")})
	if err != nil {
		return err
	}
	return c.answer(reply{body: document.EntryOf(*found)})
}
