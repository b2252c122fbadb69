package fsm

import (
	"dormouse/agent"
	"dormouse/fsm/kv"
)

func readScope(r reader, _ *agent.GetScope) (agent.Found, error) {
	raw, err := r.Get(kv.ScopeKey(kv.KindScope, r.scope))
	if err != nil {
		return nil, err
	}
	if raw == nil {
		return nil, notFound("scope", r.scope)
	}
	scope, err := decodeScopeRow(r.scope, raw)
	return &scope, err
}

func readScopes(r reader, q *agent.ListScopes) (agent.Found, error) {
	list := &agent.ScopeList{}
	next, err := r.eachInPage(kv.KindScope, q.Page, func(name string, raw []byte) (int, error) {
		scope, err := decodeScopeRow(name, raw)
		if err != nil {
			return 0, err
		}
		list.Items = append(list.Items, scope)
		return len(name) + len(raw), nil
	})
	list.Next = next
	return list, err
}
