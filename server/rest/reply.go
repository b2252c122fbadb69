package rest

import (
	"bytes"
	"errors"
	"net/http"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"dormouse/agent"
)

// verbatim writes documents as they were stored: no string is escaped again, and < > & stay.
// Documents were validated as input, so duplicate members are not searched for again. A path that
// is quoted in a problem may hold invalid UTF-8, which becomes U+FFFD.
var verbatim = json.JoinOptions(
	jsontext.PreserveRawStrings(true),
	jsontext.AllowDuplicateNames(true),
	jsontext.AllowInvalidUTF8(true),
)

// reply is a JSON answer with its headers.
type reply struct {
	location string  // of the created resource: makes the status 201
	follow   string  // of the receipt of work that goes on: makes the status 202
	revision *uint64 // the ETag
	body     any     // nil means none
}

// answer writes a reply.
func (c *request) answer(a reply) error {
	header := c.w.Header()
	status := c.route.status
	if status == 0 {
		status = http.StatusOK
	}
	if a.location != "" {
		header.Set("Location", a.location)
		status = http.StatusCreated
	}
	if a.follow != "" {
		header.Set("Location", a.follow)
		status = http.StatusAccepted
	}
	if a.revision != nil {
		c.w.set(headerETag, etag(*a.revision))
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
	c.api.writeJSON(c.w, status, "application/json", a.body)
	return nil
}

// noteAge sets the age header of a call that does not use the store's views. The answer of the
// owner of an instance is current, and this node's view of the cluster is as old as its state.
func (c *request) noteAge() error {
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

// answerBuffers are buffers for the encoding of an answer, until it is written.
var answerBuffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// answerBufferMax bounds the buffers that are kept.
const answerBufferMax = 64 << 10

func putAnswerBuffer(b *bytes.Buffer) {
	if b.Cap() <= answerBufferMax {
		b.Reset()
		answerBuffers.Put(b)
	}
}

// writeJSON writes a complete answer. It encodes the body first, so that an encoding error is still
// answered as a bug. It does not wait for clients that do not read.
func (f *api) writeJSON(w *writer, status int, contentType string, body any) {
	buffer := answerBuffers.Get().(*bytes.Buffer)
	defer putAnswerBuffer(buffer)
	err := json.MarshalWrite(buffer, body, verbatim)
	encoded := buffer.Bytes()
	if err != nil {
		f.options.Logger.Error("cannot encode an answer", "operation", w.operation, "error", err)
		status, contentType = http.StatusInternalServerError, "application/problem+json"
		encoded = []byte(`{"type":"urn:dormouse:problem:internal","title":"A bug","status":500,"detail":"the answer does not encode","code":"internal"}`)
	}
	f.send(w, status, contentType, encoded)
}

// sendBytes answers with bytes of a caller, which must not become a page of this origin in a browser.
func (c *request) sendBytes(contentType string, body []byte) {
	c.w.Header().Set("Content-Security-Policy", "sandbox; default-src 'none'")
	c.api.send(c.w, http.StatusOK, contentType, body)
}
