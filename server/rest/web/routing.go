package web

import (
	"net/http"

	"dormouse/agent"
	"dormouse/api/document"
)

// routing is the writer that the mux has for a request. The mux passes it to the route, which takes the
// writer of the answer from it. If there is no route, the mux writes an error as plain text, of which
// routing keeps only the status and the headers.
type routing struct {
	out    *Writer
	routed bool
	header http.Header
	status int
}

// found returns the writer of the answer: a route has the request.
func (o *routing) found() *Writer {
	o.routed = true
	return o.out
}

// Header implements http.ResponseWriter.
func (o *routing) Header() http.Header {
	if o.header == nil {
		o.header = http.Header{}
	}
	return o.header
}

// WriteHeader implements http.ResponseWriter.
func (o *routing) WriteHeader(status int) { o.status = status }

// Write implements http.ResponseWriter.
func (o *routing) Write(b []byte) (int, error) { return len(b), nil }

// refusal returns the error of a request that no route takes.
func (o *routing) refusal(r *http.Request) error {
	if o.status != http.StatusMethodNotAllowed {
		return agent.Errorf(agent.CodeNotFound, "there is no %s", r.URL.EscapedPath())
	}
	allow := o.header.Get("Allow")
	return &methodError{
		error: agent.Errorf(document.CodeMethodNotAllowed, "%s does not allow %s; it allows %s", r.URL.EscapedPath(), r.Method, allow),
		allow: allow,
	}
}
