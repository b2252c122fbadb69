package fsm

import (
	"fmt"
	"slices"

	"dormouse/agent"
	"dormouse/fsm/command"
	"dormouse/fsm/kv"
	logpb "dormouse/proto/log"
)

// scopeState is a scope's record while an entry is applied. It is copied, so
// that a refused commit leaves the one before it.
type scopeState struct {
	agent.Scope
	exists  bool
	changed bool
}

// openScope makes a working copy of the commit's scope.
func (c *commit) openScope() error {
	state, ok := c.scopes[c.scope]
	if !ok {
		raw, err := c.rows.Get(kv.ScopeKey(kv.KindScope, c.scope))
		if err != nil {
			return err
		}
		if raw != nil {
			if state.Scope, err = decodeScopeRow(c.scope, raw); err != nil {
				return err
			}
			state.exists = true
		}
		state.Name = c.scope
		c.scopes[c.scope] = state
	}
	c.record = state
	return nil
}

// closeScope holds the commit to the scope's quota and keeps what it changed.
// What takes nothing more is let through however full the scope is.
func (c *commit) closeScope() error {
	before, after := c.scopes[c.scope], c.record
	policy := after.Policy
	if limit := policy.KeysMax; limit > 0 && after.Keys > limit && after.Keys > before.Keys {
		return quotaRefusal(c.scope, "keys_max", limit)
	}
	if limit := policy.BytesMax; limit > 0 && after.Bytes > limit && after.Bytes > before.Bytes {
		return quotaRefusal(c.scope, "bytes_max", limit)
	}
	if after.changed {
		c.scopes[c.scope] = after
	}
	return nil
}

func quotaRefusal(scope, limit string, bound uint64) *agent.Error {
	e := agent.Errorf(agent.CodeOverloaded, "scope %q is full: %s = %d", scope, limit, bound)
	e.Limit = fmt.Sprintf("%s=%d", limit, bound)
	e.RetryAfterMS = quotaRetryMS
	return e
}

// grow counts what a commit adds to its scope, and takes from it; the first
// write makes the scope.
func (c *commit) grow(keys, bytes int64) {
	s := &c.record
	if !s.exists {
		s.exists = true
		s.CreatedAt = c.progress.wall
	}
	s.Keys = saturate(s.Keys, keys)
	s.Bytes = saturate(s.Bytes, bytes)
	s.changed = true
}

// saturate never goes below zero: a counter that was wrong must not become
// enormous.
func saturate(n uint64, by int64) uint64 {
	if by < 0 && uint64(-by) > n {
		return 0
	}
	return n + uint64(by)
}

// history is how many revisions of a checkpoint the scope keeps.
func (s scopeState) history() uint64 {
	if s.Policy.History == 0 {
		return agent.HistoryDefault
	}
	return s.Policy.History
}

// storeScopes writes the scopes that the entry has changed.
func (b *entry) storeScopes() error {
	for _, name := range sortedKeys(b.scopes) {
		state := b.scopes[name]
		if !state.changed {
			continue
		}
		key := kv.ScopeKey(kv.KindScope, name)
		if !state.exists {
			b.rows.Remove(key)
			continue
		}
		record := command.EncodeScope(state.Scope)
		record.Name = "" // the key says it
		raw, err := command.Marshal(record)
		if err != nil {
			return fmt.Errorf("encode scope %q: %w", name, err)
		}
		b.rows.Set(key, raw)
	}
	return nil
}

func decodeScopeRow(name string, raw []byte) (agent.Scope, error) {
	var record logpb.ScopeRecord
	if err := command.Unmarshal(raw, &record); err != nil {
		return agent.Scope{}, fmt.Errorf("decode scope %q: %w", name, err)
	}
	scope := command.DecodeScope(&record)
	scope.Name = name
	return scope, nil
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
