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
		f.denied(ctx, err)
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
func (f *API) denied(ctx context.Context, err error) {
	if f.Options.Audit != nil {
		f.Options.Audit.Denied(ctx, err)
	}
}

// allowed returns an error unless the principal may make the call in its scope. It comes before the
// body is read. The service checks each op and read again.
func (c *Request) allowed() error {
	if c.API.Options.Auth == nil {
		return nil
	}
	scope := c.Scope
	if strings.Contains(c.Route.Path, "/{scope}") {
		scope = c.ID("scope")
	}
	err := c.API.rule(c.Route).Check(access.From(c.Context), scope)
	if err != nil {
		c.API.denied(c.Context, err)
	}
	return err
}
