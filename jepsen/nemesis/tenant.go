package nemesis

import (
	"context"
	"fmt"
	"time"

	"dormouse/agent"
	"dormouse/client"
	"dormouse/jepsen/check"
)

var crowding = fault{
	name: check.FaultTenant, about: "one scope floods a cluster that limits its rates; nine of ten calls of others must succeed, within a second",
	variants: []variant{
		{name: "small commits", nodesMin: 1, shortest: 4 * time.Second, longest: 12 * time.Second, begin: crowd(64)},
		{name: "large commits", nodesMin: 1, shortest: 4 * time.Second, longest: 12 * time.Second, begin: crowd(128 << 10)},
	},
}

const (
	// noisyScope is the scope that floods.
	noisyScope = "noisy"
	// noisyClients is the number of its clients, and noisyFlying of commits in flight of
	// each: far more than noisyRate allows.
	noisyClients, noisyFlying = 4, 64
	// noisyRate and noisyBytes are what the policy allows it, each second on each node.
	noisyRate, noisyBytes = 100, 2 << 20
)

// crowd limits a scope, and then floods it with values of so many bytes.
func crowd(bytes int) func(ctx context.Context, a *act) (undo, error) {
	return func(ctx context.Context, a *act) (undo, error) {
		limited, cancel := context.WithTimeout(ctx, a.For/2)
		defer cancel()
		policy := agent.Policy{RequestsPerSecond: noisyRate, BytesPerSecond: noisyBytes}
		if _, err := client.In(a.operator, noisyScope).PutScope(limited, policy); err != nil {
			return nil, fmt.Errorf("set the policy of scope %s: %w", noisyScope, err)
		}
		l := load{clients: noisyClients, flying: noisyFlying, bytes: bytes, most: 64 << 20, scope: noisyScope}
		a.begins("%d clients with up to %d commits of %d bytes in flight each, and a policy of %d requests a second", l.clients, l.flying, l.bytes, noisyRate)
		stop := a.background(ctx, a.flood(l))
		return func(context.Context) error {
			stop()
			return nil
		}, nil
	}
}
