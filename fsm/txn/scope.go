package txn

import (
	"fmt"
	"slices"

	"dormouse/agent"
	"dormouse/agent/quota"
	"dormouse/fsm/command"
	"dormouse/fsm/kv"
	"dormouse/internal/seededbug"
	logpb "dormouse/proto/log"
)

// ScopeState is a scope's record while an entry is applied. It is copied, so that a refused commit
// keeps the previous one.
type ScopeState struct {
	agent.Scope
	Exists  bool
	Changed bool
}

// EmptyScope returns the record of a scope whose data was deleted. It exists if the scope has a policy of
// its own that is kept.
func EmptyScope(s *agent.Scope, keep bool) ScopeState {
	empty := ScopeState{Scope: agent.Scope{Name: s.Name}, Changed: true}
	if keep && ownPolicy(s) {
		empty.Exists, empty.CreatedAt, empty.Policy, empty.OwnPolicy = true, s.CreatedAt, s.Policy, s.OwnPolicy
	}
	return empty
}

// OpenScope makes a working copy of the commit's scope.
func (c *Tx) OpenScope() error {
	state, ok := c.Scopes[c.Scope]
	if !ok {
		raw, err := c.Rows.Get(kv.ScopeKey(kv.KindScope, c.Scope))
		if err != nil {
			return err
		}
		if raw != nil {
			if state.Scope, err = DecodeScopeRow(c.Scope, raw); err != nil {
				return err
			}
			state.Exists = true
		}
		state.Name = c.Scope
		c.Scopes[c.Scope] = state
	}
	c.Record = state
	return nil
}

// CloseScope checks the commit against the scope's quota and keeps its changes. A commit that adds
// nothing passes even if the scope is full.
func (c *Tx) CloseScope() error {
	before, after := c.Scopes[c.Scope], c.Record
	policy := c.Policy()
	if c.Level >= LimitsLevel {
		early := seededbug.Is(seededbug.QuotaCheckedEarly) && quota.Room(&before.Scope, policy)
		if e := quota.Exceeded(&before.Scope, &after.Scope, policy); e != nil && !early {
			return e
		}
	} else if err := c.legacyQuota(&before.Scope, &after.Scope); err != nil {
		return err
	}
	if after.Changed {
		c.Scopes[c.Scope] = after
	}
	return nil
}

// legacyQuota checks a commit below LimitsLevel.
func (c *Tx) legacyQuota(before, after *agent.Scope) error {
	policy := after.Policy
	if limit := policy.KeysMax; limit > 0 && after.Keys > limit && after.Keys > before.Keys {
		return quotaRefusal(c.Scope, "keys_max", limit)
	}
	if limit := policy.BytesMax; limit > 0 && after.Bytes > limit && after.Bytes > before.Bytes {
		return quotaRefusal(c.Scope, "bytes_max", limit)
	}
	return nil
}

func quotaRefusal(scope, limit string, bound uint64) *agent.Error {
	e := agent.Errorf(agent.CodeOverloaded, "scope %q is full: %s = %d", scope, limit, bound)
	e.Limit = fmt.Sprintf("%s=%d", limit, bound)
	e.RetryAfterMS = QuotaRetryMS
	return e
}

// AddUsage adds a commit's changes of keys and bytes to its scope; the first write creates the
// scope.
func (c *Tx) AddUsage(keys, bytes int64) {
	s := &c.Record
	if !s.Exists {
		s.Exists = true
		s.CreatedAt = c.Progress.Wall
	}
	s.Keys = Saturate(s.Keys, keys)
	s.Bytes = Saturate(s.Bytes, bytes)
	s.Changed = true
}

// Saturate adds by to n, and never goes below zero: a wrong counter must not wrap around.
func Saturate(n uint64, by int64) uint64 {
	if by < 0 && uint64(-by) > n {
		return 0
	}
	return n + uint64(by)
}

// Policy returns the policy that applies to the commit's scope.
func (c *Tx) Policy() agent.Policy { return PolicyOf(&c.Record.Scope, c.Defaults) }

// PolicyOf returns the policy that applies to a stored scope: its own, or the default.
func PolicyOf(s *agent.Scope, defaults agent.Policy) agent.Policy {
	if ownPolicy(s) {
		return s.Policy
	}
	return defaults
}

// ownPolicy reports whether a stored scope has a policy of its own. One that was set below LimitsLevel is
// not marked as such.
func ownPolicy(s *agent.Scope) bool { return s.OwnPolicy || s.Policy != (agent.Policy{}) }

// StoreScopes writes the scopes that the entry has changed.
func (b *Entry) StoreScopes() error {
	for _, name := range SortedKeys(b.Scopes) {
		state := b.Scopes[name]
		if !state.Changed {
			continue
		}
		key := kv.ScopeKey(kv.KindScope, name)
		if !state.Exists {
			b.Rows.Remove(key)
			continue
		}
		record := command.EncodeScope(state.Scope)
		record.Name = "" // the key has it
		raw := command.Marshal(record)
		b.Rows.Set(key, raw)
	}
	return nil
}

// DecodeScopeRow decodes the row of the scope of a name.
func DecodeScopeRow(name string, raw []byte) (agent.Scope, error) {
	var record logpb.ScopeRecord
	if err := command.Unmarshal(raw, &record); err != nil {
		return agent.Scope{}, fmt.Errorf("decode scope %q: %w", name, err)
	}
	scope := command.DecodeScope(&record)
	scope.Name = name
	return scope, nil
}

// SortedKeys returns the keys of m in order.
func SortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
