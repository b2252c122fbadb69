package fsm

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"dormouse/agent/layout"
	"dormouse/fsm/command"
	"dormouse/fsm/kv"
	"dormouse/fsm/rule"
	"dormouse/fsm/txn"
	logpb "dormouse/proto/log"
	"dormouse/storage"
)

// partitionTable holds the owner of each partition. Rows are replaced, never changed: tables share
// unchanged rows, and readers keep them.
type partitionTable struct {
	rows     [layout.Partitions]*layout.Partition
	draining layout.PartitionSet // the numbers of the draining rows
}

// noOwners is the table of a cluster in which no partition was ever owned.
var noOwners = func() *partitionTable {
	t := &partitionTable{}
	for n := range t.rows {
		t.rows[n] = &layout.Partition{ID: n, State: layout.PartitionFree}
	}
	return t
}()

func (t *partitionTable) set(p *layout.Partition) {
	t.rows[p.ID] = p
	if p.State == layout.PartitionDraining {
		t.draining.Add(p.ID)
	} else {
		t.draining.Remove(p.ID)
	}
}

// placed holds the nodes' leases, the partitions and the operators' rules, all in memory.
//
// Invariant: the owner of a partition has an unexpired lease in leases. The entry whose tick ends a
// lease frees its node's partitions before the entry's commits run. So a fence check only needs the
// table.
//
// It is copied before a change, so that a refused commit leaves the previous one, and readers keep
// theirs.
type placed struct {
	leases []layout.NodeLease // in node order
	table  *partitionTable
	rules  rule.Rules
	next   uint64 // number of the next event
}

func readPlaced(r storage.Reader) (placed, error) {
	table := *noOwners
	p := placed{table: &table, next: 1}
	err := txn.EachRow(r, kv.KindPartition, func(name string, raw []byte) error {
		n, err := decodePartition(name, raw)
		if err == nil {
			table.set(n)
		}
		return err
	})
	if err != nil {
		return placed{}, err
	}
	err = txn.EachRow(r, kv.KindNodeLease, func(node string, raw []byte) error {
		var row logpb.NodeLeaseRow
		if err := command.Unmarshal(raw, &row); err != nil {
			return fmt.Errorf("decode the lease of node %q: %w", node, err)
		}
		p.leases = append(p.leases, layout.NodeLease{
			Node: node, Incarnation: row.Incarnation, Life: row.Life, TTL: command.Duration(row.TtlMs),
			BegunTick: row.BegunTick, ArmedTick: row.ArmedTick, Handlers: row.Handlers, Replaced: row.Replaced,
		})
		return nil
	})
	if err != nil {
		return placed{}, err
	}
	err = txn.EachRow(r, kv.KindPlacementEvent, func(number string, _ []byte) error {
		p.next = kv.DecodeNumber(number) + 1
		return nil
	})
	if err != nil {
		return placed{}, err
	}
	p.rules, err = rule.Read(r)
	return p, err
}

func decodePartition(name string, raw []byte) (*layout.Partition, error) {
	n, err := rule.Partition(name)
	if err != nil {
		return nil, err
	}
	var row logpb.PartitionRow
	if err := command.Unmarshal(raw, &row); err != nil {
		return nil, fmt.Errorf("decode partition %x: %w", name, err)
	}
	p := &layout.Partition{
		ID: n, Owner: row.Owner, Incarnation: row.Life, Epoch: row.Epoch,
		State: layout.PartitionOwned, To: row.To, SinceIndex: row.SinceIndex, Since: row.SinceMs, Why: row.Why,
	}
	switch {
	case row.Owner == "":
		p.State = layout.PartitionFree
	case row.Draining:
		p.State = layout.PartitionDraining
	}
	return p, nil
}

// partition returns the state of a partition.
func (p placed) partition(n int) layout.Partition {
	return *p.table.rows[n]
}

// lease returns the unexpired lease of a node; ok is false if it has none.
func (p placed) lease(node string) (lease layout.NodeLease, ok bool) {
	at, ok := p.find(node)
	if !ok {
		return layout.NodeLease{}, false
	}
	return p.leases[at], true
}

