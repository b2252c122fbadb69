package client

import (
	"context"

	"dormouse/agent"
)

// Apply commits ops, all or none, in the scope and under its fence.
func (s Scope) Apply(ctx context.Context, ops ...agent.Op) (agent.Result, error) {
	return s.service.Commit(ctx, agent.Commit{Scope: s.name, Fence: s.fence, Ops: ops})
}
