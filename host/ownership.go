package host

import (
	"context"
	"time"

	"dormouse/agent"
	"dormouse/cluster"
)

// ownership implements instance.Ownership from the table that nodes stream and
// this host's own lease.
type ownership struct {
	*table
	host *Host
}

func (o ownership) LeaseUntil() time.Time { return o.host.lease.Until() }

func (o ownership) ReleasePartitions(ctx context.Context, all []agent.Partition) error {
	return o.retryUntilReleased(ctx, cluster.OwnRequest{Kind: cluster.OwnRelease, Held: held(all)})
}

func (o ownership) KeepPartition(ctx context.Context, p agent.Partition, why string) error {
	return o.retryUntilReleased(ctx, cluster.OwnRequest{Kind: cluster.OwnKeep, Held: held([]agent.Partition{p}), Why: why})
}

func (o ownership) retryUntilReleased(ctx context.Context, r cluster.OwnRequest) error {
	return cluster.Insist(ctx, o.table, r, func(ctx context.Context, r cluster.OwnRequest) bool {
		answer := o.host.own(ctx, r)
		return answer.Index != 0 && o.WaitApplied(ctx, answer.Index) == nil
	})
}

func held(all []agent.Partition) []cluster.Held {
	var out []cluster.Held
	for _, p := range all {
		out = append(out, cluster.Held{Partition: p.ID, Epoch: p.Epoch})
	}
	return out
}
