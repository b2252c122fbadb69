package cluster

import (
	"context"
	"slices"
	"time"

	"dormouse/agent"
)

// leaves tells whether a node is being emptied, so as to be removed.
func (g *Group) leaves(node string) bool {
	leaving := g.leaving.Load()
	return leaving != nil && *leaving == node
}

// vacate has the partitions of a node that is to leave drain to others, in the
// leader's steps, and waits until it owns none. It gives that half of the time
// that the removal has: what is not drained by then is free when the node's lease
// lapses, as it is of a node that is down. Until stay is called the node is given
// nothing.
func (g *Group) vacate(ctx context.Context, node string) (stay func()) {
	g.leaving.Store(&node)
	stay = func() { g.leaving.Store(nil) }
	table := g.o.Placement.Table
	if table == nil || len(g.MayOwn("")) == 0 {
		return stay // nobody could have them
	}
	if deadline, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Until(deadline)/2)
		defer cancel()
	}
	for {
		changed := table.PartitionsChanged()
		if !slices.ContainsFunc(table.Partitions(), func(p *agent.Partition) bool { return p.Owner == node }) {
			return stay
		}
		select {
		case <-changed:
		case <-ctx.Done():
			g.logger.Warn("a node is removed before all of its partitions have drained", "node", node)
			return stay
		}
	}
}
