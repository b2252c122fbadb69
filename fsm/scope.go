package fsm

import (
	"dormouse/agent"
	"dormouse/fsm/kv"
)

// validScope keeps names out that would break a key.
func validScope(c *commit) error { return agent.ValidID("scope", c.scope) }

func putScope(c *commit, op *agent.PutScope) (agent.OpResult, error) {
	if err := op.Policy.Validate(); err != nil {
		return nil, err
	}
	c.grow(0, 0)
	c.record.Policy = op.Policy
	c.changed(agent.ChangedScope, c.scope, 0)
	return &agent.ScopeResult{Scope: c.record.Scope}, nil
}

// deleteScope deletes all that is in the scope. What is remembered of requests
// stays, so that retries find their answers; seals go.
func (c machineCommit) deleteScope(_ *agent.DeleteScope, alone bool) (agent.OpResult, error) {
	if !alone {
		return nil, agent.Invalid("ops", "deleting a scope must be the only op of its commit")
	}
	existed := c.record.exists
	for _, kind := range kv.ScopedKinds {
		prefix := kv.ScopeKey(kind, c.scope)
		if err := c.rows.RemoveRange(prefix, kv.After(prefix)); err != nil {
			return nil, err
		}
	}
	c.setImport(nil)
	c.record = scopeState{Scope: agent.Scope{Name: c.scope}, changed: true}
	c.touch(kv.ScopeKey(kv.KindThread, c.scope))
	c.touch(kv.ScopeKey(kv.KindClaim, c.scope))
	if existed {
		c.tell(nil)
	}
	return &agent.DeleteResult{Existed: existed}, nil
}
