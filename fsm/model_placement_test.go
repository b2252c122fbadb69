package fsm_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/fsm"
	"dormouse/fsm/kv"
)

// wellOwned checks invariants that hold after any entry: the owner of a partition is a process with
// a lease; a host has a lease; and of any two processes one has all the handlers of the other.
func wellOwned(t interface{ Fatalf(string, ...any) }, m *fsm.Machine) {
	lives, data := map[string]string{}, map[string]string{}
	for _, l := range m.NodeLeases() {
		lives[l.Node], data[l.Node] = l.Life, l.Incarnation
		for _, o := range m.NodeLeases() {
			if m.FeatureLevel() < layout.RemoteTurnsLevel && layout.MissingHandlers(l.Handlers, o.Handlers) != nil && layout.MissingHandlers(o.Handlers, l.Handlers) != nil {
				t.Fatalf("%s and %s have handlers apart: %v, %v", l.Node, o.Node, l.Handlers, o.Handlers)
			}
		}
	}
	for _, member := range m.Members() {
		if member.Host && data[member.ID] != member.Incarnation {
			t.Fatalf("%+v, whose lease is that of %q", member, data[member.ID])
		}
	}
	wellRuled(t, m)
	var draining []layout.Partition
	for _, p := range m.Partitions() {
		if p.State == layout.PartitionDraining {
			draining = append(draining, *p)
		}
		free := p.State == layout.PartitionFree
		if free != (p.Owner == "") || free != (p.Epoch == 0) || (p.State == layout.PartitionDraining) != (p.To != "") {
			t.Fatalf("%+v is neither free nor owned", p)
		}
		if !free && lives[p.Owner] != p.Incarnation {
			t.Fatalf("%+v, whose owner's lease is %q", p, lives[p.Owner])
		}
	}
	if got := m.PartitionsDraining(); !slices.Equal(got, draining) {
		t.Fatalf("%+v drain, want %+v", got, draining)
	}
}

// wellRuled checks that each rule names a member, and that no pin names a drained one.
func wellRuled(t interface{ Fatalf(string, ...any) }, m *fsm.Machine) {
	drained := map[string]bool{}
	for _, member := range m.Members() {
		drained[member.ID] = false
	}
	for _, d := range m.DrainedNodes() {
		if _, known := drained[d.Node]; !known {
			t.Fatalf("%+v is no member", d)
		}
		drained[d.Node] = true
	}
	for _, p := range m.Pins() {
		if is, known := drained[p.Node]; is || !known {
			t.Fatalf("%+v: its member is drained (%v), or none (%v)", p, is, !known)
		}
	}
}

// ownersModel is a simple model of partition ownership.
type ownersModel struct {
	clusterOps
	ends     map[string]uint64 // :: node → the tick at which its lease ends
	lives    map[string]string
	replaced map[string]string // :: node → the process before the one that has the lease, from LapseLevel on
	owners   map[int]layout.Partition
	epochs   map[int]uint64 // :: partition → its greatest epoch so far

	ruled   bool // the cluster is at the feature level of rules
	drained map[string]bool
	pins    map[int]string // :: partition → node
}

// pass ends leases that have expired.
func (m *ownersModel) pass() {
	for node, at := range m.ends {
		if at <= m.tick {
			m.end(node)
		}
	}
}

func (m *ownersModel) end(node string) {
	delete(m.ends, node)
	delete(m.lives, node)
	for n, p := range m.owners {
		if p.Owner == node {
			delete(m.owners, n)
		}
	}
}

func (m *ownersModel) give(n int, to string) {
	m.owners[n] = layout.Partition{Owner: to, Incarnation: m.lives[to], State: layout.PartitionOwned}
}

