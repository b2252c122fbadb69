package web

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

// Reply is a JSON answer with its headers.
type Reply struct {
	Location string  // of the created resource: makes the status 201
	Follow   string  // of the receipt of work that goes on: makes the status 202
	Revision *uint64 // the ETag
	Body     any     // nil means none
}

// Answer writes a reply.
func (c *Request) Answer(a Reply) error {
	header := c.Writer.Header()
	status := c.Route.Status
	if status == 0 {
		status = http.StatusOK
	}
	if a.Location != "" {
		header.Set("Location", a.Location)
		status = http.StatusCreated
	}
	if a.Follow != "" {
		header.Set("Location", a.Follow)
		status = http.StatusAccepted
	}
	if a.Revision != nil {
		c.Writer.set(headerETag, ETag(*a.Revision))
	}
	if c.Route.looks() && c.Flag("stale") {
		if err := c.noteAge(); err != nil {
			return err
		}
	}
	if a.Body == nil {
		c.Writer.WriteHeader(status)
		return nil
	}
	c.API.writeJSON(c.Writer, status, "application/json", a.Body)
	return nil
}

// noteAge sets the age header of a call that does not use the store's views. The answer of the
// owner of an instance is current, and this node's view of the cluster is as old as its state.
func (c *Request) noteAge() error {
	header := c.Writer.Header()
	if c.Route.Tag != "cluster" {
		header.Set(headerAge, "0")
		return c.Err
	}
	index := header.Get(headerIndex)
	_, err := c.ask(agent.Reads{Stale: true, Reads: []agent.Read{&agent.ListScopes{Page: agent.Page{Limit: 1}}}})
	if index != "" {
		header.Set(headerIndex, index)
	}
	return errors.Join(c.Err, err)
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
func (f *API) writeJSON(w *Writer, status int, contentType string, body any) {
	buffer := answerBuffers.Get().(*bytes.Buffer)
	defer putAnswerBuffer(buffer)
	err := json.MarshalWrite(buffer, body, verbatim)
	encoded := buffer.Bytes()
	if err != nil {
		f.Options.Logger.Error("cannot encode an answer", "operation", w.operation, "error", err)
		status, contentType = http.StatusInternalServerError, "application/problem+json"
		encoded = []byte(`{"type":"urn:dormouse:problem:internal","title":"A bug","status":500,"detail":"the answer does not encode","code":"internal"}`)
	}
	f.send(w, status, contentType, encoded)
}

// SendBytes answers with bytes of a caller, which must not become a page of this origin in a browser.
func (c *Request) SendBytes(contentType string, body []byte) {
	c.Writer.Header().Set("Content-Security-Policy", "sandbox; default-src 'none'")
	c.API.send(c.Writer, http.StatusOK, contentType, body)
}
