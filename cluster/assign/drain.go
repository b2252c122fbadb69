package assign

import (
	"context"
	"slices"
	"time"

	"dormouse/agent/layout"
)

// isLeaving reports whether Vacate empties the node.
func (a *Assigner) isLeaving(node string) bool {
	leaving := a.leaving.Load()
	return leaving != nil && *leaving == node
}

// Vacate drains the partitions of a node that is about to be removed, in the
// leader's usual steps, and waits until the node owns none. It waits for at most
// half of the time that ctx has left: partitions that have not drained by then
// become free when the node's lease expires, as those of a failed node do. The
// node is assigned no partitions until done is called. Only one call may be under
// way.
func (a *Assigner) Vacate(ctx context.Context, node string) (done func()) {
	a.leaving.Store(&node)
	done = func() { a.leaving.Store(nil) }
	if a.Table == nil || len(a.Eligible("")) == 0 {
		return done // there is no other owner
	}
	if deadline, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Until(deadline)/2)
		defer cancel()
	}
	for {
		changed := a.Table.PartitionsChanged()
		if !slices.ContainsFunc(a.Table.Partitions(), func(p *layout.Partition) bool { return p.Owner == node }) {
			return done
		}
		select {
		case <-changed:
		case <-ctx.Done():
			a.Logger.Warn("a node is removed before all of its partitions have drained", "node", node)
			return done
		}
	}
}
