package cluster

import (
	"context"
	"time"

	"dormouse/agent"
	"dormouse/internal/pause"
)

// tableGap is the least time between two updates of a table that nobody asked
// for, so that partitions which move one by one are told of together.
const tableGap = 20 * time.Millisecond

// TableUpdate is who owns what, as of an index or later.
type TableUpdate struct {
	Index      uint64
	LeaderAddr string            // where the leader is, as far as the node knows; "" where it does not
	Members    []agent.Member    // all of them: name, peer address, gRPC address, and whether it is a host
	Leases     []agent.NodeLease // all of them: node, life, handlers
	Partitions []agent.Partition // those that have changed since the update before; all in the first
}

// FollowTable sends who owns what: all of it first, then what changes, until
// ctx ends or send fails. Each index that comes from asked is answered by an
// update as of it, or later; the first is waited for before anything is sent.
func (g *Group) FollowTable(ctx context.Context, asked <-chan uint64, send func(TableUpdate) error) error {
	table := g.o.Placement.Table
	if table == nil {
		return agent.Errorf(agent.CodeUnavailable, "this node places nothing")
	}
	var told []*agent.Partition
	var moved, led <-chan struct{}
	for {
		select {
		case index := <-asked:
			if err := g.machine.WaitApplied(ctx, index); err != nil {
				return err
			}
		case <-moved:
			pause.For(ctx, tableGap)
		case <-led:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		led = g.LeaderChanged()
		_, leader := g.Leader()
		u := TableUpdate{Index: g.machine.Applied(), LeaderAddr: leader} // what follows is no older
		if moved == nil || closed(moved) {
			moved = table.PartitionsChanged() // taken before the look
			now := table.Partitions()
			u.Partitions = changedSince(told, now)
			told = now
		}
		u.Members, u.Leases = g.machine.Members(), table.NodeLeases()
		if err := send(u); err != nil {
			return err
		}
	}
}

// changedSince are the partitions that are not as they were; all where nothing
// was.
func changedSince(before, now []*agent.Partition) []agent.Partition {
	var changed []agent.Partition
	if before == nil {
		changed = make([]agent.Partition, 0, len(now))
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