// move applies a move to the model, and reports whether it is allowed.
func (m *ownersModel) move(n int, action layout.PartitionAction, to string) bool {
	p, owned := m.owners[n]
	leased := m.mayOwn(to)
	switch action {
	case layout.PartitionAssign:
		if owned || !leased {
			return false
		}
		m.give(n, to)
	case layout.PartitionDrain:
		if !owned || !leased || to == p.Owner {
			return false
		}
		p.State, p.To = layout.PartitionDraining, to
		m.owners[n] = p
	case layout.PartitionKeep:
		if p.State != layout.PartitionDraining {
			return false
		}
		p.State, p.To = layout.PartitionOwned, ""
		m.owners[n] = p
	default:
		if !owned {
			return false
		}
		delete(m.owners, n)
		if m.mayOwn(p.To) {
			m.give(n, p.To)
		}
	}
	return true
}

// mayOwn reports whether a node may get partitions.
func (m *ownersModel) mayOwn(node string) bool {
	_, leased := m.lives[node]
	return leased && !m.drained[node]
}

// drain drains a node in the model, and reports whether that is allowed.
func (m *ownersModel) drain(node string) bool {
	others := 0
	for other := range m.lives {
		if other != node && m.mayOwn(other) {
			others++
		}
	}
	if !m.ruled || !m.drained[node] && others == 0 {
		return false
	}
	m.drained[node] = true
	maps.DeleteFunc(m.pins, func(_ int, to string) bool { return to == node })
	return true
}

// rule makes a rule for the placement, in both.
func (m *ownersModel) rule(t *rapid.T, n int, node string) {
	var err *agent.Error
	var want bool
	what := rapid.SampledFrom([]string{"drain", "resume", "pin", "unpin"}).Draw(t, "rule")
	switch what {
	case "drain":
		want, err = m.drain(node), m.say(m.machine.EncodeDrainNode(node, true))
	case "resume":
		want, err = m.ruled, m.say(m.machine.EncodeDrainNode(node, false))
		delete(m.drained, node)
	case "pin":
		want, err = m.ruled && m.mayOwn(node), m.say(m.machine.EncodePinPartition(n, node))
		if want {
			m.pins[n] = node
		}
	default:
		want, err = m.ruled, m.say(m.machine.EncodePinPartition(n, ""))
		delete(m.pins, n)
	}
	if (err == nil) != want {
		t.Fatalf("%s %s, partition %d: %v", what, node, n, err)
	}
}

// agreesOnRules compares the rules of the machine with the model's.
func (m *ownersModel) agreesOnRules(t *rapid.T) {
	t.Helper()
	drained, pins := m.machine.DrainedNodes(), m.machine.Pins()
	if len(drained) != len(m.drained) || len(pins) != len(m.pins) || m.rows(kv.KindDrained) != len(drained) || m.rows(kv.KindPartitionPin) != len(pins) {
		t.Fatalf("drained %+v, want %v; pins %+v, want %v", drained, m.drained, pins, m.pins)
	}
	for _, d := range drained {
		if !m.drained[d.Node] {
			t.Fatalf("%+v is not drained", d)
		}
	}
	for i, p := range pins {
		if m.pins[p.Partition] != p.Node || i > 0 && pins[i-1].Partition >= p.Partition {
			t.Fatalf("pins %+v, want %v", pins, m.pins)
		}
	}
}

// agrees compares the machine with the model.
func (m *ownersModel) agrees(t *rapid.T) {
	t.Helper()
	wellOwned(t, m.machine)
	m.agreesOnRules(t)
	for _, p := range m.machine.Partitions() {
		want := m.owners[p.ID]
		if want.State == "" {
			want.State = layout.PartitionFree
		}
		if p.Owner != want.Owner || p.Incarnation != want.Incarnation || p.State != want.State || p.To != want.To {
			t.Fatalf("%+v, want %+v", p, want)
		}
		if p.Epoch == 0 {
			continue
		}
		if p.Epoch < m.epochs[p.ID] {
			t.Fatalf("partition %d: epoch %d after %d", p.ID, p.Epoch, m.epochs[p.ID])
		}
		if p.Epoch == m.epochs[p.ID] && m.owners[p.ID].Epoch == 0 {
			t.Fatalf("partition %d: another owning under epoch %d", p.ID, p.Epoch)
		}
		m.epochs[p.ID] = p.Epoch
		o := m.owners[p.ID]
		o.Epoch = p.Epoch
		m.owners[p.ID] = o
	}
	var leased []string
	for _, l := range m.machine.NodeLeases() {
		leased = append(leased, l.Node)
		if m.lives[l.Node] != l.Life {
			t.Fatalf("%+v, want life %q", l, m.lives[l.Node])
		}
	}
	if len(leased) != len(m.lives) || !slices.IsSorted(leased) {
		t.Fatalf("leases %v, want those of %v", leased, m.lives)
	}
}

