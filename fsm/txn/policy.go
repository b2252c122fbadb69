package txn

import (
	"dormouse/agent"
	"dormouse/fsm/command"
	"dormouse/fsm/kv"
)

// DefaultPolicyKey names the row of the policy of scopes that have none of their own.
const DefaultPolicyKey = kv.KindSystem + "policy"

// ReadDefaultPolicy returns the policy of scopes that have none of their own.
func ReadDefaultPolicy(r kv.Reader) (agent.Policy, error) {
	raw, err := r.Get(DefaultPolicyKey)
	if err != nil {
		return agent.Policy{}, err
	}
	return command.DecodePolicy(raw)
}

// SetDefaultPolicy sets the policy of scopes that have none of their own.
func (b *Entry) SetDefaultPolicy(p agent.Policy) {
	b.Defaults = p
	b.Rows.Set(DefaultPolicyKey, command.EncodePolicy(p))
}
