package rest

import (
	"context"
	"net/http"
	"strings"

	"dormouse/access"
	"dormouse/agent"
)

// rule returns what a route needs.
func (f *api) rule(rt *route) access.Rule {
	if rt.id == "get-metrics" && f.options.OpenMetrics {
		return access.OfRoute("get-livez")
	}
	return access.OfRoute(rt.id)
}

// authenticated returns ctx with the call of a request and its principal. It comes before all else, so
// that a caller without a token takes no call's place.
func (f *api) authenticated(ctx context.Context, rt *route, r *http.Request) (context.Context, error) {
	ctx = access.WithCall(ctx, access.Call{Address: r.RemoteAddr, Method: rt.id})
	if f.options.Auth == nil || f.rule(rt).Open() {
		return ctx, nil
	}
	p, err := f.principal(ctx, r)
	if err != nil {
		f.denied(ctx, err)
		return nil, err
	}
	return access.With(ctx, p), nil
}

func (f *api) principal(ctx context.Context, r *http.Request) (*access.Principal, error) {
	header, err := single(r.Header, "Authorization")
	if err != nil {
		return nil, agent.Errorf(agent.CodeUnauthenticated, "%v", err)
	}
	c := access.Credentials{Address: r.RemoteAddr, Header: header}
	if r.TLS != nil {
		c.Chains = r.TLS.VerifiedChains
	}
	return f.options.Auth.Authenticate(ctx, c)
}

// denied records a refused request.
func (f *api) denied(ctx context.Context, err error) {
	if f.options.Audit != nil {
		f.options.Audit.Denied(ctx, err)
	}
}

// allowed returns an error unless the principal may make the call in its scope. It comes before the
// body is read. The service checks each op and read again.
func (c *request) allowed() error {
	if c.api.options.Auth == nil {
		return nil
	}
	scope := c.scope
	if strings.Contains(c.route.path, "/{scope}") {
		scope = c.id("scope")
	}
	err := c.api.rule(c.route).Check(access.From(c.ctx), scope)
	if err != nil {
		c.api.denied(c.ctx, err)
	}
	return err
}
