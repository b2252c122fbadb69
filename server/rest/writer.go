package rest

import (
	"net/http"
	"strconv"
	"time"
)

// writer records the answer.
type writer struct {
	http.ResponseWriter
	applied   func() uint64 // the index for answers without their own; nil if there is none
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

// Unwrap lets http.ResponseController set deadlines and flush.
func (w *writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// send writes a complete answer. It ignores errors, since the client has disconnected then.
func (w *writer) send(status int, contentType string, body []byte) {
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

// extend extends the deadline for the client to read the next piece.
func (w *writer) extend() {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writeTimeout)) // not every writer has one
}

// expectBody bounds the time in which the request's body must arrive, read or not: net/http drains
// the rest, and clears the deadline once the body is complete.
func (w *writer) expectBody() {
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyTimeout)) // not every writer has one
}
