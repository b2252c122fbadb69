package rest

import (
	"net/http"

	"dormouse/agent"
)

// policyBody is what a scope keeps and how much it may hold.
type policyBody struct {
	History  uint64 `json:"history" required:"false" doc:"Checkpoints kept of a key, the current one included; 0 means 4"`
	KeysMax  uint64 `json:"keys_max" required:"false" doc:"0 means no limit"`
	BytesMax uint64 `json:"bytes_max" required:"false" doc:"0 means no limit"`

	HistoryAgeMS uint64 `json:"history_age_ms,omitzero" required:"false" doc:"How long a checkpoint is kept after another one took its place; 0 means any time"`

	MemoriesMax    uint64 `json:"memories_max,omitzero" required:"false" doc:"What one agent may remember; 0 means 100,000"`
	MemoryBytesMax uint64 `json:"memory_bytes_max,omitzero" required:"false" doc:"Of what one agent remembers together; 0 means 256 MiB"`

	ChangesMax uint64 `json:"changes_max,omitzero" required:"false" doc:"How many changes the scope's feed goes back, at least; 0 means 100,000"`
}

func (p policyBody) policy() agent.Policy {
	return agent.Policy(p)
}

// scope is a tenant's keyspace and what is in it.
type scope struct {
	Name      string     `json:"name"`
	Keys      uint64     `json:"keys"`
	Bytes     uint64     `json:"bytes"`
	CreatedAt int64      `json:"created_at"`
	Policy    policyBody `json:"policy"`
}

func scopeOf(s agent.Scope) scope {
	return scope{
		Name: s.Name, Keys: s.Keys, Bytes: s.Bytes, CreatedAt: s.CreatedAt,
		Policy: policyBody(s.Policy),
	}
}

func (f *front) routeScopes() {
	const tag, one = "scopes", "/v1/scopes/{scope}"
	register(f, route{
		method: http.MethodGet, path: "/v1/scopes", id: "list-scopes", tag: tag, summary: "List all scopes",
		effect: reads, query: listQuery, answers: list[scope]{},
	}, (*call).listScopes)
	register(f, route{
		method: http.MethodGet, path: one, id: "get-scope", tag: tag, summary: "Read a scope",
		effect: reads, answers: scope{},
	}, (*call).getScope)
	register(f, route{
		method: http.MethodPut, path: one, id: "put-scope", tag: tag, summary: "Set a scope's policy, creating it where there is none",
		effect: writes, bodyNeeded: true, creates: true, answers: scope{},
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
	return c.answer(reply{body: listOf(found.Items, found.Next, scopeOf)})
}

func (c *call) getScope(*none) error {
	c.scope = c.id("scope")
	found, err := read[*agent.Scope](c, &agent.GetScope{})
	if err != nil {
		return err
	}
	return c.answer(reply{body: scopeOf(*found)})
}

func (c *call) putScope(body *policyBody) error {
	c.scope = c.id("scope")
	result, err := c.commit(&agent.PutScope{Policy: body.policy()})
	if err != nil {
		return err
	}
	done, err := resultOf[*agent.ScopeResult](result, 0)
	if err != nil {
		return err
	}
	a := reply{body: scopeOf(done.Scope)}
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
