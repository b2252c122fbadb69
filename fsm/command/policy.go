package command

import (
	"fmt"

	"dormouse/agent"
	"dormouse/api/ops"
	oppb "dormouse/proto/op"
)

// EncodePolicy encodes the default policy.
func EncodePolicy(p agent.Policy) []byte { return Marshal(ops.PolicyToProto(p)) }

// DecodePolicy is the inverse of EncodePolicy; nil is a policy without limits.
func DecodePolicy(raw []byte) (agent.Policy, error) {
	p := &oppb.Policy{}
	if raw == nil {
		return agent.Policy{}, nil
	}
	if err := Unmarshal(raw, p); err != nil {
		return agent.Policy{}, fmt.Errorf("decode the default policy: %w", err)
	}
	return ops.PolicyFromProto(p), nil
}
