package rest

import (
	"net/http"

	"dormouse/agent"
	"dormouse/api/document"
	"dormouse/server/rest/web"
)

func routeScopes(f *web.API) {
	const tag, one = "scopes", "/v1/scopes/{scope}"
	web.Register(f, web.Route{
		Method: http.MethodGet, Path: "/v1/scopes", ID: "list-scopes", Tag: tag, Summary: "List all scopes",
		Effect: web.Reads, Query: web.OrderedQuery, Answers: document.List[document.Scope]{},
	}, listScopes)
	web.Register(f, web.Route{
		Method: http.MethodGet, Path: one, ID: "get-scope", Tag: tag, Summary: "Read a scope",
		Effect: web.Reads, Answers: document.Scope{},
	}, getScope)
	web.Register(f, web.Route{
		Method: http.MethodPut, Path: one, ID: "put-scope", Tag: tag, Summary: "Set a scope's policy; creates the scope if it does not exist",
		Effect: web.Writes, BodyNeeded: true, Creates: true, Answers: document.Scope{},
	}, putScope)
	web.Register(f, web.Route{
		Method: http.MethodGet, Path: "/v1/default-policy", ID: "get-default-policy", Tag: tag,
		Summary: "Read the policy of scopes that have none of their own", Effect: web.Reads, Answers: document.PolicyBody{},
	}, getDefaultPolicy)
	web.Register(f, web.Route{
		Method: http.MethodPut, Path: "/v1/default-policy", ID: "put-default-policy", Tag: tag,
		Summary: "Set the policy of scopes that have none of their own", Effect: web.Writes, BodyNeeded: true, Answers: document.PolicyBody{},
	}, putDefaultPolicy)
	web.Register(f, web.Route{
		Method: http.MethodDelete, Path: one, ID: "delete-scope", Tag: tag, Summary: "Delete a scope with all its data",
		Effect: web.Writes, Status: http.StatusNoContent,
	}, deleteScope)
}

func listScopes(c *web.Request, _ *web.None) error {
	found, err := web.Read[*agent.ScopeList](c, &agent.ListScopes{Page: c.Page()})
	if err != nil {
		return err
	}
	return c.Answer(web.Reply{Body: document.ListOf(found.Items, found.Next, document.ScopeOf)})
}

func getScope(c *web.Request, _ *web.None) error {
	c.Scope = c.ID("scope")
	found, err := web.Read[*agent.Scope](c, &agent.GetScope{})
	if err != nil {
		return err
	}
	return c.Answer(web.Reply{Body: document.ScopeOf(*found)})
}

func putScope(c *web.Request, body *document.ScopePolicyBody) error {
	c.Scope = c.ID("scope")
	result, err := c.Commit(body.Op())
	if err != nil {
		return err
	}
	done, err := web.ResultOf[*agent.ScopeResult](result, 0)
	if err != nil {
		return err
	}
	a := web.Reply{Body: document.ScopeOf(done.Scope)}
	if done.Scope.CreatedAt == result.Time {
		a.Location = web.PathOf("scopes", done.Scope.Name)
	}
	return c.Answer(a)
}

func getDefaultPolicy(c *web.Request, _ *web.None) error {
	found, err := web.Read[*agent.Scope](c, &agent.GetScope{Default: true})
	if err != nil {
		return err
	}
	return c.Answer(web.Reply{Body: document.PolicyBody(found.Policy)})
}

func putDefaultPolicy(c *web.Request, body *document.DefaultPolicyBody) error {
	result, err := c.Commit(body.Op())
	if err != nil {
		return err
	}
	done, err := web.ResultOf[*agent.ScopeResult](result, 0)
	if err != nil {
		return err
	}
	return c.Answer(web.Reply{Body: document.PolicyBody(done.Scope.Policy)})
}

func deleteScope(c *web.Request, _ *web.None) error {
	c.Scope = c.ID("scope")
	if _, err := c.Commit(&agent.DeleteScope{}); err != nil {
		return err
	}
	return c.Answer(web.Reply{})
}
