package rest

import (
	"cmp"
	"net/http"

	"dormouse/agent"
	"dormouse/api/document"
)

func routeEntryBytes(f *api) {
	const tag, thread = "threads", "/v1/threads/{id}"
	register(f, route{
		method: http.MethodPost, path: thread + "/bytes", id: "append-bytes", tag: tag,
		summary: "Append one entry whose bytes are the body, with its type",
		effect:  writes, condition: "expected_rev", query: []string{"entry", "entry_kind", "expected_rev", "if_incarnation"},
		accepts: []string{anyMedia}, creates: true, answers: document.ThreadStamp{},
	}, appendBytes)
	register(f, route{
		method: http.MethodGet, path: thread + "/entries/{entry}/bytes", id: "get-entry-bytes", tag: tag, summary: "Read the bytes of an entry as they were written",
		effect: reads, media: anyMedia,
	}, getEntryBytes)
}

func appendBytes(c *request, _ *none) error {
	body, err := c.readBody(agent.EntryBytesMax)
	if err != nil {
		return err
	}
	return answerAppend(c, &agent.AppendThread{
		Thread: c.id("id"),
		Entries: []agent.Draft{{
			ID: c.text("entry"), Kind: c.text("entry_kind"), Bytes: body,
			ContentType: cmp.Or(c.r.Header.Get("Content-Type"), agent.DefaultContentType),
		}},
		ExpectedRev:   c.conditioned(c.optional("expected_rev")),
		IfIncarnation: c.number("if_incarnation"),
	})
}

func getEntryBytes(c *request, _ *none) error {
	id := c.id("entry")
	found, err := read[*agent.Entry](c, &agent.GetEntry{Thread: c.id("id"), Entry: id})
	if err != nil {
		return err
	}
	if found.ContentType == "" {
		return agent.Errorf(agent.CodeNotFound, "entry %q has no bytes: its payload is in the entry", id)
	}
	c.sendBytes(found.ContentType, found.Bytes)
	return nil
}
