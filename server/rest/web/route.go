package web

import (
	"context"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"dormouse/agent"
	"dormouse/internal/budget"
)

// Effect is the effect of a route on the store, which determines its headers.
type Effect int

// The effects.
const (
	Plain  Effect = iota // none: calls on the cluster
	Scoped               // on data of a scope, as its owner sees it now: takes neither a view nor a fence
	Reads
	Writes
)

// Route declares one operation.
type Route struct {
	Method, Path string
	ID           string // the operation's id; unique
	Summary      string
	Tag          string
	Effect       Effect
	Query        []string // names from queryParams, besides those of the effect
	Once         bool     // takes an Idempotency-Key, like all writes
	Again        string   // of a retry with that key: what it does; "" means that it gets the first answer
	Condition    string   // the field that If-Match sets: if_revision or expected_rev; "" if the call takes none
	Existing     bool     // it changes only what exists, unless ?upsert says otherwise: so it takes If-Match: *
	BodyNeeded   bool
	Accepts      []string       // types of the body; nil means JSON
	Status       int            // of success; 0 means 200
	Creates      bool           // success may also be 201, with a Location
	Follows      bool           // success may also be 202, with a Location: the cluster goes on
	Numbered     bool           // the caller numbered the ops: problems have the number
	Probe        bool           // not bounded: a busy node must still answer
	Streams      bool           // bounded as a watch, not as a call; has no deadline
	Answers      any            // a value of the type of a successful answer; nil means none, or media
	Media        string         // of a successful answer that is not JSON
	Feed         bool           // a stream from a place in the log: takes neither stale nor min_index
	Events       map[string]any // of a stream: for each kind of event, a value of the type of its data
	Detail       string         // begins the description
}

// None is the body of a call without one.
type None struct{}

// types returns the media types that the route takes.
func (rt *Route) types() []string {
	if rt.Accepts != nil {
		return rt.Accepts
	}
	return []string{"application/json"}
}

// idempotent reports whether the route takes an Idempotency-Key.
func (rt *Route) idempotent() bool { return rt.Once || rt.Effect == Writes }

// looks reports whether the route reads something outside the store's views: instances and pods as
// their owner sees them, or the cluster as the node sees it. Such a call has no barrier to skip:
// ?stale=true only adds the age.
func (rt *Route) looks() bool {
	return rt.Method == http.MethodGet && rt.Effect != Reads && rt.Answers != nil && !rt.Streams && !rt.Probe
}

// takes reports whether the route declares the query parameter.
func (rt *Route) takes(name string) bool {
	if slices.Contains(rt.Query, name) {
		return true
	}
	switch name {
	case "scope":
		return (rt.Effect == Reads || rt.Effect == Scoped) && rt.Method == http.MethodGet
	case "stale":
		return rt.Effect == Reads && !rt.Feed || rt.looks()
	case "min_index":
		return rt.Effect == Reads && !rt.Feed
	default:
		return false
	}
}

// Register adds an operation. Its handler takes a body of type B, and either writes its own answer
// or returns an error.
func Register[B any](f *API, rt Route, handle func(c *Request, body *B) error) {
	f.described = append(f.described, func(d *description) { d.document.AddOperation(d.operation(&rt, new(B))) })
	secret, read := rt.Tag == "tokens" || rt.ID == "create-join-token", rt.Method == http.MethodGet || rt.Effect == Reads
	f.mux.HandleFunc(rt.Method+" "+rt.Path, func(w http.ResponseWriter, r *http.Request) {
		out := w.(*routing).found() // ServeHTTP created it
		ctx := r.Context()
		out.operation, out.secret, out.read = rt.ID, secret, read
		if read {
			ctx, out.work = budget.WithWork(ctx, f.bytes, out.caller())
			defer out.work.Done()
		}
		if err := run(ctx, f, &rt, r, out, handle); err != nil {
			f.refuseOp(out, err, rt.Numbered)
		}
	})
}

// run handles one request from its parameters to its answer.
func run[B any](ctx context.Context, f *API, rt *Route, r *http.Request, w *Writer, handle func(*Request, *B) error) error {
	ctx, err := f.authenticated(ctx, rt, r)
	if err != nil {
		return err
	}
	pool := f.poolOf(rt)
	if !pool.Try(w.caller(), 1) {
		return overloaded()
	}
	defer pool.Give(w.caller(), 1)
	c, err := f.newRequest(ctx, rt, r, w)
	if err != nil {
		return err
	}
	defer c.end()
	if err := c.allowed(); err != nil {
		return err
	}
	if rt.looks() && !c.Flag("stale") && c.Err != nil {
		return c.Err
	}
	var body *B
	if _, without := any(body).(*None); without {
		if rt.Accepts == nil { // otherwise the handler reads it
			if err := c.refuseBody(); err != nil {
				return err
			}
		}
	} else {
		if body, err = decodeBody[B](c); err != nil {
			return err
		}
		if body == nil && rt.BodyNeeded {
			return agent.Invalid("body", "this call needs a JSON body")
		}
		if body == nil {
			body = new(B)
		}
	}
	return handle(c, body)
}

// newRequest reads the parts that all requests have: parameters, scope and deadline.
func (f *API) newRequest(ctx context.Context, rt *Route, r *http.Request, w *Writer) (*Request, error) {
	var query url.Values
	if r.URL.RawQuery != "" {
		var err error
		if query, err = url.ParseQuery(r.URL.RawQuery); err != nil {
			return nil, agent.Invalid("query", "%v", err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(query)) { // one request has one answer
		values := query[name]
		switch {
		case !rt.takes(name):
			return nil, agent.Invalid(name, "this call has no query parameter %q", name)
		case len(values) > 1 && !queryParams[name].many:
			return nil, agent.Invalid(name, "the query parameter %q occurs %d times", name, len(values))
		case slices.ContainsFunc(values, func(v string) bool { return !utf8.ValidString(v) }):
			return nil, agent.Invalid(name, "the query parameter %q is not UTF-8", name)
		case slices.Contains(values, "") && !queryParams[name].mayBeEmpty:
			return nil, agent.Invalid(name, "the query parameter %q is empty: leave it out, or give it a value", name)
		}
	}
	c := &Request{API: f, Route: rt, Context: ctx, base: ctx, HTTP: r, Writer: w, Query: query, cancel: func() {}}
	timeout, err := timeoutOf(r.Header, f.Options.Timeout)
	if err != nil {
		return nil, err
	}
	c.timeout = timeout
	if err := c.readHeaders(); err != nil {
		return nil, err
	}
	c.startTimeout()
	return c, nil
}

// pathParams returns the names in braces, in order.
func (rt *Route) pathParams() []string {
	var names []string
	for segment := range strings.SplitSeq(rt.Path, "/") {
		if name, ok := strings.CutPrefix(segment, "{"); ok {
			names = append(names, strings.TrimSuffix(name, "}"))
		}
	}
	return names
}
