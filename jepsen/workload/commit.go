package workload

import (
	"context"

	"dormouse/agent"
)

// CommitOne commits one op and returns its result, which must be a T.
func CommitOne[T agent.OpResult](ctx context.Context, p *Process, op agent.Op) (one T, index uint64, err error) {
	result, err := p.Client.Commit(ctx, agent.Commit{Scope: p.Scope, Ops: []agent.Op{op}})
	if err != nil {
		return one, 0, err
	}
	if len(result.Results) == 1 {
		if one, is := result.Results[0].(T); is {
			return one, result.Index, nil
		}
	}
	return one, 0, agent.Errorf(agent.CodeInternal, "the results of a %T are %v", op, result.Results)
}
