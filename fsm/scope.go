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
	if op.IfPolicy != nil && c.Level >= txn.ConditionsLevel {
		now := c.Policy()
		if op.Default {
			now = c.Defaults
		}
		if now != *op.IfPolicy {
			return nil, agent.Errorf(agent.CodeConflict, "the policy is another one than if_policy: read it again")
		}
	}
	policy, own := op.Policy, !op.UseDefault
	if c.Level < txn.LimitsLevel { // the leader refuses what the other nodes do not know
		policy, own = policy.Legacy(), false
	} else if op.Default {
		c.SetDefaultPolicy(policy)
		return &agent.ScopeResult{Scope: agent.Scope{Policy: policy}}, nil
	}
	c.AddUsage(0, 0)
	c.Record.Policy, c.Record.OwnPolicy = policy, own
	c.Changed(agent.ChangedScope, c.Scope, 0)
	result := c.Record.Scope
	result.Policy = c.Policy()
	return &agent.ScopeResult{Scope: result}, nil
}

// bytesPerDeadRow is how many bytes of a deleted scope count as one dead row of a queue, besides one for
// each key: revisions of a checkpoint and reviews, which expire too, count as bytes only.
const bytesPerDeadRow = 1024

// deleteScope deletes all data of the scope. The dedup table stays, so that retries get their
// answers; seals are deleted. The scope's own policy stays if the caller may lack the right to change it.
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
	if err := c.CountDead(c.Record.Keys + c.Record.Bytes/bytesPerDeadRow); err != nil {
		return nil, err
	}
	c.setImport(nil)
	c.Deletions = c.Deletions.Without(c.Scope, "")
	c.Record = txn.EmptyScope(&c.Record.Scope, c.Level >= txn.KeptPolicyLevel && agent.KeepsPolicy(c.Principal))
	c.NotifyWatchers(kv.ScopeKey(kv.KindThread, c.Scope))
	c.NotifyWatchers(kv.ScopeKey(kv.KindClaim, c.Scope))
	if existed {
		c.RecordChange(nil)
	}
	return &agent.DeleteResult{Existed: existed}, nil
}

// PolicyOf returns the policy that applies to a scope, as of the newest entry that this node has
// applied. It has no limits if the state cannot be read, nor during an import of the scope: its steps
// would be refused by the rates that it brings, and other requests are refused anyway.
func (m *Machine) PolicyOf(scope string) agent.Policy {
	view := m.View()
	defer view.Close()
	if view.err != nil || view.imports[scope] != nil {
		return agent.Policy{}
	}
	defaults, err := txn.ReadDefaultPolicy(view)
	if err != nil {
		return agent.Policy{}
	}
	raw, err := view.Get(kv.ScopeKey(kv.KindScope, scope))
	if err != nil || raw == nil {
		return defaults
	}
	stored, err := txn.DecodeScopeRow(scope, raw)
	if err != nil {
		return agent.Policy{}
	}
	return txn.PolicyOf(&stored, defaults)
}

func readScope(r txn.Reader, q *agent.GetScope) (agent.Found, error) {
	defaults, err := txn.ReadDefaultPolicy(r)
	if err != nil {
		return nil, err
	}
	if q.Default {
		return &agent.Scope{Policy: defaults}, nil
	}
	raw, err := r.Get(kv.ScopeKey(kv.KindScope, r.Scope))
	if err != nil {
		return nil, err
	}
	if raw == nil {
		return nil, txn.NotFound("scope", r.Scope)
	}
	scope, err := txn.DecodeScopeRow(r.Scope, raw)
	scope.Policy = txn.PolicyOf(&scope, defaults)
	return &scope, err
}

func readScopes(r txn.Reader, q *agent.ListScopes) (agent.Found, error) {
	list := &agent.ScopeList{}
	defaults, err := txn.ReadDefaultPolicy(r)
	if err != nil {
		return nil, err
	}
	next, err := r.EachInPage(kv.KindScope, q.Page, func(name string, raw []byte) (int, error) {
		scope, err := txn.DecodeScopeRow(name, raw)
		if err != nil {
			return 0, err
		}
		scope.Policy = txn.PolicyOf(&scope, defaults)
		list.Items = append(list.Items, scope)
		return len(name) + len(raw), nil
	})
	list.Next = next
	return list, err
}
