package rest

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

// effect is the effect of a route on the store, which determines its headers.
type effect int

const (
	plain  effect = iota // none: calls on the cluster
	scoped               // on data of a scope, as its owner sees it now: takes neither a view nor a fence
	reads
	writes
)

// route declares one operation.
type route struct {
	method, path string
	id           string // the operation's id; unique
	summary      string
	tag          string
	effect       effect
	query        []string // names from queryParams, besides those of the effect
	once         bool     // takes an Idempotency-Key, like all writes
	condition    string   // the field that If-Match sets: if_revision or expected_rev; "" if the call takes none
	existing     bool     // it changes only what exists, unless ?upsert says otherwise: so it takes If-Match: *
	bodyNeeded   bool
	accepts      []string       // types of the body; nil means JSON
	status       int            // of success; 0 means 200
	creates      bool           // success may also be 201, with a Location
	follows      bool           // success may also be 202, with a Location: the cluster goes on
	numbered     bool           // the caller numbered the ops: problems have the number
	probe        bool           // not bounded: a busy node must still answer
	streams      bool           // bounded as a watch, not as a call; has no deadline
	answers      any            // a value of the type of a successful answer; nil means none, or media
	media        string         // of a successful answer that is not JSON
	feed         bool           // a stream from a place in the log: takes neither stale nor min_index
	events       map[string]any // of a stream: for each kind of event, a value of the type of its data
	detail       string         // begins the description
}

// none is the body of a call without one.
type none struct{}

// types returns the media types that the route takes.
func (rt *route) types() []string {
	if rt.accepts != nil {
		return rt.accepts
	}
	return []string{"application/json"}
}

// idempotent reports whether the route takes an Idempotency-Key.
func (rt *route) idempotent() bool { return rt.once || rt.effect == writes }

// looks reports whether the route reads something outside the store's views: instances and pods as
// their owner sees them, or the cluster as the node sees it. Such a call has no barrier to skip:
// ?stale=true only adds the age.
func (rt *route) looks() bool {
	return rt.method == http.MethodGet && rt.effect != reads && rt.answers != nil && !rt.streams && !rt.probe
}

// takes reports whether the route declares the query parameter.
func (rt *route) takes(name string) bool {
	if slices.Contains(rt.query, name) {
		return true
	}
	switch name {
	case "scope":
		return (rt.effect == reads || rt.effect == scoped) && rt.method == http.MethodGet
	case "stale":
		return rt.effect == reads && !rt.feed || rt.looks()
	case "min_index":
		return rt.effect == reads && !rt.feed
	default:
		return false
	}
}

// register adds an operation. Its handler takes a body of type B, and either writes its own answer
// or returns an error.
func register[B any](f *api, rt route, handle func(c *request, body *B) error) {
	f.described = append(f.described, func(d *description) { d.document.AddOperation(d.operation(&rt, new(B))) })
	secret, read := rt.tag == "tokens" || rt.id == "create-join-token", rt.method == http.MethodGet || rt.effect == reads
	f.mux.HandleFunc(rt.method+" "+rt.path, func(w http.ResponseWriter, r *http.Request) {
		out := w.(*routing).found() // ServeHTTP created it
		ctx := r.Context()
		out.operation, out.secret, out.read = rt.id, secret, read
		if read {
			ctx, out.work = budget.WithWork(ctx, f.bytes, out.caller())
			defer out.work.Done()
		}
		if err := run(ctx, f, &rt, r, out, handle); err != nil {
			f.refuseOp(out, err, rt.numbered)
		}
	})
}

// run handles one request from its parameters to its answer.
func run[B any](ctx context.Context, f *api, rt *route, r *http.Request, w *writer, handle func(*request, *B) error) error {
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
	if rt.looks() && !c.flag("stale") && c.err != nil {
		return c.err
	}
	var body *B
	if _, without := any(body).(*none); without {
		if rt.accepts == nil { // otherwise the handler reads it
			if err := c.refuseBody(); err != nil {
				return err
			}
		}
	} else {
		if body, err = decodeBody[B](c); err != nil {
			return err
		}
		if body == nil && rt.bodyNeeded {
			return agent.Invalid("body", "this call needs a JSON body")
		}
		if body == nil {
			body = new(B)
		}
	}
	return handle(c, body)
}

// newRequest reads the parts that all requests have: parameters, scope and deadline.
func (f *api) newRequest(ctx context.Context, rt *route, r *http.Request, w *writer) (*request, error) {
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
	c := &request{api: f, route: rt, ctx: ctx, r: r, w: w, query: query, cancel: func() {}}
	timeout, err := timeoutOf(r.Header, f.options.Timeout)
	if err != nil {
		return nil, err
	}
	c.timeout = timeout
	if err := c.readHeaders(); err != nil {
		return nil, err
	}
	if !rt.streams {
		c.ctx, c.cancel = context.WithTimeout(ctx, timeout)
	}
	return c, nil
}

// pathParams returns the names in braces, in order.
func (rt *route) pathParams() []string {
	var names []string
	for segment := range strings.SplitSeq(rt.path, "/") {
		if name, ok := strings.CutPrefix(segment, "{"); ok {
			names = append(names, strings.TrimSuffix(name, "}"))
		}
	}
	return names
}
