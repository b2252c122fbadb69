package rest

import (
	"cmp"
	"net/http"

	"dormouse/agent"
	"dormouse/api/document"
	"dormouse/server/rest/web"
)

func routeEntryBytes(f *web.API) {
	const tag, thread = "threads", "/v1/threads/{id}"
	web.Register(f, web.Route{
		Method: http.MethodPost, Path: thread + "/bytes", ID: "append-bytes", Tag: tag,
		Summary: "Append one entry whose bytes are the body, with its type",
		Effect:  web.Writes, Condition: "expected_rev", Query: []string{"entry", "entry_kind", "expected_rev", "if_incarnation"},
		Accepts: []string{web.AnyMedia}, Creates: true, Answers: document.ThreadStamp{},
	}, appendBytes)
	web.Register(f, web.Route{
		Method: http.MethodGet, Path: thread + "/entries/{entry}/bytes", ID: "get-entry-bytes", Tag: tag, Summary: "Read the bytes of an entry as they were written",
		Effect: web.Reads, Media: web.AnyMedia,
	}, getEntryBytes)
}

func appendBytes(c *web.Request, _ *web.None) error {
	body, err := c.ReadBody(agent.EntryBytesMax)
	if err != nil {
		return err
	}
	return answerAppend(c, &agent.AppendThread{
		Thread: c.ID("id"),
		Entries: []agent.Draft{{
			ID: c.Text("entry"), Kind: c.Text("entry_kind"), Bytes: body,
			ContentType: cmp.Or(c.HTTP.Header.Get("Content-Type"), agent.DefaultContentType),
		}},
		ExpectedRev:   c.Conditioned(c.Optional("expected_rev")),
		IfIncarnation: c.Number("if_incarnation"),
	})
}

func getEntryBytes(c *web.Request, _ *web.None) error {
	id := c.ID("entry")
	found, err := web.Read[*agent.Entry](c, &agent.GetEntry{Thread: c.ID("id"), Entry: id})
	if err != nil {
		return err
	}
	if found.ContentType == "" {
		return agent.Errorf(agent.CodeNotFound, "entry %q has no bytes: its payload is in the entry", id)
	}
	c.SendBytes(found.ContentType, found.Bytes)
	return nil
}
