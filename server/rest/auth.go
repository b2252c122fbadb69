package rest

import (
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

// authenticated returns the request with its call and its principal. It comes before all else, so that
// a caller without a token takes no call's place.
func (f *api) authenticated(rt *route, r *http.Request) (*http.Request, error) {
	r = r.WithContext(access.WithCall(r.Context(), access.Call{Address: r.RemoteAddr, Method: rt.id}))
	if f.options.Auth == nil || f.rule(rt).Open() {
		return r, nil
	}
	p, err := f.principal(r)
	if err != nil {
		f.denied(r, err)
		return nil, err
	}
	return r.WithContext(access.With(r.Context(), p)), nil
}

func (f *api) principal(r *http.Request) (*access.Principal, error) {
	header, err := single(r.Header, "Authorization")
	if err != nil {
		return nil, agent.Errorf(agent.CodeUnauthenticated, "%v", err)
	}
	c := access.Credentials{Address: r.RemoteAddr, Header: header}
	if r.TLS != nil {
		c.Chains = r.TLS.VerifiedChains
	}
	return f.options.Auth.Authenticate(r.Context(), c)
}

// denied records a refused request.
func (f *api) denied(r *http.Request, err error) {
	if f.options.Audit != nil {
		f.options.Audit.Denied(r.Context(), err)
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
	err := c.api.rule(c.route).Check(access.From(c.r.Context()), scope)
	if err != nil {
		c.api.denied(c.r, err)
	}
	return err
}
