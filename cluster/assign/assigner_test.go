package assign

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"dormouse/agent/layout"
	"dormouse/cluster/transport"
	"dormouse/placement"
)

// fleet is the members n1 to n3, their leases and a table, as leader n1 sees them.
type fleet struct {
	leads
	Machine
	Table
	members []layout.Member
	leases  []layout.NodeLease
	drained []layout.DrainedNode
	pins    []layout.Pin
	table   []*layout.Partition
	moves   [][]layout.PartitionMove
}

func newFleet() *fleet {
	f := &fleet{}
	for _, id := range []string{"n1", "n2", "n3"} {
		f.members = append(f.members, layout.Member{ID: id, Incarnation: "i" + id})
		f.leases = append(f.leases, layout.NodeLease{Node: id, Incarnation: "i" + id, TTL: leaseTTL})
	}
	return f
}

func (f *fleet) Members() []layout.Member           { return f.members }
func (f *fleet) FeatureLevel() uint32               { return layout.RemoteTurnsLevel }
func (f *fleet) NodeLeases() []layout.NodeLease     { return f.leases }
func (f *fleet) DrainedNodes() []layout.DrainedNode { return f.drained }
func (f *fleet) Pins() []layout.Pin                 { return f.pins }
func (f *fleet) Partitions() []*layout.Partition    { return f.table }

func (f *fleet) EncodeMovePartitions(moves []layout.PartitionMove, _ string) []byte {
	f.moves = append(f.moves, moves)
	return nil
}

func (f *fleet) assigner(alive func(string) bool) *Assigner {
	return New(Options{
		Placement: Placement{Table: f, Alive: alive}, Self: &transport.Self{Node: "n1"}, Machine: f, Leadership: f, Logger: hclog.NewNullLogger(),
		Commit: func(context.Context, []byte) (uint64, error) { return 1, nil },
	})
}

func TestWhichMembersMayOwnPartitions(t *testing.T) {
	now := leads{}.Tick()
	young := func(f *fleet, nodes ...int) {
		for _, n := range nodes {
			f.leases[n].BegunTick = now - 1
		}
	}
	for name, c := range map[string]struct {
		change func(f *fleet, a *Assigner)
		dead   string
		open   []string
		closed []string
	}{
		"all":                      {open: []string{"n1", "n2", "n3"}},
		"one without a lease":      {change: func(f *fleet, _ *Assigner) { f.leases = f.leases[:2] }, open: []string{"n1", "n2"}},
		"one that was removed":     {change: func(f *fleet, _ *Assigner) { f.members = f.members[:2] }, open: []string{"n1", "n2"}},
		"one of an earlier life":   {change: func(f *fleet, _ *Assigner) { f.members[2].Incarnation = "later" }, open: []string{"n1", "n2"}},
		"one that is drained":      {change: func(f *fleet, _ *Assigner) { f.drained = []layout.DrainedNode{{Node: "n3"}} }, open: []string{"n1", "n2"}},
		"one that leaves":          {change: func(_ *fleet, a *Assigner) { node := "n3"; a.leaving.Store(&node) }, open: []string{"n1", "n2"}},
		"one that seems dead":      {dead: "n3", open: []string{"n1", "n2"}, closed: []string{"n3"}},
		"a host of a node's name":  {change: func(f *fleet, _ *Assigner) { f.members[2].Host = true }, dead: "n3", open: []string{"n1", "n2", "n3"}},
		"itself is never dead":     {dead: "n1", open: []string{"n1", "n2", "n3"}},
		"a young lease":            {change: func(f *fleet, _ *Assigner) { young(f, 2) }, open: []string{"n1", "n2"}, closed: []string{"n3"}},
		"young leases alone":       {change: func(f *fleet, _ *Assigner) { young(f, 0, 1, 2) }, open: []string{"n1", "n2", "n3"}},
		"young ones and a dead":    {change: func(f *fleet, _ *Assigner) { young(f, 0, 1, 2) }, dead: "n3", open: []string{"n1", "n2"}, closed: []string{"n3"}},
		"a lease as old as it may": {change: func(f *fleet, _ *Assigner) { f.leases[2].BegunTick = now - uint64(leaseTTL.Milliseconds()) }, open: []string{"n1", "n2", "n3"}},
	} {
		f := newFleet()
		a := f.assigner(func(node string) bool { return node != c.dead })
		if c.change != nil {
			c.change(f, a)
		}
		var open, closed []string
		for _, n := range a.Eligible("") {
			if n.Closed {
				closed = append(closed, n.Name)
			} else {
				open = append(open, n.Name)
			}
		}
		if !slices.Equal(open, c.open) || !slices.Equal(closed, c.closed) {
			t.Errorf("%s: open %v and closed %v, want %v and %v", name, open, closed, c.open, c.closed)
		}
		if without := a.Eligible("n2"); slices.ContainsFunc(without, func(n placement.Node) bool { return n.Name == "n2" }) {
			t.Errorf("%s: without n2: %v", name, without)
		}
	}
}

// A partition that its owner has kept is asked for again after a while, though nothing else has changed.
func TestAPartitionThatWasKeptIsDrainedAgainLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet()
		f.pins = []layout.Pin{{Partition: 0, Node: "n2"}}
		f.table = []*layout.Partition{{ID: 0, Owner: "n1", Epoch: 3, State: layout.PartitionOwned}}
		a, moved := f.assigner(nil), make(chan struct{})
		var last unchanged
		var target target
		a.kept.note(0)
		for _, wait := range []time.Duration{0, keptFor, time.Millisecond} {
			time.Sleep(wait)
			if planned := a.assignOnce(t.Context(), moved, &last, &target); planned != (wait == time.Millisecond) {
				t.Errorf("it is asked to move: %v, after another %v", planned, wait)
			}
		}
		if len(f.moves) != 1 || f.moves[0][0] != (layout.PartitionMove{Partition: 0, Epoch: 3, Action: layout.PartitionDrain, To: "n2"}) {
			t.Errorf("moves %v", f.moves)
		}
		if !a.kept.none() {
			t.Error("a refusal whose time is over is remembered")
		}
	})
}

// A node that is drained owns nothing that others would have to take.
func TestANodeMayLeaveIfAnotherCanOwnItsPartitions(t *testing.T) {
	for drained, refused := range map[string]string{"": "", "n1": "", "n1 n2": "n3", "n1 n2 n3": ""} {
		f := newFleet()
		for _, node := range strings.Fields(drained) {
			f.drained = append(f.drained, layout.DrainedNode{Node: node})
		}
		a := f.assigner(nil)
		for _, node := range []string{"n1", "n2", "n3"} {
			if why := a.MayLeave(node); (why != "") != (node == refused) {
				t.Errorf("with %q drained, %s: %q", drained, node, why)
			}
		}
	}
}
