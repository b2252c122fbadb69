package web

import (
	"net/http"
	"slices"
	"strings"
)

// The headers of requests and answers that pages of allowed origins may send and read, besides those
// that all pages may.
var (
	corsRequestHeaders = strings.Join([]string{
		"Authorization", "Content-Type", "Content-Encoding", headerScope, headerCluster, headerFence, headerTimeout,
		headerIdempotency, headerIfMatch, headerIfNone, HeaderLastEvent,
	}, ", ")
	corsAnswerHeaders = strings.Join([]string{headerIndex, headerNode, headerCluster, headerAge, HeaderIncarnation, "ETag", "Location", "Retry-After"}, ", ")
)

const (
	corsMethods = "GET, HEAD, POST, PUT, PATCH, DELETE"
	corsMaxAge  = "600" // seconds for which a browser keeps the answer to a preflight
)

// ofPeer reports whether an origin is another node's.
func (f *API) ofPeer(origin string) bool {
	return origin != "" && f.Options.Peers != nil && slices.Contains(f.Options.Peers(), origin)
}

// crossOrigin sets the headers for pages of other origins, and reports whether the request's page is of
// an allowed one. It answers the preflights of these pages itself: done is then true. It never allows
// credentials, which a browser would add by itself: a page sends a token, which it must know.
func (f *API) crossOrigin(w http.ResponseWriter, r *http.Request) (allowed, done bool) {
	if len(f.allowed) == 0 && f.Options.Peers == nil {
		return false, false
	}
	w.Header().Add("Vary", "Origin")
	origin := r.Header.Get("Origin")
	if !f.allowed[origin] && !f.ofPeer(origin) {
		return false, false
	}
	w.Header().Set("Access-Control-Allow-Origin", origin)
	w.Header().Set("Access-Control-Expose-Headers", corsAnswerHeaders)
	if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" {
		return true, false
	}
	w.Header().Set("Access-Control-Allow-Methods", corsMethods)
	w.Header().Set("Access-Control-Allow-Headers", corsRequestHeaders)
	w.Header().Set("Access-Control-Max-Age", corsMaxAge)
	w.WriteHeader(http.StatusNoContent)
	return true, true
}
