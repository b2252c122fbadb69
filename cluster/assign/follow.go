package assign

import (
	"context"
	"time"

	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/internal/pause"
)

// updateGap is the least time between two updates that the follower did not ask
// for, so that partitions which move one by one share an update.
const updateGap = 20 * time.Millisecond

// TableUpdate is the table of partitions as of an index or later.
type TableUpdate struct {
	Index      uint64
	LeaderAddr string             // "" if the node knows no leader
	Members    []layout.Member    // all of them: name, peer address, gRPC address, and whether it is a host
	Leases     []layout.NodeLease // all of them: node, process, handlers
	Partitions []layout.Partition // those that have changed since the update before; all in the first
}

// FollowTable sends the whole table, then its changes, until ctx ends or send
// fails. It answers each index from asked with an update as of that index or
// later, and sends nothing before the first index.
func (a *Assigner) FollowTable(ctx context.Context, asked <-chan uint64, send func(TableUpdate) error) error {
	if a.Table == nil {
		return agent.Errorf(agent.CodeUnavailable, "this cluster assigns no partitions")
	}
	var sent []*layout.Partition
	var moved, led <-chan struct{}
	for {
		select {
		case index := <-asked:
			if err := a.Machine.WaitApplied(ctx, index); err != nil {
				return err
			}
		case <-moved:
			pause.For(ctx, updateGap)
		case <-led:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		led = a.Leadership.LeaderChanged()
		_, leader := a.Leadership.Leader()
		u := TableUpdate{Index: a.Machine.Applied(), LeaderAddr: leader} // what follows is no older
		if moved == nil || closed(moved) {
			moved = a.Table.PartitionsChanged() // taken before the table
			now := a.Table.Partitions()
			u.Partitions = changedSince(sent, now)
			sent = now
		}
		u.Members, u.Leases = a.Machine.Members(), a.Table.NodeLeases()
		if err := send(u); err != nil {
			return err
		}
	}
}

// changedSince returns the partitions of now that differ from before; all of them
// if before is nil.
func changedSince(before, now []*layout.Partition) []layout.Partition {
	var changed []layout.Partition
	if before == nil {
		changed = make([]layout.Partition, 0, len(now))
	}
	for n, p := range now {
		if before == nil || p != before[n] {
			changed = append(changed, *p)
		}
	}
	return changed
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
