package fsm

import (
	"slices"
	"strings"
	"time"

	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/fsm/command"
	"dormouse/fsm/kv"
	"dormouse/fsm/txn"
	"dormouse/internal/seededbug"
	logpb "dormouse/proto/log"
)

// leaseLapse returns the tick at which a lease ends unless it is renewed. A change of leader
// restarts the full TTL of each unexpired lease, as it does for claims.
func leaseLapse(l layout.NodeLease, o txn.TermStart) uint64 {
	return txn.AddTicks(max(l.ArmedTick, o.Tick), command.Millis(l.TTL))
}

// EncodeRenewNodeLease encodes a commit that renews or begins the lease of a node's process. row is
// the member row of a host, which is written with the lease; nil for nodes.
func (encoders) EncodeRenewNodeLease(l layout.NodeLease, row *layout.Member) []byte {
	p := &logpb.RenewNodeLease{
		Node: l.Node, Incarnation: l.Incarnation, Life: l.Life, TtlMs: command.Millis(l.TTL), Handlers: l.Handlers,
	}
	if row != nil {
		p.Host = &logpb.Host{
			Addr: row.RaftAddr, Version: row.Version, FeatureLevelMax: row.FeatureLevelMax, Zone: row.Zone, Weight: uint32(max(row.Weight, 0)),
		}
	}
	return encodeClusterOp(&logpb.ClusterOp{Op: &logpb.ClusterOp_RenewNodeLease{RenewNodeLease: p}})
}

// EncodeEndNodeLease encodes a commit that ends the lease of a node's process and frees the
// node's partitions.
func (encoders) EncodeEndNodeLease(node, process string) []byte {
	return encodeClusterOp(&logpb.ClusterOp{Op: &logpb.ClusterOp_EndNodeLease{EndNodeLease: &logpb.EndNodeLease{Node: node, Life: process}}})
}

// EncodeLapseNodeLease encodes a commit that ends the lease of a node's process once it has expired by
// the clock of the leader of a term. It has no effect in another term, or if the process renewed the
// lease in the term.
func (encoders) EncodeLapseNodeLease(node, process string, term uint64) []byte {
	return encodeClusterOp(&logpb.ClusterOp{Op: &logpb.ClusterOp_EndNodeLease{EndNodeLease: &logpb.EndNodeLease{Node: node, Life: process, Term: term}}})
}

// renewNodeLease renews a lease. A lease that has ended begins again and owns nothing. A new
// process takes over at once from an earlier one of the same data directory: the earlier one has
// ended, because a process locks its directory.
func (c machineCommit) renewNodeLease(p *logpb.RenewNodeLease) (agent.OpResult, error) {
	if err := validLease(p.Node, p.Life, command.Duration(p.TtlMs)); err != nil {
		return nil, err
	}
	if p.Host != nil {
		if err := c.beHost(p); err != nil {
			return nil, err
		}
	} else if !c.batch.isMember(p.Node, p.Incarnation) {
		return nil, agent.Errorf(agent.CodeNotFound, "no member is called %q with this data directory", p.Node)
	}
	old, had := c.batch.placed.lease(p.Node)
	if had && old.Incarnation != p.Incarnation {
		return nil, agent.Errorf(agent.CodeAlreadyClaimed, "a node %q with another data directory has a lease: wait until it expires", p.Node)
	}
	if had && old.Replaced == p.Life && c.Level >= layout.LapseLevel { // its request was delayed
		return nil, agent.Errorf(agent.CodeAlreadyClaimed, "a newer process of node %q has the lease", p.Node)
	}
	now := c.Progress.Tick
	if seededbug.Is(seededbug.WallClockLease) {
		now = uint64(c.Progress.Wall)
	}
	if c.Level >= layout.LapseLevel {
		now = max(now, txn.AddTicks(c.Opening.Tick, 1)) // tells the term's renewals from earlier ones
	}
	lease := layout.NodeLease{
		Node: p.Node, Incarnation: p.Incarnation, Life: p.Life, TTL: command.Duration(p.TtlMs), BegunTick: now, ArmedTick: now,
	}
	if had && old.Life == p.Life {
		lease.BegunTick, lease.Handlers, lease.Replaced = old.BegunTick, old.Handlers, old.Replaced
	} else {
		if err := c.batch.agreeable(p.Node, p.Handlers); err != nil {
			return nil, err
		}
		lease.Handlers = p.Handlers
		c.batch.moved = true
	}
	if had && old.Life != p.Life {
		if c.Level >= layout.LapseLevel {
			lease.Replaced = old.Life
		}
		if err := c.batch.free(p.Node, layout.EventEnded, "node "+p.Node+" was restarted"); err != nil {
			return nil, err
		}
	}
	c.batch.storeLease(lease)
	return &agent.DeleteResult{Existed: had}, nil
}

// endNodeLease ends a lease; a missing lease is no error.
func (c machineCommit) endNodeLease(p *logpb.EndNodeLease) (agent.OpResult, error) {
	if err := validLease(p.Node, p.Life, layout.NodeLeaseTTLMin); err != nil {
		return nil, err
	}
	lease, ok := c.batch.placed.lease(p.Node)
	if !ok || lease.Life != p.Life {
		return &agent.DeleteResult{}, nil
	}
	if p.Term == 0 {
		return &agent.DeleteResult{Existed: true}, c.batch.dropLease(p.Node, layout.EventEnded, "node "+p.Node+" stops")
	}
	if o := c.Opening; o.Term != p.Term || c.Progress.Term != p.Term || lease.ArmedTick > o.Tick {
		return &agent.DeleteResult{}, nil
	}
	return &agent.DeleteResult{Existed: true}, lapse(c.batch, p.Node)
}

