package web

import (
	"io"
	"net/http"
	"strconv"
	"time"

	"dormouse/internal/budget"
)

// Writer records the answer.
type Writer struct {
	http.ResponseWriter
	applied   func() uint64 // the index for answers without their own; nil if there is none
	operation string        // set by the route
	Status    int           // 0 until the header is written
	remote    string        // the client's address
	read      bool          // the request changes nothing
	from      string        // the caller's name; see caller
	work      *budget.Work  // of a read, until its answer is counted; nil if it is none
	bodied    bool          // the request has a body
	unread    io.Reader     // what has not been read of the body; nil if a refusal does not wait for it
	began     time.Time     // when the request with the body began
	compress  bool          // answers may be compressed
	zstd      *zstdCoder    // of the API
	coding    string        // that the client accepts; "" means none
	secret    bool          // the answer may hold a secret; set by the route
	routing   routing       // while no route has the request
	values    [10]string    // of headers that were set
	sets      int           // of values
}

// set sets a header, of which the name is in its canonical form. It does not allocate the list of
// values, as http.Header.Set does.
func (w *Writer) set(name, value string) {
	if w.sets == len(w.values) {
		w.Header().Set(name, value)
		return
	}
	w.values[w.sets] = value
	w.sets++
	w.Header()[name] = w.values[w.sets-1 : w.sets : w.sets]
}

// WriteHeader implements http.ResponseWriter. It sets the index of answers without their own.
func (w *Writer) WriteHeader(status int) {
	if w.Status == 0 && status >= http.StatusOK {
		w.Status = status
	}
	w.ExtendDeadline()
	if w.applied != nil && w.Header()[headerIndex] == nil {
		w.set(headerIndex, strconv.FormatUint(w.applied(), 10))
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *Writer) Write(b []byte) (int, error) {
	if w.Status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	return w.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController set deadlines and flush.
func (w *Writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// caller returns the caller whose share of the node's limits the request uses.
func (w *Writer) caller() string {
	if w.from == "" {
		w.from = budget.Caller(w.remote)
	}
	return w.from
}

// ExtendDeadline extends the deadline for the client to read the next piece. net/http may first wait for the
// rest of the body.
func (w *Writer) ExtendDeadline() {
	patience := writeTimeout
	if w.bodied {
		patience += bodyTimeout
	}
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(patience)) // not every writer has one
}

// expectBody bounds the time in which the request's body must arrive, read or not: net/http drains
// the rest, and clears the deadline once the body is complete.
func (w *Writer) expectBody(announced int64) {
	w.bodied, w.began = true, time.Now()
	w.expectMore(max(0, announced))
}

// drainBytesMax is how much of a body is read that the call did not read: more than the largest body.
const drainBytesMax = 16 << 20

// drainable returns the body of a request that drain reads; nil for none. A stream of HTTP/2 is answered without
// its body, and so is a client that waits for the answer before it sends its body.
func drainable(r *http.Request) io.Reader {
	if r.ContentLength > drainBytesMax || r.ProtoMajor != 1 || r.Header.Get("Expect") != "" {
		return nil
	}
	return r.Body
}

// drain reads the rest of the body before a refusal, within the deadline of the body. net/http reads little of it and
// closes the connection, and many clients read no answer before they have sent the whole body: they would see a lost
// connection in place of the refusal.
func (w *Writer) drain() {
	if w.unread != nil {
		_, _ = io.CopyN(io.Discard, w.unread, drainBytesMax)
		w.unread = nil
	}
}

// expectMore extends the deadline of the body for bytes, as many as the client may send until then.
func (w *Writer) expectMore(bytes int64) {
	within := min(bodyTimeout, bodyGrace+time.Duration(bytes)*time.Second/bodyRate)
	_ = http.NewResponseController(w).SetReadDeadline(w.began.Add(within)) // not every writer has one
}
