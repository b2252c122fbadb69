package web

import (
	"errors"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"

	"dormouse/agent"
	"dormouse/api/document"
)

// jsonBodyBytesMax bounds a JSON body: the largest commit with all values in base64 (4/3), and 1
// MiB for white space, names and escapes.
const jsonBodyBytesMax = agent.CommitBytesMax/3*4 + 1<<20

// ReadBody reads a whole body of at most limit bytes. It counts them until the request ends. The timeout
// of the call starts after it.
func (c *Request) ReadBody(limit int64) ([]byte, error) {
	if c.HTTP.ContentLength > limit {
		return nil, agent.TooLarge("body", "body_bytes_max", int(c.HTTP.ContentLength), int(limit))
	}
	if c.HTTP.ContentLength == 0 {
		return nil, nil
	}
	if err := c.accept(); err != nil {
		return nil, err
	}
	size, coding := limit, codingOf(c.HTTP.Header)
	if c.HTTP.ContentLength > 0 && coding == "" {
		size = c.HTTP.ContentLength
	}
	c.Writer.expectMore(0) // a client that only announces a large body gets no more time to begin it
	// The bytes that arrive and those that come out of the coding have the same limit.
	var body []byte
	var err error
	if arriving := (&arrivingBody{from: http.MaxBytesReader(c.Writer, c.HTTP.Body, limit), to: c.Writer}); coding == "" {
		body, err = c.receive(arriving, size)
	} else {
		body, err = c.receiveCoded(arriving, coding, limit)
	}
	var over *http.MaxBytesError
	switch {
	case errors.Is(err, errNoRoom):
		return nil, overloaded()
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, agent.Invalid("body", "the body arrives too slowly: send at least %d KiB a second", bodyRate>>10)
	case errors.As(err, &over):
		return nil, agent.TooLarge("body", "body_bytes_max", int(limit)+1, int(limit))
	case err != nil:
		return nil, agent.Invalid("body", "the body is incomplete: %v", err)
	}
	c.startTimeout()
	return body, nil
}

// errNoRoom means that the bytes in flight of the node, or of the caller, are at their limit.
var errNoRoom = errors.New("no room for the body")

// bodyFirstBytes is the room for a body before any of it has arrived.
const bodyFirstBytes = 16 << 10

// receive reads a body of at most size bytes. Room for it grows with what has arrived: a client that
// only announces a large body takes none from others.
func (c *Request) receive(from io.Reader, size int64) ([]byte, error) {
	var body []byte
	for {
		if len(body) == cap(body) {
			room := min(max(2*int64(cap(body)), bodyFirstBytes), size+1) // one more, to find the end
			more := room - int64(cap(body))
			if more <= 0 {
				more = 1 << 10 // the reader says what is too much
			}
			if !c.API.bytes.Try(c.Writer.caller(), more) {
				return nil, errNoRoom
			}
			c.received += more
			body = append(make([]byte, 0, int64(cap(body))+more), body...)
		}
		n, err := from.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		switch {
		case errors.Is(err, io.EOF):
			return body, nil
		case err != nil:
			return nil, err
		}
	}
}

// arrivingBody reads the body as the client sends it. Each read extends the deadline of the body, except the one that
// finds its end: net/http then clears the deadline and waits for a disconnect, and would take a new deadline for one. A
// decoder of a content coding returns bytes after that, so what it returns must not extend the deadline.
type arrivingBody struct {
	from io.Reader
	to   *Writer
	read int64 // bytes
}

// Read implements io.Reader.
func (b *arrivingBody) Read(p []byte) (int, error) {
	n, err := b.from.Read(p)
	if b.read += int64(n); err == nil {
		b.to.expectMore(b.read)
	}
	return n, err
}

// decodeBody reads a JSON body into B; nil if there is none.
func decodeBody[B any](c *Request) (*B, error) {
	raw, err := c.ReadBody(jsonBodyBytesMax)
	if err != nil || len(raw) == 0 {
		return nil, err
	}
	body := new(B)
	if err := document.Decode(raw, body, "body"); err != nil {
		return nil, err
	}
	return body, nil
}

// emptyBodyBytesMax bounds a body that says nothing.
const emptyBodyBytesMax = 64

// refuseBody refuses the body of a call that takes none, because the call would ignore it, and with it a condition such
// as if_revision. {} and null say nothing: some libraries send them with each request.
func (c *Request) refuseBody() error {
	if c.HTTP.ContentLength == 0 {
		return nil
	}
	c.Writer.expectMore(0)
	body, err := io.ReadAll(io.LimitReader(c.HTTP.Body, emptyBodyBytesMax+1))
	if err != nil {
		return agent.Invalid("body", "the body is incomplete: %v", err)
	}
	if c.HTTP.ContentLength > emptyBodyBytesMax+1 { // there is more, which drain reads
		c.Writer.expectMore(c.HTTP.ContentLength)
	}
	says := strings.Join(strings.Fields(string(body)), "")
	if len(body) <= emptyBodyBytesMax && (says == "" || says == "{}" || says == "null") {
		return nil
	}
	if len(c.Route.Query) == 0 {
		return agent.Invalid("body", "this call takes no body: leave it out")
	}
	return agent.Invalid("body", "this call takes no body: give %s in the query", strings.Join(c.Route.Query, ", "))
}

// accept refuses a body of a type that the route does not take, or without a type: a page of another
// site can make a browser send one of those without asking first.
func (c *Request) accept() error {
	if err := acceptCoding(c.Writer, codingOf(c.HTTP.Header)); err != nil {
		return err
	}
	named := c.HTTP.Header.Get("Content-Type")
	if named == "" && !slices.Contains(c.Route.types(), AnyMedia) {
		return agent.Errorf(document.CodeUnsupportedMedia, "the body has no type: send the header Content-Type: %s", strings.Join(c.Route.types(), " or "))
	}
	for _, accepted := range c.Route.types() {
		if accepted == AnyMedia || mediaType(named) == accepted {
			return nil
		}
	}
	return agent.Errorf(document.CodeUnsupportedMedia, "the body is %q: send the header Content-Type: %s", named, strings.Join(c.Route.types(), " or "))
}

// mediaType returns a Content-Type without its parameters, in lower case.
func mediaType(header string) string {
	kind, _, _ := strings.Cut(header, ";")
	return strings.ToLower(strings.TrimSpace(kind))
}