func validLease(node, life string, ttl time.Duration) error {
	if err := agent.ValidKey("node", node); err != nil {
		return err
	}
	if err := agent.ValidKey("life", life); err != nil {
		return err
	}
	if ttl < layout.NodeLeaseTTLMin || ttl > layout.NodeLeaseTTLMax {
		return agent.Invalid("ttl", "ttl = %v must be from %v to %v", ttl, layout.NodeLeaseTTLMin, layout.NodeLeaseTTLMax)
	}
	return nil
}

// isMember reports whether there is a node of that name and data directory.
func (b *batch) isMember(id, incarnation string) bool {
	return slices.ContainsFunc(b.currentRoster().members, func(m layout.Member) bool { return m.ID == id && m.Incarnation == incarnation && !m.Host })
}

func (b *batch) storeLease(l layout.NodeLease) {
	raw := command.Marshal(&logpb.NodeLeaseRow{
		Incarnation: l.Incarnation, Life: l.Life, TtlMs: command.Millis(l.TTL), BegunTick: l.BegunTick, ArmedTick: l.ArmedTick, Handlers: l.Handlers, Replaced: l.Replaced,
	})
	b.Rows.Set(kv.KindNodeLease+l.Node, raw)
	b.placed.leases = slices.Clone(b.placed.leases)
	if at, found := b.placed.find(l.Node); found {
		b.placed.leases[at] = l
	} else {
		b.placed.leases = slices.Insert(b.placed.leases, at, l)
	}
}

// dropLease removes a lease and the member row of its host, and frees the partitions of its node.
func (b *batch) dropLease(node string, kind layout.PlacementEventKind, why string) error {
	if lease, ok := b.placed.lease(node); ok {
		b.dropHost(lease)
	}
	b.Rows.Remove(kv.KindNodeLease + node)
	b.placed.leases = slices.DeleteFunc(slices.Clone(b.placed.leases), func(l layout.NodeLease) bool { return l.Node == node })
	b.moved = true
	return b.free(node, kind, why)
}

// sweepLeases ends all leases that have expired at a tick. It visits each lease in memory: at most
// one per member.
func (b *batch) sweepLeases(tick uint64) error {
	if seededbug.Is(seededbug.WallClockLease) {
		tick = uint64(b.Progress.Wall)
	}
	for _, l := range b.placed.leases { // ranges over the slice as it was before
		if leaseLapse(l, b.Opening) > tick {
			continue
		}
		if err := lapse(b, l.Node); err != nil {
			return err
		}
	}
	return nil
}

func lapse(b *batch, node string) error {
	b.counted.LeasesEnded++
	return b.dropLease(node, layout.EventLapsed, "the lease of node "+node+" lapsed")
}

// free frees all partitions that a node owns.
func (b *batch) free(node string, kind layout.PlacementEventKind, why string) error {
	var freed []int
	table := b.ownTable()
	for n, row := range table.rows[:] {
		if row.Owner != node {
			continue
		}
		if err := b.storePartition(layout.Partition{ID: n, State: layout.PartitionFree, Why: why}); err != nil {
			return err
		}
		freed = append(freed, n)
	}
	if freed == nil {
		return nil
	}
	return b.trail(&logpb.PlacementEvent{Kind: string(kind), From: node, Why: why}, freed)
}

// ownTable returns a copy of the table, which the commit may change.
func (b *batch) ownTable() *partitionTable {
	table := *b.placed.table
	b.placed.table = &table
	return &table
}

// storePartition writes the new state of a partition. The commit must own the table: see ownTable.
func (b *batch) storePartition(p layout.Partition) error {
	p.SinceIndex, p.Since = b.Progress.Index, b.Progress.Wall
	raw := command.Marshal(&logpb.PartitionRow{
		Owner: p.Owner, Life: p.Incarnation, Epoch: p.Epoch, To: p.To, Draining: p.State == layout.PartitionDraining,
		SinceIndex: p.SinceIndex, SinceMs: p.Since, Why: p.Why,
	})
	b.Rows.Set(kv.PartitionKey(p.ID), raw)
	b.placed.table.set(&p)
	b.moved = true
	return nil
}

// trail adds an event to the placement history, which keeps the newest events.
func (b *batch) trail(e *logpb.PlacementEvent, partitions []int) error {
	e.Index, e.TimeMs, e.Why = b.Progress.Index, b.Progress.Wall, strings.ToValidUTF8(e.Why, "�")
	for _, n := range partitions {
		e.Partitions = append(e.Partitions, uint32(n))
	}
	raw := command.Marshal(e)
	number := b.placed.next
	b.placed.next++
	b.Rows.Set(kv.KindPlacementEvent+kv.EncodeNumber(number), raw)
	if number > layout.PlacementEventsMax {
		b.Rows.Remove(kv.KindPlacementEvent + kv.EncodeNumber(number-layout.PlacementEventsMax))
	}
	return nil
}
