package web

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"runtime/debug"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"dormouse/access"
	"dormouse/agent"
	"dormouse/internal/hostcheck"
	"dormouse/internal/tracing"
)

// ServeHTTP answers one request.
func (f *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	began := time.Now()
	out := &Writer{ResponseWriter: w, applied: f.Options.Applied, remote: r.RemoteAddr, compress: f.Options.Compress, zstd: f.zstd}
	if out.compress {
		out.coding = acceptedCoding(r.Header)
	}
	ctx, span := tracing.Serve(tracing.FromHeader(r.Context(), r.Header), f.Options.Tracer, r.Method)
	if span.IsRecording() {
		r = r.WithContext(ctx)
	}
	defer func() {
		if cause := recover(); cause != nil {
			f.recovered(out, r, cause)
		}
		endSpan(span, r.Method, out)
		if f.Options.Observe != nil {
			f.Options.Observe(ctx, out.operation, out.Status, time.Since(began))
		}
	}()
	if f.Options.Node != "" {
		out.set(headerNode, f.Options.Node)
	}
	if r.ContentLength != 0 {
		out.expectBody(r.ContentLength)
		out.unread = drainable(r)
	}
	if err := f.checkHost(r); err != nil {
		f.denied(access.WithCall(r.Context(), access.Call{Address: r.RemoteAddr}), access.Subject{}, err)
		f.refuse(out, err)
		return
	}
	allowed, done := f.crossOrigin(out, r)
	if done {
		return
	}
	if err := f.checkOrigin(r); err != nil && !allowed {
		f.denied(access.WithCall(r.Context(), access.Call{Address: r.RemoteAddr}), access.Subject{}, err)
		f.refuse(out, err)
		return
	}
	if f.isConsole(r) {
		f.Options.Console.ServeHTTP(out, r)
		return
	}
	if err := f.checkCluster(out, r); err != nil {
		f.refuse(out, err)
		return
	}
	out.set("Cache-Control", "no-store") // revisions start again with each incarnation: an ETag is no reason to reuse an answer
	out.set("X-Content-Type-Options", "nosniff")
	if err := admit(r); err != nil {
		f.refuse(out, err)
		return
	}
	r = withSlashIDs(r)
	out.routing.out = out
	if f.mux.ServeHTTP(&out.routing, r); !out.routing.routed {
		f.refuse(out, out.routing.refusal(r))
	}
}

// endSpan ends the span of a request, with its operation's name and its answer's status. A second call
// has no effect.
func endSpan(span trace.Span, method string, out *Writer) {
	if !span.IsRecording() {
		return
	}
	if out.operation != "" {
		span.SetName(out.operation)
	}
	span.SetAttributes(attribute.String("http.request.method", method), attribute.Int("http.response.status_code", out.Status))
	if out.Status >= http.StatusInternalServerError {
		span.SetStatus(codes.Error, http.StatusText(out.Status))
	}
	span.End()
}

// isConsole reports whether a request is for a page of the console or a part of one.
func (f *API) isConsole(r *http.Request) bool {
	at := r.URL.Path
	return f.Options.Console != nil && (at == "/" || at == "/ui" || strings.HasPrefix(at, "/ui/"))
}

// checkCluster sets the header with the id of this cluster, and refuses a request that names
// another one. A client that sends the first id it got cannot have writes acknowledged by another
// cluster that took over an address.
func (f *API) checkCluster(w *Writer, r *http.Request) error {
	wanted, err := SingleHeader(r.Header, headerCluster)
	if err != nil || f.Options.ClusterID == nil {
		return err
	}
	mine := f.Options.ClusterID()
	if mine != "" {
		w.set(headerCluster, mine)
	}
	if wanted != "" && wanted != mine {
		return agent.Errorf(agent.CodeUnavailable, "the request is for cluster %s, but this node belongs to cluster %q: check the address", wanted, mine)
	}
	return nil
}

// slashID replaces the id "/" in a path, which net/http's mux treats as a trailing slash even if it
// is percent-encoded. No other id holds a NUL: admit refuses it.
const slashID, slashIDEscaped = "\x00/", "%00%2F"

// withSlashIDs replaces each segment that is the id "/" by slashID.
func withSlashIDs(r *http.Request) *http.Request {
	if r.URL.RawPath == "" { // it has no slash that is percent-encoded
		return r
	}
	segments := strings.Split(r.URL.EscapedPath(), "/")
	changed := false
	for i, segment := range segments {
		if strings.EqualFold(segment, "%2F") {
			segments[i], changed = slashIDEscaped, true
		}
	}
	if !changed {
		return r
	}
	at := *r.URL
	at.RawPath = strings.Join(segments, "/")
	at.Path, _ = url.PathUnescape(at.RawPath) // valid, since the path was valid before
	other := *r
	other.URL = &at
	return &other
}

// admit refuses paths that no route can have, and ids with a NUL.
func admit(r *http.Request) error {
	if strings.Contains(r.URL.Path, "\x00") {
		return agent.Invalid("path", "the path has a NUL (%%00), which no id has")
	}
	if at := r.URL.EscapedPath(); path.Clean(at) != at {
		return agent.Errorf(agent.CodeNotFound, "the path %q has empty or dotted segments; in ids, percent-encode them", at)
	}
	return nil
}

// checkHost refuses requests for a name that is not this node's, as a browser sends them for a page of
// another site that has pointed its own name here.
func (f *API) checkHost(r *http.Request) error {
	if f.Options.Hosts != nil && !hostcheck.Allowed(r.Host, f.Options.Hosts) {
		return agent.Errorf(agent.CodeForbidden, "this node is not known as %q: use its address, or add the name to http.hosts", r.Host)
	}
	return nil
}

// checkOrigin refuses what a browser sends for a page of another site and says so. Of those it lets
// pass only reads that name no site, and links that a person follows.
func (f *API) checkOrigin(r *http.Request) error {
	site := r.Header.Get("Sec-Fetch-Site")
	if site == "cross-site" && r.Header.Get("Sec-Fetch-Mode") != "navigate" || f.origins.Check(r) != nil {
		return agent.Errorf(agent.CodeForbidden, "a browser sent this from another origin: to allow its pages, add it to http.origins")
	}
	return nil
}

// recovered answers a panic as internal, unless the answer has begun.
func (f *API) recovered(out *Writer, r *http.Request, cause any) {
	if err, ok := cause.(error); ok && errors.Is(err, http.ErrAbortHandler) {
		panic(cause)
	}
	f.Options.Logger.Error("a request panicked", "method", r.Method, "path", r.URL.EscapedPath(), "cause", fmt.Sprint(cause), "stack", string(debug.Stack()))
	if out.Status != 0 {
		panic(http.ErrAbortHandler) // a partial answer must not look complete
	}
	f.refuse(out, agent.Errorf(agent.CodeInternal, "internal error; see the node's log"))
}
