package web

import (
	"net/http"
	"strconv"
	"strings"

	"dormouse/agent"
	"dormouse/api/document"
)

// The content codings that the server writes and takes.
const (
	codingGzip = "gzip"
	codingZstd = "zstd"
)

// compressLeast is the size from which an answer is compressed: below it, the headers and the time
// cost more than the bytes that are saved.
const compressLeast = 2 << 10

// compressed returns the body of an answer in the coding that the client accepts, and sets its header.
// Streams and bytes are sent as they are, and so is what holds a secret: the size of a compressed answer
// would tell something about it (BREACH).
func (w *Writer) compressed(contentType string, body []byte) []byte {
	if !w.compress || w.secret || len(body) < compressLeast || !compressible(contentType) {
		return body
	}
	w.Header().Add("Vary", "Accept-Encoding")
	var small []byte
	switch w.coding {
	case codingGzip:
		small = gzipped(body)
	case codingZstd:
		small = w.zstd.encoder().EncodeAll(body, nil)
	default:
		return body
	}
	if small == nil || len(small) >= len(body) {
		return body // what does not shrink is sent as it is
	}
	w.Header().Set("Content-Encoding", w.coding)
	return small
}

// compressible reports whether a body of this type shrinks.
func compressible(contentType string) bool {
	kind := mediaType(contentType)
	return strings.HasSuffix(kind, "json") || strings.HasPrefix(kind, "text/")
}

// acceptedCoding returns the coding that an Accept-Encoding header gives the highest weight: zstd before
// gzip if they are equal, "" if it accepts neither.
func acceptedCoding(header http.Header) string {
	if header["Accept-Encoding"] == nil {
		return ""
	}
	weights := map[string]float64{codingGzip: -1, codingZstd: 0} // -1: not named
	wild := 0.0
	for _, line := range header.Values("Accept-Encoding") {
		for each := range strings.SplitSeq(line, ",") {
			coding, parameters, _ := strings.Cut(each, ";")
			_, text, given := strings.Cut(parameters, "=")
			weight, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
			if !given {
				weight = 1
			} else if err != nil {
				weight = 0
			}
			switch coding = strings.ToLower(strings.TrimSpace(coding)); coding {
			case codingGzip, codingZstd:
				weights[coding] = weight
			case "x-gzip":
				weights[codingGzip] = weight
			case "*":
				wild = weight
			}
		}
	}
	if weights[codingGzip] < 0 {
		weights[codingGzip] = wild
	}
	switch {
	case weights[codingZstd] > 0 && weights[codingZstd] >= weights[codingGzip]:
		return codingZstd
	case weights[codingGzip] > 0:
		return codingGzip
	}
	return ""
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
	if coding != "" && coding != codingGzip && coding != codingZstd {
		w.Header().Set("Accept-Encoding", codingGzip+", "+codingZstd)
		return agent.Errorf(document.CodeUnsupportedMedia, "the body is encoded as %q; send it as gzip or zstd, or without an encoding", coding)
	}
	return nil
}
