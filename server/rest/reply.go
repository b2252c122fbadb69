package rest

import (
	"errors"
	"net/http"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"dormouse/agent"
)

// verbatim writes documents as they were kept: no string is escaped again, and
// < > & stay. Documents were checked when they came in, so duplicate members
// are not looked for again; a path that is quoted in a problem may hold bytes
// that are no UTF-8, which become U+FFFD.
var verbatim = json.JoinOptions(
	jsontext.PreserveRawStrings(true),
	jsontext.AllowDuplicateNames(true),
	jsontext.AllowInvalidUTF8(true),
)

// reply is an answer in JSON and the headers that go with it.
type reply struct {
	location string  // of what was created: makes the status 201
	revision *uint64 // the ETag
	body     any     // nil means none
}

// answer writes a reply.
func (c *call) answer(a reply) error {
	header := c.w.Header()
	status := c.route.status
	if status == 0 {
		status = http.StatusOK
	}
	if a.location != "" {
		header.Set("Location", a.location)
		status = http.StatusCreated
	}
	if a.revision != nil {
		header.Set("ETag", etag(*a.revision))
	}
	if c.route.looks() && c.flag("stale") {
		if err := c.noteAge(); err != nil {
			return err
		}
	}
	if a.body == nil {
		c.w.WriteHeader(status)
		return nil
	}
	c.front.writeJSON(c.w, status, "application/json", a.body)
	return nil
}

// noteAge says how old the answer of a call may be that looks past the store's
// views: what the owner of an instance says is current, and what this node says
// of the cluster is as old as its state.
func (c *call) noteAge() error {
	header := c.w.Header()
	if c.route.tag != "cluster" {
		header.Set(headerAge, "0")
		return c.err
	}
	index := header.Get(headerIndex)
	_, err := c.ask(agent.Reads{Stale: true, Reads: []agent.Read{&agent.ListScopes{Page: agent.Page{Limit: 1}}}})
	if index != "" {
		header.Set(headerIndex, index)
	}
	return errors.Join(c.err, err)
}

// writeJSON writes a whole answer. It is encoded first, so that what cannot be
// encoded is still answered as a bug; a caller that does not take its answer
// is not waited for.
func (f *front) writeJSON(w *writer, status int, contentType string, body any) {
	encoded, err := json.Marshal(body, verbatim)
	if err != nil {
		f.options.Logger.Error("an answer does not encode", "operation", w.operation, "error", err)
		status, contentType = http.StatusInternalServerError, "application/problem+json"
		encoded = []byte(`{"type":"urn:dormouse:problem:internal","title":"A bug","status":500,"detail":"the answer does not encode","code":"internal"}`)
	}
	w.send(status, contentType, encoded)
}
