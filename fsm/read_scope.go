package fsm

import (
	"dormouse/agent"
	"dormouse/fsm/kv"
	"dormouse/fsm/txn"
)

func readScope(r txn.Reader, _ *agent.GetScope) (agent.Found, error) {
	raw, err := r.Get(kv.ScopeKey(kv.KindScope, r.Scope))
	if err != nil {
		return nil, err
	}
	if raw == nil {
		return nil, txn.NotFound("scope", r.Scope)
	}
	scope, err := txn.DecodeScopeRow(r.Scope, raw)
	return &scope, err
}

func readScopes(r txn.Reader, q *agent.ListScopes) (agent.Found, error) {
	list := &agent.ScopeList{}
	next, err := r.EachInPage(kv.KindScope, q.Page, func(name string, raw []byte) (int, error) {
		scope, err := txn.DecodeScopeRow(name, raw)
		if err != nil {
			return 0, err
		}
		list.Items = append(list.Items, scope)
		return len(name) + len(raw), nil
	})
	list.Next = next
	return list, err
}
