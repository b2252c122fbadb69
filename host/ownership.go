package host

import (
	"context"
	"time"

	"dormouse/agent/layout"
	"dormouse/cluster/assign"
)

// ownership implements instance.Ownership from the table that nodes stream and
// this host's own lease.
type ownership struct {
	*table
	host *Host
}

func (o ownership) LeaseUntil() time.Time { return o.host.lease.Until() }

func (o ownership) ReleasePartitions(ctx context.Context, all []layout.Partition) error {
	return o.retryUntilReleased(ctx, assign.Request{Kind: assign.Release, Held: held(all)})
}

func (o ownership) KeepPartition(ctx context.Context, p layout.Partition, why string) error {
	return o.retryUntilReleased(ctx, assign.Request{Kind: assign.Keep, Held: held([]layout.Partition{p}), Why: why})
}

func (o ownership) retryUntilReleased(ctx context.Context, r assign.Request) error {
	return assign.RetryUntilReleased(ctx, o.table, r, func(ctx context.Context, r assign.Request) bool {
		answer := o.host.own(ctx, r)
		return answer.Index != 0 && o.WaitApplied(ctx, answer.Index) == nil
	})
}

func held(all []layout.Partition) []assign.Held {
	var out []assign.Held
	for _, p := range all {
		out = append(out, assign.Held{Partition: p.ID, Epoch: p.Epoch})
	}
	return out
}
