package fsm

import (
	"slices"

	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/fsm/rule"
	"dormouse/internal/invariant"
	"dormouse/internal/seededbug"
	logpb "dormouse/proto/log"
)

// EncodeMovePartitions encodes a commit that makes either all the moves or none.
func (encoders) EncodeMovePartitions(moves []layout.PartitionMove, why string) []byte {
	p := &logpb.MovePartitions{Why: why}
	for _, move := range moves {
		p.Moves = append(p.Moves, &logpb.PartitionMove{
			Partition: uint32(move.Partition), Epoch: move.Epoch, Action: actions[move.Action], To: move.To,
		})
	}
	return encodeClusterOp(&logpb.ClusterOp{Op: &logpb.ClusterOp_MovePartitions{MovePartitions: p}})
}

// EncodeDrainNode encodes a commit that drains a member, or ends that.
func (encoders) EncodeDrainNode(node string, drained bool) []byte {
	return encodeClusterOp(&logpb.ClusterOp{Op: &logpb.ClusterOp_DrainNode{DrainNode: &logpb.DrainNode{Node: node, Drained: drained}}})
}

// EncodePinPartition encodes a commit that pins a partition to a member; "" removes its pin.
func (encoders) EncodePinPartition(partition int, node string) []byte {
	return encodeClusterOp(&logpb.ClusterOp{Op: &logpb.ClusterOp_PinPartition{
		PinPartition: &logpb.PinPartition{Partition: uint32(partition), Node: node},
	}})
}

var actions = map[layout.PartitionAction]logpb.PartitionAction{
	layout.PartitionAssign:  logpb.PartitionAction_PARTITION_ACTION_ASSIGN,
	layout.PartitionDrain:   logpb.PartitionAction_PARTITION_ACTION_DRAIN,
	layout.PartitionKeep:    logpb.PartitionAction_PARTITION_ACTION_KEEP,
	layout.PartitionRelease: logpb.PartitionAction_PARTITION_ACTION_RELEASE,
}

// moving is one commit's moves while they are applied. All partitions that it assigns get the same
// new epoch, so no partition reuses an epoch.
type moving struct {
	machineCommit

	why    string
	epoch  uint64 // 0 until the first assignment
	events []*logpb.PlacementEvent
	of     map[eventKey]int // :: event → its place in events and parts
	parts  [][]int
}

type eventKey struct {
	kind          layout.PlacementEventKind
	from, to, why string
}

// movePartitions makes the moves and records events: one for all moves with the same kind, source,
// target and reason.
func (c machineCommit) movePartitions(p *logpb.MovePartitions) (agent.OpResult, error) {
	if len(p.Moves) > layout.Partitions {
		return nil, agent.TooLarge("moves", "partitions", len(p.Moves), layout.Partitions)
	}
	if len(p.Why) > layout.PlacementWhyBytesMax {
		return nil, agent.TooLarge("why", "placement_why_bytes_max", len(p.Why), layout.PlacementWhyBytesMax)
	}
	m := &moving{machineCommit: c, why: p.Why, of: map[eventKey]int{}}
	c.batch.ownTable()
	for _, move := range p.Moves {
		if err := m.move(move); err != nil {
			return nil, err
		}
	}
	for i, e := range m.events {
		if err := c.batch.trail(e, m.parts[i]); err != nil {
			return nil, err
		}
	}
	return &agent.DeleteResult{Existed: len(p.Moves) > 0}, nil
}

