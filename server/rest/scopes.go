package rest

import (
	"net/http"

	"dormouse/agent"
	"dormouse/api/document"
)

func (f *front) routeScopes() {
	const tag, one = "scopes", "/v1/scopes/{scope}"
	register(f, route{
		method: http.MethodGet, path: "/v1/scopes", id: "list-scopes", tag: tag, summary: "List all scopes",
		effect: reads, query: listQuery, answers: document.List[document.Scope]{},
	}, (*call).listScopes)
	register(f, route{
		method: http.MethodGet, path: one, id: "get-scope", tag: tag, summary: "Read a scope",
		effect: reads, answers: document.Scope{},
	}, (*call).getScope)
	register(f, route{
		method: http.MethodPut, path: one, id: "put-scope", tag: tag, summary: "Set a scope's policy, creating it where there is none",
		effect: writes, bodyNeeded: true, creates: true, answers: document.Scope{},
	}, (*call).putScope)
	register(f, route{
		method: http.MethodDelete, path: one, id: "delete-scope", tag: tag, summary: "Delete a scope with all that is in it",
		effect: writes, status: http.StatusNoContent,
	}, (*call).deleteScope)
}

func (c *call) listScopes(*none) error {
	found, err := read[*agent.ScopeList](c, &agent.ListScopes{Page: c.page()})
	if err != nil {
		return err
	}
	return c.answer(reply{body: document.ListOf(found.Items, found.Next, document.ScopeOf)})
}

func (c *call) getScope(*none) error {
	c.scope = c.id("scope")
	found, err := read[*agent.Scope](c, &agent.GetScope{})
	if err != nil {
		return err
	}
	return c.answer(reply{body: document.ScopeOf(*found)})
}

func (c *call) putScope(body *document.PolicyBody) error {
	c.scope = c.id("scope")
	result, err := c.commit(&agent.PutScope{Policy: body.ToAgent()})
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

func (c *call) deleteScope(*none) error {
	c.scope = c.id("scope")
	if _, err := c.commit(&agent.DeleteScope{}); err != nil {
		return err
	}
	return c.answer(reply{})
}
