package fsm

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/fsm/command"
	"dormouse/fsm/kv"
	"dormouse/fsm/txn"
	logpb "dormouse/proto/log"
	"dormouse/storage"
)

// Operators set two kinds of rules for the placement. A drained member owns no partitions: it gets
// none, and the leader moves those that it has. A pin names the member that is to own a partition.
// Both end with the member.

// rules holds the drained members and the pins. Its slices are replaced, never changed.
//
// Invariant: each drained member is in the roster, and so is the member of each pin, which is not
// drained.
type rules struct {
	drained []layout.DrainedNode // in node order
	pins    []layout.Pin         // by partition
}

func readRules(r storage.Reader) (out rules, err error) {
	err = txn.EachRow(r, kv.KindDrained, func(node string, raw []byte) error {
		var row logpb.DrainedRow
		if err := command.Unmarshal(raw, &row); err != nil {
			return fmt.Errorf("decode the row of the drained node %q: %w", node, err)
		}
		out.drained = append(out.drained, layout.DrainedNode{Node: node, Since: row.SinceMs})
		return nil
	})
	if err != nil {
		return rules{}, err
	}
	err = txn.EachRow(r, kv.KindPartitionPin, func(name string, raw []byte) error {
		pin, err := decodePin(name, raw)
		out.pins = append(out.pins, pin)
		return err
	})
	return out, err
}

func decodePin(name string, raw []byte) (layout.Pin, error) {
	n, err := decodePartitionNumber(name)
	if err != nil {
		return layout.Pin{}, err
	}
	var row logpb.PinRow
	if err := command.Unmarshal(raw, &row); err != nil {
		return layout.Pin{}, fmt.Errorf("decode the pin of partition %d: %w", n, err)
	}
	return layout.Pin{Partition: n, Node: row.Node, Since: row.SinceMs}, nil
}

func (r rules) findDrained(node string) (at int, drained bool) {
	return slices.BinarySearchFunc(r.drained, node, func(d layout.DrainedNode, node string) int { return strings.Compare(d.Node, node) })
}

func (r rules) isDrained(node string) bool {
	_, drained := r.findDrained(node)
	return drained
}

func (r rules) findPin(partition int) (at int, pinned bool) {
	return slices.BinarySearchFunc(r.pins, partition, func(p layout.Pin, n int) int { return cmp.Compare(p.Partition, n) })
}

// DrainedNodes returns the drained members at the newest entry, in node order. The caller must not
// change the slice.
func (m *Machine) DrainedNodes() []layout.DrainedNode {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.placed.rules.drained
}

// Pins returns the pins at the newest entry, by partition. The caller must not change the slice.
func (m *Machine) Pins() []layout.Pin {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.placed.rules.pins
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

// drainNode drains a member, or ends that. It refuses to drain the last member that may own
// partitions, and removes the pins to a member that it drains.
func (c machineCommit) drainNode(p *logpb.DrainNode) (agent.OpResult, error) {
	b := c.batch
	if err := b.rulesOf(p.Node); err != nil {
		return nil, err
	}
	at, had := b.placed.rules.findDrained(p.Node)
	if had == p.Drained {
		return &agent.DeleteResult{Existed: had}, nil
	}
	b.moved = true
	if !p.Drained {
		b.resume(p.Node)
		return &agent.DeleteResult{Existed: true}, nil
	}
	other := func(l layout.NodeLease) bool {
		return l.Node != p.Node && b.isNamed(l.Node) && !b.placed.rules.isDrained(l.Node)
	}
	if !slices.ContainsFunc(b.placed.leases, other) {
		return nil, agent.Errorf(agent.CodeConflict,
			"no other node could own the partitions of node %q: start one, or resume a drained one, and drain this one then", p.Node)
	}
	b.unpinAll(p.Node)
	b.Rows.Set(kv.KindDrained+p.Node, command.Marshal(&logpb.DrainedRow{SinceMs: b.Progress.Wall}))
	b.placed.rules.drained = slices.Insert(slices.Clone(b.placed.rules.drained), at, layout.DrainedNode{Node: p.Node, Since: b.Progress.Wall})
	return &agent.DeleteResult{}, nil
}

// pinPartition pins a partition to a member with a lease, or removes its pin.
func (c machineCommit) pinPartition(p *logpb.PinPartition) (agent.OpResult, error) {
	b := c.batch
	if err := b.rulesKnown(); err != nil {
		return nil, err
	}
	if p.Partition >= layout.Partitions {
		return nil, layout.InvalidPartition(int(p.Partition))
	}
	n := int(p.Partition)
	at, had := b.placed.rules.findPin(n)
	if p.Node == "" {
		if had {
			b.unpin(func(pin layout.Pin) bool { return pin.Partition == n })
		}
		return &agent.DeleteResult{Existed: had}, nil
	}
	if err := b.rulesOf(p.Node); err != nil {
		return nil, err
	}
	if b.placed.rules.isDrained(p.Node) {
		return nil, agent.Errorf(agent.CodeConflict, "node %q is drained, so it cannot own partition %d: resume it first, or name another node", p.Node, n)
	}
	if _, ok := b.placed.lease(p.Node); !ok {
		return nil, agent.Errorf(agent.CodeConflict, "node %q has no lease, so it cannot own partition %d: name a node that runs", p.Node, n)
	}
	pin := layout.Pin{Partition: n, Node: p.Node, Since: b.Progress.Wall}
	pins := slices.Clone(b.placed.rules.pins)
	switch {
	case !had:
		pins = slices.Insert(pins, at, pin)
	case pins[at].Node == p.Node:
		return &agent.DeleteResult{Existed: true}, nil
	default:
		pins[at] = pin
	}
	b.Rows.Set(kv.PartitionPinKey(n), command.Marshal(&logpb.PinRow{Node: p.Node, SinceMs: pin.Since}))
	b.placed.rules.pins, b.moved = pins, true
	return &agent.DeleteResult{Existed: had}, nil
}

// rulesKnown returns an error below the feature level of the rules.
func (b *batch) rulesKnown() error {
	if b.Level < layout.RulesLevel {
		return agent.Errorf(agent.CodeConflict, "not all nodes of the cluster support drains and pins yet: upgrade all of them first")
	}
	return nil
}

// rulesOf returns an error if no rule can name the member.
func (b *batch) rulesOf(node string) error {
	if err := b.rulesKnown(); err != nil {
		return err
	}
	if err := agent.ValidKey("node", node); err != nil {
		return err
	}
	if !b.isNamed(node) {
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
	b.resume(node)
	b.unpinAll(node)
}

func (b *batch) resume(node string) {
	if at, drained := b.placed.rules.findDrained(node); drained {
		b.Rows.Remove(kv.KindDrained + node)
		b.placed.rules.drained = slices.Delete(slices.Clone(b.placed.rules.drained), at, at+1)
		b.moved = true
	}
}

func (b *batch) unpinAll(node string) { b.unpin(func(p layout.Pin) bool { return p.Node == node }) }

func (b *batch) unpin(which func(layout.Pin) bool) {
	if !slices.ContainsFunc(b.placed.rules.pins, which) {
		return
	}
	b.placed.rules.pins = slices.DeleteFunc(slices.Clone(b.placed.rules.pins), func(p layout.Pin) bool {
		if !which(p) {
			return false
		}
		b.Rows.Remove(kv.PartitionPinKey(p.Partition))
		return true
	})
	b.moved = true
}
