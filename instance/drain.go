package instance

import (
	"context"
	"fmt"
	"time"

	"dormouse/agent"
)

// drainPatience is how long the instances of a partition may take to hibernate
// before its move is given up, and drainRetry when a call about it is made again.
const (
	drainPatience = 30 * time.Second
	drainRetry    = 200 * time.Millisecond
)

// watchGround follows who owns what.
func (h *Host) watchGround(ctx context.Context) error {
	for {
		changed := h.o.Ground.PartitionsChanged()
		h.reconcile(ctx)
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// reconcile drops the instances of partitions that are not this node's any more,
// without writing anything, and begins to drain those that are to go.
func (h *Host) reconcile(ctx context.Context) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for n, held := range h.held {
		if p := h.o.Ground.Partition(n); h.mine(p) != nil || p.Epoch != held.epoch {
			for i := range held.instances {
				h.drop(i, notOwner(p, h.o.Node))
			}
		}
	}
	for n := range agent.Partitions {
		p := h.o.Ground.Partition(n)
		if p.State != agent.PartitionDraining || h.mine(p) != nil || h.drains[n] == p.Epoch {
			continue
		}
		h.drains[n] = p.Epoch
		h.workers.Add(1)
		go h.drain(ctx, p)
	}
}

// drain hibernates a partition's instances and releases it. One that cannot
// hibernate stops the move: the partition stays, and people are told why.
func (h *Host) drain(ctx context.Context, p agent.Partition) {
	defer h.workers.Done()
	defer func() {
		h.mu.Lock()
		delete(h.drains, p.ID)
		h.mu.Unlock()
	}()
	h.mu.Lock()
	var all []*instance
	if held := h.held[p.ID]; held != nil && held.epoch == p.Epoch {
		for i := range held.instances {
			all = append(all, i)
		}
	}
	h.mu.Unlock()
	patience, cancel := context.WithTimeout(ctx, drainPatience)
	err := h.putToSleep(patience, all, lifecycleShutdown)
	cancel()
	if err != nil {
		why := fmt.Sprintf("the move to %s stopped: %v", owner(agent.Partition{Owner: p.To}), err)
		h.o.Logger.Warn("a partition's instances could not all hibernate, so it stays", "partition", p.ID, "error", err)
		h.insist(ctx, p, func() error { return h.o.Ground.KeepPartition(ctx, p.ID, p.Epoch, why) })
		return
	}
	h.insist(ctx, p, func() error { return h.o.Ground.ReleasePartition(ctx, p.ID, p.Epoch) })
}

// insist calls until it succeeds, or the partition does not drain any more.
func (h *Host) insist(ctx context.Context, p agent.Partition, call func() error) {
	for {
		now := h.o.Ground.Partition(p.ID)
		if h.mine(now) != nil || now.Epoch != p.Epoch || now.State != agent.PartitionDraining {
			return
		}
		err := call()
		if err == nil {
			h.awaitChange(ctx, p)
			return
		}
		h.o.Logger.Debug("a partition's move goes on later", "partition", p.ID, "error", err)
		if !sleep(ctx, drainRetry) {
			return
		}
	}
}

// awaitChange waits until this node has applied what became of a drain, so that
// it is not begun anew.
func (h *Host) awaitChange(ctx context.Context, p agent.Partition) {
	for {
		changed := h.o.Ground.PartitionsChanged()
		now := h.o.Ground.Partition(p.ID)
		if h.mine(now) != nil || now.Epoch != p.Epoch || now.State != agent.PartitionDraining {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}
