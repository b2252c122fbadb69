package host

import (
	"context"
	"time"

	"dormouse/agent"
	"dormouse/cluster"
)

// ground implements instance.Ground: who owns what, as nodes have told it, and
// this host's own lease.
type ground struct {
	*table
	host *Host
}

func (g ground) LeaseUntil() time.Time { return g.host.lease.Until() }

func (g ground) ReleasePartitions(ctx context.Context, all []agent.Partition) error {
	return g.insist(ctx, cluster.OwnRequest{Kind: cluster.OwnRelease, Held: held(all)})
}

func (g ground) KeepPartition(ctx context.Context, p agent.Partition, why string) error {
	return g.insist(ctx, cluster.OwnRequest{Kind: cluster.OwnKeep, Held: held([]agent.Partition{p}), Why: why})
}

func (g ground) insist(ctx context.Context, r cluster.OwnRequest) error {
	return cluster.Insist(ctx, g.table, r, func(ctx context.Context, r cluster.OwnRequest) bool {
		answer := g.host.own(ctx, r)
		return answer.Index != 0 && g.WaitApplied(ctx, answer.Index) == nil
	})
}

func held(all []agent.Partition) []cluster.Held {
	var out []cluster.Held
	for _, p := range all {
		out = append(out, cluster.Held{Partition: p.ID, Epoch: p.Epoch})
	}
	return out
}
