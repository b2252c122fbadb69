package fsm

import (
	"dormouse/agent"
	"dormouse/agent/layout"
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
	kind     layout.PlacementEventKind
	from, to string
}

// movePartitions makes the moves and records events: one for all moves with the same kind, source
// and target.
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
		return agent.Invalid("partition", "partition = %d must be below %d", p.GetPartition(), layout.Partitions)
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
		return m.give(now, p.To, layout.EventAssigned)
	case logpb.PartitionAction_PARTITION_ACTION_DRAIN:
		if _, ok := m.batch.placed.lease(p.To); !ok || now.State == layout.PartitionFree || p.To == now.Owner {
			return wrongState(now, "drained for node "+p.To)
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

// release ends the ownership of a partition. If it was draining for a node that still has a lease,
// that node becomes the owner at once.
func (m *moving) release(now layout.Partition) error {
	if now.State == layout.PartitionFree {
		return wrongState(now, "released")
	}
	if _, ok := m.batch.placed.lease(now.To); ok {
		m.batch.machine.Counters.Drained.Add(1)
		return m.give(now, now.To, layout.EventMoved)
	}
	return m.store(layout.Partition{ID: now.ID, State: layout.PartitionFree}, layout.EventReleased, now.Owner, "")
}

func (m *moving) store(p layout.Partition, kind layout.PlacementEventKind, from, to string) error {
	p.Why = m.why
	if err := m.batch.storePartition(p); err != nil {
		return err
	}
	key := eventKey{kind, from, to}
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
