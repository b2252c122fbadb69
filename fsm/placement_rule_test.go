package fsm_test

import (
	"testing"

	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/fsm"
	"dormouse/fsm/kv"
)

// newRuled returns a machine with members n1 to n3, each with a lease, at the feature level of rules.
func newRuled(tb testing.TB) clusterOps {
	tb.Helper()
	r := newOwners(tb)
	r.raise(layout.RulesLevel)
	return r
}

// rule makes a rule that is allowed.
func (r clusterOps) rule(commit []byte) {
	r.tb.Helper()
	if err := r.say(commit); err != nil {
		r.tb.Fatal(err)
	}
}

func (r clusterOps) refused(what string, commit []byte, code agent.Code) {
	r.tb.Helper()
	if err := r.say(commit); err == nil || err.Code != code {
		r.tb.Errorf("%s: %v, want %s", what, err, code)
	}
}

func TestADrainedMemberGetsNoPartition(t *testing.T) {
	r := newRuled(t)
	owned := r.must(1, layout.PartitionAssign, "n1")
	r.must(2, layout.PartitionAssign, "n2")
	r.must(2, layout.PartitionDrain, "n1")
	r.rule(r.machine.EncodeDrainNode("n1", true))
	if d := r.machine.DrainedNodes(); len(d) != 1 || d[0] != (layout.DrainedNode{Node: "n1", Since: r.wall}) {
		t.Errorf("%+v", d)
	}
	if p := r.machine.Partition(1); p != owned {
		t.Errorf("the rule alone took what it owned: %+v", p)
	}
	for what, err := range map[string]*agent.Error{
		"assigned":     r.move(3, layout.PartitionAssign, "n1"),
		"drained for":  r.move(2, layout.PartitionDrain, "n1"),
		"pinned there": r.say(r.machine.EncodePinPartition(3, "n1")),
	} {
		if err == nil || err.Code != agent.CodeConflict {
			t.Errorf("a partition is %s: %v", what, err)
		}
	}
	if p := r.must(2, layout.PartitionRelease, ""); p.State != layout.PartitionFree {
		t.Errorf("what drained for it went there: %+v", p)
	}
	if err := r.renew("n1", "life-2"); err != nil { // it was restarted
		t.Fatal(err)
	}
	if err := r.move(1, layout.PartitionAssign, "n1"); err == nil {
		t.Error("its next process is not drained")
	}
	if err := r.say(r.machine.EncodePutMember(layout.Member{ID: "n1", Incarnation: "data-n1", RaftAddr: "moved"})); err != nil {
		t.Fatal(err)
	}
	if len(r.machine.DrainedNodes()) != 1 {
		t.Error("its own registration ended the drain")
	}
	r.rule(r.machine.EncodeDrainNode("n1", false))
	r.must(1, layout.PartitionAssign, "n1")
}

// A partition that moves keeps the reason of its move, and events of other reasons are apart.
func TestAMoveTellsItsReasonAtTheEndToo(t *testing.T) {
	r := newRuled(t)
	for n, why := range []string{"node n1 is drained", "the partition is pinned to node n2"} {
		p := r.must(n, layout.PartitionAssign, "n1")
		r.rule(r.machine.EncodeMovePartitions([]layout.PartitionMove{{Partition: n, Epoch: p.Epoch, Action: layout.PartitionDrain, To: "n2"}}, why))
	}
	var release []layout.PartitionMove
	for n := range 2 {
		release = append(release, layout.PartitionMove{Partition: n, Epoch: r.machine.Partition(n).Epoch, Action: layout.PartitionRelease})
	}
	r.rule(r.machine.EncodeMovePartitions(release, "node n1 released it"))
	events, err := r.machine.PlacementEvents(2)
	if err != nil {
		t.Fatal(err)
	}
	for n, e := range []layout.PlacementEvent{events[1], events[0]} {
		if p := r.machine.Partition(n); e.Kind != layout.EventMoved || e.Why != p.Why || e.Partitions[0] != n || p.Owner != "n2" || p.Why == "node n1 released it" {
			t.Errorf("%+v of %+v", e, p)
		}
	}
}

