package fsm

import (
	"dormouse/agent"
	"dormouse/fsm/kv"
	"dormouse/fsm/txn"
)

// validScope rejects names that would break a key.
func validScope(c *txn.Tx) error { return agent.ValidKey("scope", c.Scope) }

func putScope(c *txn.Tx, op *agent.PutScope) (agent.OpResult, error) {
	if err := op.Policy.Validate(); err != nil {
		return nil, err
	}
	c.AddUsage(0, 0)
	c.Record.Policy = op.Policy
	c.Changed(agent.ChangedScope, c.Scope, 0)
	return &agent.ScopeResult{Scope: c.Record.Scope}, nil
}

// deleteScope deletes all data of the scope. The dedup table stays, so that retries get their
// answers; seals are deleted.
func (c machineCommit) deleteScope(_ *agent.DeleteScope, alone bool) (agent.OpResult, error) {
	if !alone {
		return nil, agent.Invalid("ops", "deleting a scope must be the only op of its commit")
	}
	existed := c.Record.Exists
	for _, kind := range kv.ScopedKinds {
		prefix := kv.ScopeKey(kind, c.Scope)
		if err := c.Rows.RemoveRange(prefix, kv.After(prefix)); err != nil {
			return nil, err
		}
	}
	c.setImport(nil)
	c.Record = txn.ScopeState{Scope: agent.Scope{Name: c.Scope}, Changed: true}
	c.NotifyWatchers(kv.ScopeKey(kv.KindThread, c.Scope))
	c.NotifyWatchers(kv.ScopeKey(kv.KindClaim, c.Scope))
	if existed {
		c.RecordChange(nil)
	}
	return &agent.DeleteResult{Existed: existed}, nil
}

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
