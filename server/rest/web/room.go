package web

import (
	"strconv"

	"dormouse/internal/budget"
)

const (
	answerBytesLeast = 4 << 10 // smaller answers are not counted: the kernel takes them at once
	answerPiece      = 1 << 20 // bytes of an answer for which the client has writeTimeout
)

// poolOf returns the pool that bounds the calls of a route. It has no bound for probes: a busy node
// must still answer them. Calls on the cluster have their own, so that operators get through.
func (f *API) poolOf(rt *Route) *budget.Pool {
	switch {
	case rt.Probe:
		return nil
	case rt.Tag == "cluster":
		return f.operators
	case rt.Streams:
		return f.watches
	default:
		return f.calls
	}
}

// send writes a complete answer. Until the client has read it, it counts as in flight. If there is
// no room for the answer to a read, the client gets a refusal instead. It ignores errors of writing,
// since the client has disconnected then.
func (f *API) send(w *Writer, status int, contentType string, body []byte) {
	if size := int64(len(body)); size >= answerBytesLeast {
		if !w.read {
			f.bytes.Force(w.caller(), size) // the outcome of a write must be known
		} else if !f.bytes.Try(w.caller(), size) {
			f.refuse(w, overloaded())
			return
		}
		defer f.bytes.Give(w.caller(), size)
	}
	if w.work != nil {
		w.work.Done()
	}
	body = w.compressed(contentType, body)
	w.set("Content-Type", contentType)
	w.set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	for len(body) > 0 {
		piece := body[:min(len(body), answerPiece)]
		if _, err := w.Write(piece); err != nil {
			return
		}
		body = body[len(piece):]
		if len(body) > 0 {
			w.ExtendDeadline()
		}
	}
}
