package web

import (
	"context"
	"net/http"
	"strings"

	"dormouse/access"
	"dormouse/agent"
)

// rule returns what a route needs.
func (f *API) rule(rt *Route) access.Rule {
	if rt.ID == "get-metrics" && f.Options.OpenMetrics {
		return access.OfRoute("get-livez")
	}
	return access.OfRoute(rt.ID)
}

// authenticated returns ctx with the call of a request and its principal. It comes before all else, so
// that a caller without a token takes no call's place.
func (f *API) authenticated(ctx context.Context, rt *Route, r *http.Request) (context.Context, error) {
	ctx = access.WithCall(ctx, access.Call{Address: r.RemoteAddr, Method: rt.ID})
	if f.Options.Auth == nil || f.rule(rt).Open() {
		return ctx, nil
	}
	p, err := f.principal(ctx, r)
	if err != nil {
		f.denied(ctx, f.about(rt, r, r.Header.Get(headerScope)), err)
		return nil, err
	}
	return access.With(ctx, p), nil
}

func (f *API) principal(ctx context.Context, r *http.Request) (*access.Principal, error) {
	header, err := SingleHeader(r.Header, "Authorization")
	if err != nil {
		return nil, agent.Errorf(agent.CodeUnauthenticated, "%v", err)
	}
	c := access.Credentials{Address: r.RemoteAddr, Header: header}
	if r.TLS != nil {
		c.Chains = r.TLS.VerifiedChains
	}
	return f.Options.Auth.Authenticate(ctx, c)
}

// denied records a refused request.
func (f *API) denied(ctx context.Context, about access.Subject, err error) {
	if f.Options.Audit != nil {
		f.Options.Audit.Denied(ctx, about, err)
	}
}

// about returns what a request is about: its operation, and the ids in its path. The scope is the given
// one, unless the path names one.
func (f *API) about(rt *Route, r *http.Request, scope string) access.Subject {
	s := access.Subject{Action: strings.ReplaceAll(rt.ID, "-", "_"), Verbs: f.rule(rt).Verbs(), Scope: scope}
	for _, name := range rt.pathParams() {
		if id := idIn(r, name); name == scopeParam {
			s.Scope = id
		} else {
			s.Object = append(s.Object, id)
		}
	}
	return s
}

// scopeParam is the name of a path's parameter that is the scope of the call.
const scopeParam = "scope"

// allowed returns an error unless the principal may make the call in its scope. It comes before the
// body is read. The service checks each op and read again.
func (c *Request) allowed() error {
	if c.API.Options.Auth == nil {
		return nil
	}
	scope := c.Scope
	if strings.Contains(c.Route.Path, "/{"+scopeParam+"}") {
		scope = c.ID(scopeParam)
	}
	err := c.API.rule(c.Route).Check(access.From(c.Context), scope)
	if err != nil {
		c.API.denied(c.Context, c.API.about(c.Route, c.HTTP, c.Scope), err)
	}
	return err
}
