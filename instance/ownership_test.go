package instance_test

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"dormouse/agent"
	"dormouse/agent/layout"
)

// world is the actual ownership of partitions, which the store's fences use.
type world struct {
	mu      sync.Mutex
	index   uint64
	parts   map[int]layout.Partition
	expired map[string]bool // :: node → the log has expired its lease
	changed chan struct{}
	kept    []string // reasons of cancelled drains
}

func newWorld() *world {
	return &world{parts: map[int]layout.Partition{}, expired: map[string]bool{}, changed: make(chan struct{})}
}

// set changes a partition. The caller holds mu.
func (w *world) set(p layout.Partition) layout.Partition {
	w.index++
	p.SinceIndex = w.index
	w.parts[p.ID] = p
	close(w.changed)
	w.changed = make(chan struct{})
	return p
}

// give assigns a partition to a node, under a new epoch.
func (w *world) give(n int, node string) layout.Partition {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.set(layout.Partition{ID: n, Owner: node, Incarnation: "1", Epoch: w.index + 1, State: layout.PartitionOwned})
}

// giveAll assigns all partitions to a node.
func (w *world) giveAll(node string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for n := range layout.Partitions {
		w.index++
		w.parts[n] = layout.Partition{ID: n, Owner: node, Incarnation: "1", Epoch: w.index, State: layout.PartitionOwned, SinceIndex: w.index}
	}
}

// drain makes a partition drain from its owner.
func (w *world) drain(n int, to string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	p := w.parts[n]
	p.State, p.To = layout.PartitionDraining, to
	w.set(p)
}

func (w *world) partition(n int) layout.Partition {
	w.mu.Lock()
	defer w.mu.Unlock()
	p := w.parts[n]
	p.ID = n
	return p
}

// fenced refuses a fence that is not valid.
func (w *world) fenced(f *agent.Fence) *agent.Error {
	w.mu.Lock()
	defer w.mu.Unlock()
	n, err := strconv.Atoi(strings.TrimPrefix(f.Claim, "partition:"))
	if p, ok := w.parts[n]; err == nil && ok {
		if p.Epoch == f.Epoch && p.State != layout.PartitionFree && !w.expired[p.Owner] {
			return nil
		}
		return &agent.Error{Code: agent.CodeFenced, Op: -1, Final: true, Epoch: p.Epoch, Holder: p.Owner}
	}
	return &agent.Error{Code: agent.CodeFenced, Op: -1, Final: true, Detail: "no node owns it"}
}

// nodeView is the world as one node sees it.
type nodeView struct {
	*world
	node   string
	seen   sync.Mutex
	frozen map[int]layout.Partition // the node's last view while it is cut off; nil otherwise
	until  time.Time                // end of a lease that is not renewed; zero if it is renewed
}

// cut freezes the node's view, and ends its lease after a time.
func (g *nodeView) cut(lease time.Duration) {
	g.mu.Lock()
	frozen := map[int]layout.Partition{}
	for n, p := range g.parts {
		frozen[n] = p
	}
	g.mu.Unlock()
	g.seen.Lock()
	g.frozen, g.until = frozen, time.Now().Add(lease)
	g.seen.Unlock()
}

// mend ends a cut.
func (g *nodeView) mend() {
	g.seen.Lock()
	g.frozen, g.until = nil, time.Time{}
	g.seen.Unlock()
	g.mu.Lock()
	close(g.changed)
	g.changed = make(chan struct{})
	g.mu.Unlock()
}

func (g *nodeView) Partition(n int) layout.Partition {
	g.seen.Lock()
	frozen := g.frozen
	g.seen.Unlock()
	if frozen != nil {
		p := frozen[n]
		p.ID = n
		return p
	}
	return g.partition(n)
}

func (g *nodeView) PartitionsChanged() <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.changed
}

func (g *nodeView) LeaseUntil() time.Time {
	g.seen.Lock()
	defer g.seen.Unlock()
	if !g.until.IsZero() {
		return g.until
	}
	return time.Now().Add(5 * time.Second)
}

func (g *nodeView) PartitionsDraining() (all []layout.Partition) {
	g.seen.Lock()
	parts := g.frozen
	g.seen.Unlock()
	if parts == nil {
		g.mu.Lock()
		defer g.mu.Unlock()
		parts = g.parts
	}
	for n, p := range parts {
		if p.State == layout.PartitionDraining {
			p.ID = n
			all = append(all, p)
		}
	}
	return all
}

func (g *nodeView) ReleasePartitions(ctx context.Context, all []layout.Partition) error {
	for _, p := range all {
		if now := g.partition(p.ID); now.Epoch == p.Epoch && now.State == layout.PartitionDraining {
			g.give(p.ID, now.To)
		}
	}
	return g.drained(ctx, all...)
}

func (g *nodeView) KeepPartition(ctx context.Context, p layout.Partition, why string) error {
	g.mu.Lock()
	if now := g.parts[p.ID]; now.Epoch == p.Epoch && now.State == layout.PartitionDraining {
		now.State, now.To, now.Why = layout.PartitionOwned, "", why
		g.kept = append(g.kept, why)
		g.set(now)
	}
	g.mu.Unlock()
	return g.drained(ctx, p)
}

// drained waits until the node sees none of the partitions drain at its epoch.
func (g *nodeView) drained(ctx context.Context, all ...layout.Partition) error {
	for {
		changed := g.PartitionsChanged()
		if !slices.ContainsFunc(all, func(p layout.Partition) bool {
			now := g.Partition(p.ID)
			return now.Epoch == p.Epoch && now.State == layout.PartitionDraining
		}) {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
