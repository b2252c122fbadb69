package instance

import (
	"context"
	"fmt"
	"time"

	"dormouse/agent/layout"
	"dormouse/internal/failpoint"
)

// drainTimeout is how long the instances of a partition may take to hibernate
// before the host cancels the partition's move.
const drainTimeout = 30 * time.Second

// watchOwnership follows changes of the partitions' owners until ctx ends.
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

// reconcile drops the instances of partitions that this node no longer owns,
// without a write. It starts to drain the partitions that must move. Partitions
// without instances are released together.
func (h *Host) reconcile(ctx context.Context) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for n, held := range h.table.partitions {
		if p := h.o.Ownership.Partition(n); !h.leases.isOwned(p) || p.Epoch != held.epoch {
			for i := range held.instances {
				h.table.drop(i, notOwner(p, h.o.Node))
			}
		}
	}
	var empty []layout.Partition
	for _, p := range h.o.Ownership.PartitionsDraining() {
		if !h.leases.isOwned(p) || h.draining[p.ID] == p.Epoch {
			continue
		}
		h.draining[p.ID] = p.Epoch
		if held := h.table.partitions[p.ID]; held == nil || held.epoch != p.Epoch || len(held.instances) == 0 {
			empty = append(empty, p)
			continue
		}
		h.mailbox.workers.Go(func() { h.drain(ctx, p) })
	}
	if len(empty) > 0 {
		h.mailbox.workers.Go(func() { h.release(ctx, empty) })
	}
}

// drain hibernates a partition's instances and releases it. If an instance
// cannot hibernate, drain cancels the move and records why.
func (h *Host) drain(ctx context.Context, p layout.Partition) {
	h.mu.Lock()
	var all []*instance
	if held := h.table.partitions[p.ID]; held != nil && held.epoch == p.Epoch {
		for i := range held.instances {
			all = append(all, i)
		}
	}
	h.mu.Unlock()
	failpoint.At(failpoint.HandoverDrain)
	drainCtx, cancel := context.WithTimeout(ctx, drainTimeout)
	err := h.mailbox.hibernateAll(drainCtx, all, lifecycleShutdown)
	cancel()
	failpoint.At(failpoint.HandoverRelease)
	if err == nil {
		h.release(ctx, []layout.Partition{p})
		return
	}
	why := fmt.Sprintf("the move to %s was cancelled: %v", ownerName(layout.Partition{Owner: p.To}), err)
	h.o.Logger.Warn("instances of a partition could not hibernate; the partition stays on this node", "partition", p.ID, "error", err)
	h.drainEnded(h.o.Ownership.KeepPartition(ctx, p, why), p)
}

// release gives up partitions that have no instances.
func (h *Host) release(ctx context.Context, all []layout.Partition) {
	h.drainEnded(h.o.Ownership.ReleasePartitions(ctx, all), all...)
}

// drainEnded ends the drain of partitions. An error means that their outcome is
// unknown and this host has stopped asking.
func (h *Host) drainEnded(err error, all ...layout.Partition) {
	if err != nil {
		h.o.Logger.Info("partitions were not moved", "partitions", len(all), "error", err)
	}
	h.mu.Lock()
	for _, p := range all {
		if h.draining[p.ID] == p.Epoch { // otherwise a later drain has started
			delete(h.draining, p.ID)
		}
	}
	h.mu.Unlock()
	notify(h.drainsEnded) // a partition may drain again at the same epoch
}