func (m *ownersModel) step(t *rapid.T) {
	node := fmt.Sprint("n", rapid.IntRange(1, 3).Draw(t, "node"))
	life := fmt.Sprint("life-", rapid.IntRange(1, 2).Draw(t, "life"))
	n := rapid.IntRange(0, 5).Draw(t, "partition")
	switch rapid.IntRange(0, 12).Draw(t, "step") {
	case 0:
		m.after(time.Duration(rapid.IntRange(1, 4000).Draw(t, "ms")) * time.Millisecond)
		m.pass()
		m.batch()
	case 1: // another leader, at the log's time of the entry before
		for node := range m.ends {
			m.ends[node] = m.tick + uint64(leaseTTL.Milliseconds())
		}
		m.term++
		m.after(time.Duration(rapid.IntRange(0, 6000).Draw(t, "ms")) * time.Millisecond)
		m.pass()
		m.batch()
	case 2:
		if m.lives[node] == life {
			m.end(node)
		}
		_ = m.say(m.machine.EncodeEndNodeLease(node, life))
	case 3, 4:
		if before, leased := m.lives[node]; m.ruled && leased && before != life && m.replaced[node] == life {
			if err := m.renew(node, life); agent.CodeOf(err) != agent.CodeAlreadyClaimed {
				t.Fatalf("renew for a process that was replaced: %v", err)
			}
			break
		}
		if before, leased := m.lives[node]; before != life {
			m.end(node)
			if delete(m.replaced, node); leased {
				m.replaced[node] = before
			}
		}
		m.lives[node], m.ends[node] = life, m.tick+uint64(leaseTTL.Milliseconds())
		if err := m.renew(node, life); err != nil {
			t.Fatalf("renew: %v", err)
		}
	case 5:
		p := m.machine.Partition(n)
		if err := m.fencedWrite(n, max(p.Epoch, 1)); (err == nil) != (p.Epoch != 0) {
			t.Fatalf("a write under %+v: %v", p, err)
		}
		if old := m.epochs[n]; old != 0 && old != p.Epoch {
			if err := m.fencedWrite(n, old); err == nil {
				t.Fatalf("a write under epoch %d of %+v was let through", old, p)
			}
		}
	case 6, 7, 8:
		m.rule(t, n, node)
	default:
		action := rapid.SampledFrom([]layout.PartitionAction{
			layout.PartitionAssign, layout.PartitionAssign, layout.PartitionDrain, layout.PartitionKeep, layout.PartitionRelease,
		}).Draw(t, "action")
		want := m.move(n, action, node)
		if err := m.clusterOps.move(n, action, node); (err == nil) != want {
			t.Fatalf("%s partition %d to %s: %v", action, n, node, err)
		}
	}
}

// CL-1, CL-6: one owner an epoch, and epochs never decrease. A node never loses a partition before
// its lease has ended in the log's time, whatever is requested.
func TestOwnersKeepToTheModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m := &ownersModel{
			clusterOps: clusterOps{newSubject(t)}, ends: map[string]uint64{}, lives: map[string]string{}, replaced: map[string]string{},
			owners: map[int]layout.Partition{}, epochs: map[int]uint64{}, drained: map[string]bool{}, pins: map[int]string{},
		}
		defer m.close()
		if m.ruled = rapid.IntRange(0, 4).Draw(rt, "ruled") > 0; m.ruled {
			m.raise(layout.RulesLevel)
		}
		for i := 1; i <= 3; i++ {
			m.join(fmt.Sprint("n", i))
		}
		for range rapid.IntRange(1, 40).Draw(rt, "steps") {
			m.step(rt)
			m.agrees(rt)
		}
	})
}
