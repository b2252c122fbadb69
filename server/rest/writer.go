package rest

import (
	"net/http"
	"strconv"
	"time"
)

// writer notes what was answered.
type writer struct {
	http.ResponseWriter
	applied   func() uint64 // the index of an answer that has none of its own; nil where nobody knows
	operation string        // set by the route
	status    int           // 0 until the header is written
}

func (w *writer) WriteHeader(status int) {
	if w.status == 0 && status >= http.StatusOK {
		w.status = status
	}
	w.extend()
	if w.applied != nil && w.Header().Get(headerIndex) == "" {
		w.Header().Set(headerIndex, strconv.FormatUint(w.applied(), 10))
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *writer) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	return w.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController reach deadlines and flushing.
func (w *writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// send writes a whole answer of bytes. Where that fails, there is nobody left
// to tell.
func (w *writer) send(status int, contentType string, body []byte) {
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

// extend gives the caller time again to take what is written next.
func (w *writer) extend() {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writeTimeout)) // not every writer has one
}

// expectBody bounds how long the request's body may take to arrive, read or
// not: net/http drains what was not read, and clears the deadline once the
// body is in.
func (w *writer) expectBody() {
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyTimeout)) // not every writer has one
}
