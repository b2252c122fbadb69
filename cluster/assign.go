package cluster

import (
	"context"
	"slices"
	"sync"
	"time"

	"dormouse/agent"
	"dormouse/internal/pause"
	"dormouse/placement"
)

const (
	// assignEvery is how long the leader goes without a look at who is to own
	// what, where nothing happens: gossip and time tell nobody.
	assignEvery = 500 * time.Millisecond
	// assignGap is the least time between two plans, so that partitions that
	// are released one by one are planned for together.
	assignGap = 50 * time.Millisecond
	// drainsMax is how many partitions may drain at once: those instances sleep
	// meanwhile, and wake elsewhere.
	drainsMax = 128
	// keptFor is how long the leader leaves a partition alone that its owner
	// could not let go.
	keptFor = 30 * time.Second
)

// kept is the partitions that their owners could not let go lately. It is the
// leader's own, and lost with it: the next one tries again.
type kept struct {
	mu    sync.Mutex
	since map[int]time.Time // :: partition → when; guarded by mu
}

func (k *kept) note(n int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.since == nil {
		k.since = make(map[int]time.Time)
	}
	k.since[n] = time.Now()
}

func (k *kept) has(n int) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	since, ok := k.since[n]
	if ok && time.Since(since) > keptFor {
		delete(k.since, n)
		return false
	}
	return ok
}

// none tells that there are no such partitions, nor any whose time is over and
// that nobody has looked at since.
func (k *kept) none() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.since) == 0
}

// assign keeps the partitions with the members, while this node leads and is
// ready: after every change, and now and then.
func (g *Group) assign(ctx context.Context) error {
	table := g.o.Placement.Table
	if table == nil {
		return nil
	}
	var nothing idle
	var aim aim
	for ctx.Err() == nil {
		moved, led := table.PartitionsChanged(), g.LeaderChanged()
		planned := g.IsLeader() && g.assignOnce(ctx, moved, &nothing, &aim)
		if planned {
			pause.For(ctx, assignGap)
		}
		again := time.NewTimer(assignEvery)
		select {
		case <-again.C:
		case <-moved:
		case <-led:
		case <-ctx.Done():
		}
		again.Stop()
	}
	return nil
}

// idle is what there was nothing to change for. The same plan of the same is
// not made twice a second: it looks at each partition and node.
type idle struct {
	moved <-chan struct{} // of the table that was looked at
	nodes []placement.Node
}

// assignOnce proposes what is to change now, and tells whether anything is. All
// of it names what it was planned from, so a plan that has been overtaken is
// refused, and the next one takes its place. moved was taken before.
func (g *Group) assignOnce(ctx context.Context, moved <-chan struct{}, nothing *idle, aim *aim) (planned bool) {
	nodes := g.MayOwn("")
	if len(nodes) == 0 || nothing.moved == moved && slices.Equal(nothing.nodes, nodes) && g.kept.none() {
		return false
	}
	for _, step := range plan(g.o.Placement.Table.Partitions(), nodes, g.kept.has, aim) {
		planned = true
		if err := g.commit(ctx, g.o.Placement.Table.EncodeMovePartitions(step.moves, step.why)); err != nil {
			g.logger.Info("partitions were not moved yet", "why", step.why, "partitions", len(step.moves), "error", err)
			return true
		}
		g.logger.Info("moved partitions", "why", step.why, "partitions", len(step.moves))
	}
	if !planned {
		*nothing = idle{moved, nodes}
	}
	return planned
}

// MayOwn are the members that have a lease and are to own partitions, but for
// one; "" leaves nobody out. One that is being removed may not; see able for the
// others. One that seems dead, or has come only now, is closed: it may flap. Where
// all of them are such, none is held back for being young. Of the leader it is
// what it plans for.
func (g *Group) MayOwn(without string) []placement.Node {
	members := make(map[string]agent.Member)
	for _, m := range g.machine.Members() {
		members[m.ID] = m
	}
	tick := g.Tick()
	errands := g.machine.FeatureLevel() >= agent.RemoteTurnsLevel
	var all []candidate
	var young []string
	open := 0
	for _, l := range g.o.Placement.Table.NodeLeases() {
		m, known := members[l.Node]
		if !known || m.Incarnation != l.Incarnation || l.Node == without || g.leaves(l.Node) {
			continue
		}
		n := placement.Node{Name: m.ID, Zone: m.Zone, Weight: m.Weight}
		n.Closed = g.o.Placement.Alive != nil && l.Node != g.o.NodeID && !g.o.Placement.Alive(l.Node)
		if !n.Closed && l.BegunTick+uint64(l.TTL.Milliseconds()) > tick {
			n.Closed = true
			young = append(young, n.Name)
		}
		if !n.Closed {
			open++
		}
		all = append(all, candidate{n, l.Handlers, errands && m.FeatureLevelMax >= agent.RemoteTurnsLevel})
	}
	nodes := able(all)
	for i := range nodes {
		if open == 0 && slices.Contains(young, nodes[i].Name) {
			nodes[i].Closed = false
		}
	}
	return nodes
}

// step is moves that share a reason.
type step struct {
	why   string
	moves []agent.PartitionMove
}

// plan says what is to change for the nodes to own what placement gives them.
func plan(table []*agent.Partition, nodes []placement.Node, kept func(n int) bool, aim *aim) []step {
	drains := 0
	for _, p := range table {
		if p.State == agent.PartitionDraining {
			drains++
		}
	}
	free := step{why: "nobody owned it"}
	drain := step{why: "another node has less than its share"}
	stay := step{why: "its next owner is gone, or has enough"}
	for i, to := range aim.target(ownersOf(table, nodes), nodes) {
		p := table[i]
		if to == p.Owner && p.State == agent.PartitionOwned {
			continue
		}
		move := agent.PartitionMove{Partition: p.ID, Epoch: p.Epoch, To: to}
		switch {
		case to == "":
		case p.State == agent.PartitionFree:
			move.Action = agent.PartitionAssign
			free.moves = append(free.moves, move)
		case to == p.Owner && p.State == agent.PartitionDraining:
			move.Action, move.To = agent.PartitionKeep, ""
			stay.moves = append(stay.moves, move)
		case to == p.Owner || to == p.To || kept(p.ID):
		case p.State == agent.PartitionDraining || drains < drainsMax:
			if p.State != agent.PartitionDraining {
				drains++
			}
			move.Action = agent.PartitionDrain
			drain.moves = append(drain.moves, move)
		}
	}
	var steps []step
	for _, s := range []step{free, stay, drain} {
		if len(s.moves) > 0 {
			steps = append(steps, s)
		}
	}
	return steps
}