func (p placed) find(node string) (at int, ok bool) {
	return slices.BinarySearchFunc(p.leases, node, func(l layout.NodeLease, node string) int { return strings.Compare(l.Node, node) })
}

// lapse returns the tick at which the first lease ends; 0 if there is none.
func (p placed) lapse(o txn.TermStart) uint64 {
	var first uint64
	for _, l := range p.leases {
		first = txn.Earliest(first, leaseLapse(l, o))
	}
	return first
}

// Partition returns the state of partition n at the newest entry; n must be from 0 to
// layout.Partitions-1. It only copies a row from memory.
func (m *Machine) Partition(n int) layout.Partition {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.placed.partition(n)
}

// Partitions returns all partitions, by number. The caller must change neither the slice nor its
// elements, which belong to the machine. An unchanged partition keeps its pointer.
func (m *Machine) Partitions() []*layout.Partition {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.placed.table.rows[:]
}

// PartitionsDraining returns the draining partitions, by number.
func (m *Machine) PartitionsDraining() (all []layout.Partition) {
	m.mu.RLock()
	table := m.placed.table
	m.mu.RUnlock()
	for n := range table.draining.All() {
		all = append(all, *table.rows[n])
	}
	return all
}

// NodeLeases returns the unexpired leases at the newest entry, in node order. The caller must not
// change the slice.
func (m *Machine) NodeLeases() []layout.NodeLease {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.placed.leases
}

// PartitionsChanged returns a channel that is closed after the next entry that changes an owner or
// a rule, or begins or ends a lease; renewals do not count. Get the channel first, then read the state.
func (m *Machine) PartitionsChanged() <-chan struct{} {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.moved
}

// ruleReader returns the newest rules to readers; its methods are promoted to Machine.
type ruleReader struct{ rules atomic.Pointer[rule.Rules] }

// DrainedNodes returns the drained members at the newest entry, in node order. The caller must not
// change the slice.
func (r *ruleReader) DrainedNodes() []layout.DrainedNode { return r.rules.Load().Drained }

// Pins returns the pins at the newest entry, by partition. The caller must not change the slice.
func (r *ruleReader) Pins() []layout.Pin { return r.rules.Load().Pins }

// showPlaced publishes the new owners to readers. Callers hold mu.
func (m *Machine) showPlaced(p placed, o txn.TermStart, moved bool) {
	m.placed, m.leaseDue = p, p.lapse(o)
	if rules := p.rules; moved || m.rules.Load() == nil {
		m.rules.Store(&rules)
	}
	if moved {
		close(m.moved)
		m.moved = make(chan struct{})
	}
}

// forgetPlaced deletes all owners, leases, events and rules: they name nodes of another cluster.
func forgetPlaced(b *storage.Batch) {
	for _, kind := range []string{kv.KindPartition, kv.KindNodeLease, kv.KindPlacementEvent, kv.KindDrained, kv.KindPartitionPin} {
		b.DeleteRange([]byte(kind), []byte(kv.After(kind)))
	}
}

// PlacementEvents returns the newest changes of owners, at most limit, newest first.
func (m *Machine) PlacementEvents(limit int) ([]layout.PlacementEvent, error) {
	view := m.View()
	defer view.Close()
	if view.err != nil {
		return nil, view.err
	}
	cursor, err := view.view.ScanBack([]byte(kv.KindPlacementEvent), []byte(kv.After(kv.KindPlacementEvent)))
	if err != nil {
		return nil, err
	}
	var events []layout.PlacementEvent
	for len(events) < limit && cursor.Next() {
		var p logpb.PlacementEvent
		if err := command.Unmarshal(cursor.Value(), &p); err != nil {
			_ = cursor.Close()
			return nil, fmt.Errorf("decode an event of the placement: %w", err)
		}
		e := layout.PlacementEvent{
			Index: p.Index, Time: p.TimeMs, Kind: layout.PlacementEventKind(p.Kind), From: p.From, To: p.To, Epoch: p.Epoch, Why: p.Why,
		}
		for _, n := range p.Partitions {
			e.Partitions = append(e.Partitions, int(n))
		}
		events = append(events, e)
	}
	return events, cursor.Close()
}
