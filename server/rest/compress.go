package rest

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"dormouse/agent"
	"dormouse/api/document"
)

// codingGzip is the content coding that the server writes and takes.
const codingGzip = "gzip"

// compressLeast is the size from which an answer is compressed: below it, the headers and the time
// cost more than the bytes that are saved.
const compressLeast = 2 << 10

// gzipWriters are writers at the fastest level: JSON shrinks to a fifth at any level.
var gzipWriters = sync.Pool{New: func() any {
	w, err := gzip.NewWriterLevel(io.Discard, gzip.BestSpeed)
	if err != nil {
		panic(err) // the level is valid
	}
	return w
}}

// compressed returns the body of an answer in the coding that the client accepts, and sets its header.
// Streams and bytes are sent as they are, and so is what holds a secret: the size of a compressed answer
// would tell something about it (BREACH).
func (w *writer) compressed(contentType string, body []byte) []byte {
	if !w.compress || w.secret || len(body) < compressLeast || !compressible(contentType) {
		return body
	}
	w.Header().Add("Vary", "Accept-Encoding")
	if !w.gzip {
		return body
	}
	var out bytes.Buffer
	z := gzipWriters.Get().(*gzip.Writer)
	defer gzipWriters.Put(z)
	z.Reset(&out)
	_, err := z.Write(body)
	if err != nil || z.Close() != nil || out.Len() >= len(body) {
		return body // a buffer takes all; what does not shrink is sent as it is
	}
	w.Header().Set("Content-Encoding", codingGzip)
	return out.Bytes()
}

// compressible reports whether a body of this type shrinks.
func compressible(contentType string) bool {
	kind := mediaType(contentType)
	return strings.HasSuffix(kind, "json") || strings.HasPrefix(kind, "text/")
}

// acceptsGzip reports whether an Accept-Encoding header has gzip with a weight above 0.
func acceptsGzip(header http.Header) bool {
	wild := false
	for _, line := range header.Values("Accept-Encoding") {
		for each := range strings.SplitSeq(line, ",") {
			coding, parameters, _ := strings.Cut(each, ";")
			_, weight, given := strings.Cut(parameters, "=")
			q, err := strconv.ParseFloat(strings.TrimSpace(weight), 64)
			positive := !given || err == nil && q > 0
			switch strings.ToLower(strings.TrimSpace(coding)) {
			case codingGzip, "x-gzip":
				return positive
			case "*":
				wild = positive
			}
		}
	}
	return wild
}

// decoded returns the reader of a body without its content coding, of at most limit bytes. The caller
// bounds the bytes that arrive.
func decoded(w http.ResponseWriter, arriving io.Reader, coding string, limit int64) (io.Reader, error) {
	if coding != codingGzip {
		return arriving, nil
	}
	z, err := gzip.NewReader(arriving)
	if err != nil {
		return nil, fmt.Errorf("not gzip, as its Content-Encoding says: %w", err)
	}
	return http.MaxBytesReader(w, io.NopCloser(z), limit), nil
}

// codingOf returns the content coding of a body, "" if it has none.
func codingOf(header http.Header) string {
	coding := strings.ToLower(strings.Join(header.Values("Content-Encoding"), ", "))
	if coding == "identity" {
		return ""
	}
	return coding
}

// acceptCoding refuses a body in a coding that the server does not take.
func acceptCoding(w http.ResponseWriter, coding string) error {
	if coding != "" && coding != codingGzip {
		w.Header().Set("Accept-Encoding", codingGzip)
		return agent.Errorf(document.CodeUnsupportedMedia, "the body is encoded as %q; send it as gzip, or without an encoding", coding)
	}
	return nil
}
