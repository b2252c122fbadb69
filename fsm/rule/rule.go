// Package rule holds what operators say about the placement of partitions. A drained member owns
// none: it gets none, and the leader moves those that it has. A pin names the member that is to own
// a partition. Rules end with their member.
package rule

import (
	"cmp"
	"encoding/binary"
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

// Rules holds all rules in memory. Its slices are replaced, never changed, so readers may keep them.
//
// Invariant: each drained member is in the roster, and so is the member of each pin, which is not
// drained.
type Rules struct {
	Drained []layout.DrainedNode // in node order
	Pins    []layout.Pin         // by partition
}

// Read returns the stored rules.
func Read(r storage.Reader) (out Rules, err error) {
	err = txn.EachRow(r, kv.KindDrained, func(node string, raw []byte) error {
		var row logpb.DrainedRow
		if err := command.Unmarshal(raw, &row); err != nil {
			return fmt.Errorf("decode the row of the drained node %q: %w", node, err)
		}
		out.Drained = append(out.Drained, layout.DrainedNode{Node: node, Since: row.SinceMs})
		return nil
	})
	if err != nil {
		return Rules{}, err
	}
	err = txn.EachRow(r, kv.KindPartitionPin, func(name string, raw []byte) error {
		n, err := Partition(name)
		if err != nil {
			return err
		}
		var row logpb.PinRow
		if err := command.Unmarshal(raw, &row); err != nil {
			return fmt.Errorf("decode the pin of partition %d: %w", n, err)
		}
		out.Pins = append(out.Pins, layout.Pin{Partition: n, Node: row.Node, Since: row.SinceMs})
		return nil
	})
	return out, err
}

// Partition returns the partition that the key of a row names.
func Partition(name string) (int, error) {
	if len(name) != 2 || binary.BigEndian.Uint16([]byte(name)) >= layout.Partitions {
		return 0, fmt.Errorf("%w: there is a row of a partition %x", storage.ErrDamaged, name)
	}
	return int(binary.BigEndian.Uint16([]byte(name))), nil
}

// Known returns an error below the feature level of the rules.
func Known(e *txn.Entry) error {
	if e.Level < layout.RulesLevel {
		return agent.Errorf(agent.CodeConflict, "not all nodes of the cluster support drains and pins yet: upgrade all of them first")
	}
	return nil
}

func (r *Rules) findDrained(node string) (at int, drained bool) {
	return slices.BinarySearchFunc(r.Drained, node, func(d layout.DrainedNode, node string) int { return strings.Compare(d.Node, node) })
}

// IsDrained reports whether a member is drained.
func (r *Rules) IsDrained(node string) bool {
	_, drained := r.findDrained(node)
	return drained
}

// Drain drains a member that is not drained, and removes the pins to it.
func (r *Rules) Drain(e *txn.Entry, node string) {
	r.unpin(e, func(p layout.Pin) bool { return p.Node == node })
	e.Rows.Set(kv.KindDrained+node, command.Marshal(&logpb.DrainedRow{SinceMs: e.Progress.Wall}))
	at, _ := r.findDrained(node)
	r.Drained = slices.Insert(slices.Clone(r.Drained), at, layout.DrainedNode{Node: node, Since: e.Progress.Wall})
}

// Resume ends the drain of a member, and reports whether it was drained.
func (r *Rules) Resume(e *txn.Entry, node string) bool {
	at, drained := r.findDrained(node)
	if drained {
		e.Rows.Remove(kv.KindDrained + node)
		r.Drained = slices.Delete(slices.Clone(r.Drained), at, at+1)
	}
	return drained
}

// Pin pins a partition to a member. had reports whether it was pinned, and changed whether it was
// not pinned to that member.
func (r *Rules) Pin(e *txn.Entry, n int, node string) (had, changed bool) {
	at, had := slices.BinarySearchFunc(r.Pins, n, func(p layout.Pin, n int) int { return cmp.Compare(p.Partition, n) })
	if had && r.Pins[at].Node == node {
		return true, false
	}
	pin, pins := layout.Pin{Partition: n, Node: node, Since: e.Progress.Wall}, slices.Clone(r.Pins)
	if had {
		pins[at] = pin
	} else {
		pins = slices.Insert(pins, at, pin)
	}
	e.Rows.Set(kv.PartitionPinKey(n), command.Marshal(&logpb.PinRow{Node: node, SinceMs: pin.Since}))
	r.Pins = pins
	return had, true
}

// Unpin removes the pin of a partition, and reports whether it had one.
func (r *Rules) Unpin(e *txn.Entry, n int) bool {
	return r.unpin(e, func(p layout.Pin) bool { return p.Partition == n })
}

// End removes the rules for a member that has left, and reports whether there were any.
func (r *Rules) End(e *txn.Entry, node string) bool {
	drained := r.Resume(e, node)
	return r.unpin(e, func(p layout.Pin) bool { return p.Node == node }) || drained
}

func (r *Rules) unpin(e *txn.Entry, which func(layout.Pin) bool) bool {
	if !slices.ContainsFunc(r.Pins, which) {
		return false
	}
	r.Pins = slices.DeleteFunc(slices.Clone(r.Pins), func(p layout.Pin) bool {
		if !which(p) {
			return false
		}
		e.Rows.Remove(kv.PartitionPinKey(p.Partition))
		return true
	})
	return true
}