func (m *moving) move(p *logpb.PartitionMove) error {
	if p.GetPartition() >= layout.Partitions {
		return layout.InvalidPartition(int(p.GetPartition()))
	}
	now := m.batch.placed.partition(int(p.Partition))
	if now.Epoch != p.Epoch {
		e := agent.Errorf(agent.CodeConflict, "partition %d is %s at epoch %d, not at epoch %d", now.ID, now.State, now.Epoch, p.Epoch)
		e.Epoch, e.Holder = now.Epoch, now.Owner
		return e
	}
	switch p.Action {
	case logpb.PartitionAction_PARTITION_ACTION_ASSIGN:
		if now.State != layout.PartitionFree {
			return wrongState(now, "assigned")
		}
		if err := m.mayOwn(p.To, now.ID); err != nil {
			return err
		}
		return m.give(now, p.To, layout.EventAssigned)
	case logpb.PartitionAction_PARTITION_ACTION_DRAIN:
		if _, ok := m.batch.placed.lease(p.To); !ok || now.State == layout.PartitionFree || p.To == now.Owner {
			return wrongState(now, "drained for node "+p.To)
		}
		if err := m.mayOwn(p.To, now.ID); err != nil {
			return err
		}
		now.State, now.To = layout.PartitionDraining, p.To
		return m.store(now, layout.EventDraining, now.Owner, p.To)
	case logpb.PartitionAction_PARTITION_ACTION_KEEP:
		if now.State != layout.PartitionDraining {
			return wrongState(now, "kept")
		}
		to := now.To
		now.State, now.To = layout.PartitionOwned, ""
		return m.store(now, layout.EventKept, now.Owner, to)
	case logpb.PartitionAction_PARTITION_ACTION_RELEASE:
		return m.release(now)
	default:
		return agent.Invalid("action", "action = %d is unknown", p.Action)
	}
}

func wrongState(p layout.Partition, what string) error {
	return agent.Errorf(agent.CodeConflict, "partition %d is %s, and cannot be %s", p.ID, p.State, what)
}

// give makes a node with a lease the owner, under a new epoch.
func (m *moving) give(now layout.Partition, to string, kind layout.PlacementEventKind) error {
	lease, ok := m.batch.placed.lease(to)
	if !ok {
		return agent.Errorf(agent.CodeConflict, "node %q has no lease, so it cannot own partition %d", to, now.ID)
	}
	if m.epoch == 0 {
		m.epoch = m.NewIncarnation()
	}
	invariant.Check(m.epoch > now.Epoch, "partition %d: epoch %d follows %d", now.ID, m.epoch, now.Epoch)
	next := layout.Partition{ID: now.ID, Owner: to, Incarnation: lease.Life, Epoch: m.epoch, State: layout.PartitionOwned}
	return m.store(next, kind, now.Owner, to)
}

// mayOwn returns an error if a node is drained.
func (m *moving) mayOwn(node string, partition int) error {
	if m.batch.placed.rules.IsDrained(node) {
		return agent.Errorf(agent.CodeConflict, "node %q is drained, so it cannot own partition %d", node, partition)
	}
	return nil
}

// release ends the ownership of a partition. If it was draining for a node that still has a lease
// and is not drained itself, that node becomes the owner at once, for the reason that the partition
// drained.
func (m *moving) release(now layout.Partition) error {
	if now.State == layout.PartitionFree {
		return wrongState(now, "released")
	}
	if now.State == layout.PartitionDraining && m.Level >= layout.RulesLevel {
		defer func(why string) { m.why = why }(m.why)
		m.why = now.Why
	}
	if _, ok := m.batch.placed.lease(now.To); ok && !m.batch.placed.rules.IsDrained(now.To) {
		m.batch.counted.Drained++
		return m.give(now, now.To, layout.EventMoved)
	}
	return m.store(layout.Partition{ID: now.ID, State: layout.PartitionFree}, layout.EventReleased, now.Owner, "")
}

func (m *moving) store(p layout.Partition, kind layout.PlacementEventKind, from, to string) error {
	p.Why = m.why
	if err := m.batch.storePartition(p); err != nil {
		return err
	}
	key := eventKey{kind, from, to, m.why}
	at, known := m.of[key]
	if !known {
		at = len(m.events)
		m.of[key] = at
		m.events = append(m.events, &logpb.PlacementEvent{Kind: string(kind), From: from, To: to, Why: m.why})
		m.parts = append(m.parts, nil)
	}
	m.events[at].Epoch = max(m.events[at].Epoch, p.Epoch)
	m.parts[at] = append(m.parts[at], p.ID)
	return nil
}

