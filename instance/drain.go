package instance

import (
	"context"
	"fmt"
	"time"

	"dormouse/agent"
)

// drainTimeout is how long the instances of a partition may take to hibernate
// before its move is given up.
const drainTimeout = 30 * time.Second

// watchOwnership follows who owns what.
func (h *Host) watchOwnership(ctx context.Context) error {
	for {
		changed := h.o.Ownership.PartitionsChanged()
		h.reconcile(ctx)
		select {
		case <-changed:
		case <-h.drainsEnded:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// reconcile drops the instances of partitions that are not this node's any more,
// without writing anything, and begins to drain those that are to go. Those of
// them in which nothing is awake go together.
func (h *Host) reconcile(ctx context.Context) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for n, held := range h.partitions {
		if p := h.o.Ownership.Partition(n); !h.isOwned(p) || p.Epoch != held.epoch {
			for i := range held.instances {
				h.drop(i, notOwner(p, h.o.Node))
			}
		}
	}
	var empty []agent.Partition
	for _, p := range h.o.Ownership.PartitionsDraining() {
		if !h.isOwned(p) || h.draining[p.ID] == p.Epoch {
			continue
		}
		h.draining[p.ID] = p.Epoch
		if held := h.partitions[p.ID]; held == nil || held.epoch != p.Epoch || len(held.instances) == 0 {
			empty = append(empty, p)
			continue
		}
		h.workers.Go(func() { h.drain(ctx, p) })
	}
	if len(empty) > 0 {
		h.workers.Go(func() { h.release(ctx, empty) })
	}
}

// drain hibernates a partition's instances and releases it. One that cannot
// hibernate stops the move: the partition stays, and people are told why.
func (h *Host) drain(ctx context.Context, p agent.Partition) {
	h.mu.Lock()
	var all []*instance
	if held := h.partitions[p.ID]; held != nil && held.epoch == p.Epoch {
		for i := range held.instances {
			all = append(all, i)
		}
	}
	h.mu.Unlock()
	patience, cancel := context.WithTimeout(ctx, drainTimeout)
	err := h.hibernateAll(patience, all, lifecycleShutdown)
	cancel()
	if err == nil {
		h.release(ctx, []agent.Partition{p})
		return
	}
	why := fmt.Sprintf("the move to %s stopped: %v", ownerName(agent.Partition{Owner: p.To}), err)
	h.o.Logger.Warn("a partition's instances could not all hibernate, so it stays", "partition", p.ID, "error", err)
	h.drainEnded(h.o.Ownership.KeepPartition(ctx, p, why), p)
}

// release gives up partitions in which nothing is awake.
func (h *Host) release(ctx context.Context, all []agent.Partition) {
	h.drainEnded(h.o.Ownership.ReleasePartitions(ctx, all), all...)
}

// drainEnded ends the drain of partitions. Where it is not known what became of
// them, this host does not go on to ask: its time is over.
func (h *Host) drainEnded(err error, all ...agent.Partition) {
	if err != nil {
		h.o.Logger.Info("partitions were not moved", "partitions", len(all), "error", err)
	}
	h.mu.Lock()
	for _, p := range all {
		if h.draining[p.ID] == p.Epoch { // else another drain has begun meanwhile
			delete(h.draining, p.ID)
		}
	}
	h.mu.Unlock()
	notify(h.drainsEnded) // one of them may drain again already, at the same epoch
}