func TestTheLastMemberThatMayOwnIsNotDrained(t *testing.T) {
	r := newRuled(t)
	r.rule(r.machine.EncodeDrainNode("n1", true))
	r.rule(r.machine.EncodeDrainNode("n2", true))
	r.refused("the last", r.machine.EncodeDrainNode("n3", true), agent.CodeConflict)
	r.rule(r.machine.EncodeDrainNode("n2", true)) // already
	r.rule(r.machine.EncodeDrainNode("n1", false))
	if err := r.say(r.machine.EncodeRemoveMember("n1", "data-n1")); err != nil {
		t.Fatal(err)
	}
	r.refused("beside a removed one, whose lease stands", r.machine.EncodeDrainNode("n3", true), agent.CodeConflict)
	r.rule(r.machine.EncodeDrainNode("n2", false))
	r.rule(r.machine.EncodeEndNodeLease("n2", "life-1"))
	r.refused("beside one without a lease", r.machine.EncodeDrainNode("n3", true), agent.CodeConflict)
}

// Rules end with their member, whichever way it leaves.
func TestRulesEndWithTheirMember(t *testing.T) {
	r := newRuled(t)
	for _, host := range []string{"h1", "h2"} {
		if err := r.host(hosted(host), hostRow(host)); err != nil {
			t.Fatal(err)
		}
	}
	r.rule(r.machine.EncodeDrainNode("n1", true))
	r.rule(r.machine.EncodeDrainNode("h1", true))
	for n, node := range []string{"n2", "h2", "n3", "n2"} {
		r.rule(r.machine.EncodePinPartition(n, node))
	}
	if err := r.say(r.machine.EncodeRemoveMember("n2", "another")); err != nil || len(r.machine.Pins()) != 4 {
		t.Errorf("another data directory was removed: %v, %+v", err, r.machine.Pins())
	}
	for _, commit := range [][]byte{
		r.machine.EncodeRemoveMember("n1", "data-n1"), r.machine.EncodeRemoveMember("n2", "data-n2"),
		r.machine.EncodeEndNodeLease("h1", "life-1"), r.machine.EncodeEndNodeLease("h2", "life-1"),
	} {
		r.rule(commit)
		wellRuled(t, r.machine)
	}
	if p := r.machine.Pins(); len(p) != 1 || p[0].Node != "n3" || r.rows(kv.KindPartitionPin) != 1 || r.rows(kv.KindDrained) != 0 || len(r.machine.DrainedNodes()) != 0 {
		t.Errorf("%+v, %+v", p, r.machine.DrainedNodes())
	}
}

func TestRulesKeepToTheirLimits(t *testing.T) {
	r := newRuled(t)
	for n := range layout.Partitions {
		r.rule(r.machine.EncodePinPartition(n, "n2"))
	}
	r.refused("a partition too many", r.machine.EncodePinPartition(layout.Partitions, "n2"), agent.CodeInvalid)
	if rows := r.rows(kv.KindPartitionPin); rows != layout.Partitions {
		t.Errorf("%d rows", rows)
	}
	r.rule(r.machine.EncodePinPartition(7, "n3")) // replaces it
	r.rule(r.machine.EncodeDrainNode("n2", true)) // removes all others in one commit
	if p := r.machine.Pins(); len(p) != 1 || p[0].Partition != 7 || r.rows(kv.KindPartitionPin) != 1 {
		t.Errorf("%d pins", len(p))
	}
	for what, commit := range map[string][]byte{
		"an unknown member": r.machine.EncodeDrainNode("n9", true), "a pin to one": r.machine.EncodePinPartition(1, "n9"),
	} {
		r.refused(what, commit, agent.CodeNotFound)
	}
	r.refused("no name", r.machine.EncodeDrainNode("", true), agent.CodeInvalid)
}

// Below their feature level rules are refused, and moves are written as they were.
func TestRulesHaveAFeatureLevel(t *testing.T) {
	r := newOwners(t)
	r.raise(layout.RulesLevel - 1)
	r.refused("a drain", r.machine.EncodeDrainNode("n1", true), agent.CodeConflict)
	r.refused("a pin", r.machine.EncodePinPartition(1, "n1"), agent.CodeConflict)
	r.refused("its end", r.machine.EncodePinPartition(1, ""), agent.CodeConflict)
	r.must(1, layout.PartitionAssign, "n1")
	p := r.must(1, layout.PartitionDrain, "n2")
	r.rule(r.machine.EncodeMovePartitions([]layout.PartitionMove{{Partition: 1, Epoch: p.Epoch, Action: layout.PartitionRelease}}, "released"))
	if why := r.machine.Partition(1).Why; why != "released" {
		t.Errorf("it moved because: %q", why)
	}
	if r.rows(kv.KindDrained)+r.rows(kv.KindPartitionPin) != 0 || fsm.FeatureLevelMax < layout.RulesLevel {
		t.Error("there are rows of rules")
	}
}