// fencedPartition refuses a commit whose epoch is not the partition's current one. The owner of a
// partition always has a lease: see placed.
func (b *batch) fencedPartition(n int, epoch uint64) error {
	now := b.placed.partition(n)
	if epoch != 0 && now.Epoch == epoch || seededbug.Is(seededbug.NoPartitionFence) {
		return nil
	}
	e := agent.Errorf(agent.CodeFenced, "epoch %d of partition %d has ended: node %q owns it now, at epoch %d", epoch, n, now.Owner, now.Epoch)
	if now.Owner == "" {
		e = agent.Errorf(agent.CodeFenced, "epoch %d of partition %d has ended, and no node owns it now", epoch, n)
	}
	e.Epoch, e.Holder = now.Epoch, now.Owner
	return e
}

// drainNode drains a member, or ends that. It refuses to drain the last member that may own
// partitions, and removes the pins to a member that it drains.
func (c machineCommit) drainNode(p *logpb.DrainNode) (agent.OpResult, error) {
	if err := c.rulable(p.Node); err != nil {
		return nil, err
	}
	b, rules := c.batch, &c.batch.placed.rules
	had := rules.IsDrained(p.Node)
	switch {
	case had == p.Drained:
		return &agent.DeleteResult{Existed: had}, nil
	case had:
		rules.Resume(c.Entry, p.Node)
	case !slices.ContainsFunc(b.placed.leases, func(l layout.NodeLease) bool {
		return l.Node != p.Node && b.isNamed(l.Node) && !rules.IsDrained(l.Node)
	}):
		return nil, agent.Errorf(agent.CodeConflict,
			"no other node could own the partitions of node %q: start one, or resume a drained one, and drain this one then", p.Node)
	default:
		rules.Drain(c.Entry, p.Node)
	}
	b.moved = true
	return &agent.DeleteResult{Existed: had}, nil
}

// pinPartition pins a partition to a member with a lease, or removes its pin.
func (c machineCommit) pinPartition(p *logpb.PinPartition) (agent.OpResult, error) {
	if err := rule.Known(c.Entry); err != nil {
		return nil, err
	}
	if p.Partition >= layout.Partitions {
		return nil, layout.InvalidPartition(int(p.Partition))
	}
	b, n, rules := c.batch, int(p.Partition), &c.batch.placed.rules
	if p.Node == "" {
		had := rules.Unpin(c.Entry, n)
		b.moved = b.moved || had
		return &agent.DeleteResult{Existed: had}, nil
	}
	if err := c.rulable(p.Node); err != nil {
		return nil, err
	}
	if rules.IsDrained(p.Node) {
		return nil, agent.Errorf(agent.CodeConflict, "node %q is drained, so it cannot own partition %d: resume it first, or name another node", p.Node, n)
	}
	if _, ok := b.placed.lease(p.Node); !ok {
		return nil, agent.Errorf(agent.CodeConflict, "node %q has no lease, so it cannot own partition %d: name a node that runs", p.Node, n)
	}
	had, changed := rules.Pin(c.Entry, n, p.Node)
	b.moved = b.moved || changed
	return &agent.DeleteResult{Existed: had}, nil
}

// rulable returns an error if no rule can name a member.
func (c machineCommit) rulable(node string) error {
	if err := rule.Known(c.Entry); err != nil {
		return err
	}
	if err := agent.ValidKey("node", node); err != nil {
		return err
	}
	if !c.batch.isNamed(node) {
		return layout.UnknownMember(node)
	}
	return nil
}

// isNamed reports whether a member has that name. A member that was removed keeps its lease for a
// while.
func (b *batch) isNamed(node string) bool {
	return slices.ContainsFunc(b.currentRoster().members, func(m layout.Member) bool { return m.ID == node })
}

// endRules removes the rules for a member that has left.
func (b *batch) endRules(node string) {
	ended := b.placed.rules.End(b.Entry, node)
	b.moved = b.moved || ended
}
