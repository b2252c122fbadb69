package rest

import (
	"net/http"

	"dormouse/agent"
	"dormouse/api/document"
)

func routeScopes(f *api) {
	const tag, one = "scopes", "/v1/scopes/{scope}"
	register(f, route{
		method: http.MethodGet, path: "/v1/scopes", id: "list-scopes", tag: tag, summary: "List all scopes",
		effect: reads, query: orderedQuery, answers: document.List[document.Scope]{},
	}, listScopes)
	register(f, route{
		method: http.MethodGet, path: one, id: "get-scope", tag: tag, summary: "Read a scope",
		effect: reads, answers: document.Scope{},
	}, getScope)
	register(f, route{
		method: http.MethodPut, path: one, id: "put-scope", tag: tag, summary: "Set a scope's policy; creates the scope if it does not exist",
		effect: writes, bodyNeeded: true, creates: true, answers: document.Scope{},
	}, putScope)
	register(f, route{
		method: http.MethodGet, path: "/v1/default-policy", id: "get-default-policy", tag: tag,
		summary: "Read the policy of scopes that have none of their own", effect: reads, answers: document.PolicyBody{},
	}, getDefaultPolicy)
	register(f, route{
		method: http.MethodPut, path: "/v1/default-policy", id: "put-default-policy", tag: tag,
		summary: "Set the policy of scopes that have none of their own", effect: writes, bodyNeeded: true, answers: document.PolicyBody{},
	}, putDefaultPolicy)
	register(f, route{
		method: http.MethodDelete, path: one, id: "delete-scope", tag: tag, summary: "Delete a scope with all its data",
		effect: writes, status: http.StatusNoContent,
	}, deleteScope)
}

func listScopes(c *request, _ *none) error {
	found, err := read[*agent.ScopeList](c, &agent.ListScopes{Page: c.page()})
	if err != nil {
		return err
	}
	return c.answer(reply{body: document.ListOf(found.Items, found.Next, document.ScopeOf)})
}

func getScope(c *request, _ *none) error {
	c.scope = c.id("scope")
	found, err := read[*agent.Scope](c, &agent.GetScope{})
	if err != nil {
		return err
	}
	return c.answer(reply{body: document.ScopeOf(*found)})
}

func putScope(c *request, body *document.ScopePolicyBody) error {
	c.scope = c.id("scope")
	result, err := c.commit(body.Op())
	if err != nil {
		return err
	}
	done, err := resultOf[*agent.ScopeResult](result, 0)
	if err != nil {
		return err
	}
	a := reply{body: document.ScopeOf(done.Scope)}
	if done.Scope.CreatedAt == result.Time {
		a.location = location("scopes", done.Scope.Name)
	}
	return c.answer(a)
}

func getDefaultPolicy(c *request, _ *none) error {
	found, err := read[*agent.Scope](c, &agent.GetScope{Default: true})
	if err != nil {
		return err
	}
	return c.answer(reply{body: document.PolicyBody(found.Policy)})
}

func putDefaultPolicy(c *request, body *document.PolicyBody) error {
	result, err := c.commit(&agent.PutScope{Default: true, Policy: body.ToAgent()})
	if err != nil {
		return err
	}
	done, err := resultOf[*agent.ScopeResult](result, 0)
	if err != nil {
		return err
	}
	return c.answer(reply{body: document.PolicyBody(done.Scope.Policy)})
}

func deleteScope(c *request, _ *none) error {
	c.scope = c.id("scope")
	if _, err := c.commit(&agent.DeleteScope{}); err != nil {
		return err
	}
	return c.answer(reply{})
}
