package node_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/placement"
)

// movingCluster is an instanceCluster whose instances are signalled while partitions move.
type movingCluster struct {
	*instanceCluster
	seen   []uint64          // greatest epoch of each partition
	epochs map[string]uint64 // of the last answer, by key
	turn   int
}

func newMovingCluster(t *testing.T, keys int) *movingCluster {
	t.Helper()
	s := &movingCluster{instanceCluster: newInstanceCluster(t, 3, keys), seen: make([]uint64, layout.Partitions), epochs: map[string]uint64{}}
	return s
}

// round signals each instance once, each through another node. It checks that no two nodes believe
// that they own a partition, and that the epoch of an instance never decreases. It returns the
// nodes that answered.
func (s *movingCluster) round() (by map[string]int) {
	s.t.Helper()
	by = map[string]int{}
	for _, key := range s.keys {
		up := make([]string, 0, 3)
		for n := range s.awake {
			up = append(up, n)
		}
		slices.Sort(up)
		s.turn++
		reply := s.signal(up[s.turn%len(up)], key)
		if reply.Epoch < s.epochs[key] {
			s.t.Fatalf("%s is answered at epoch %d, after %d", key, reply.Epoch, s.epochs[key])
		}
		s.epochs[key] = reply.Epoch
		by[reply.Node]++
		s.believers(s.seen)
	}
	return by
}

// until signals until a condition holds on all nodes that are up.
func (s *movingCluster) until(what string, done func(r *testNode) bool) {
	s.t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		s.round()
		all := true
		for _, r := range s.awake {
			all = all && done(r)
		}
		if all {
			return
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("waited for %s: %v", what, shares(s.leader()))
		}
	}
}

func (s *movingCluster) change(through string, change layout.Change, node string) {
	s.t.Helper()
	if _, err := s.awake[through].Operator().Change(s.t.Context(), change, node); err != nil {
		s.t.Fatalf("%s %s through %s: %v", change, node, through, err)
	}
}

// explained returns the placement of a key, as a node sees it.
func (s *movingCluster) explained(through, key string) layout.Placement {
	s.t.Helper()
	p, err := s.awake[through].Operator().Placement(s.t.Context(), layout.PlacementQuery{Manager: "docs", Key: key, Events: layout.PlacementEventsMax})
	if err != nil {
		s.t.Fatal(err)
	}
	return p
}

// ownsNone checks for a while that a node owns no partition.
func (s *movingCluster) ownsNone(node string) {
	s.t.Helper()
	for began := time.Now(); time.Since(began) < 3*s.lease; time.Sleep(100 * time.Millisecond) {
		if by := s.round(); by[node] != 0 || shares(s.leader())[node] != 0 {
			s.t.Fatalf("%s is drained, and owns %d partitions", node, shares(s.leader())[node])
		}
	}
}

// CL-1, CL-3: while a node is drained, and the leader changes meanwhile, one owner at a time
// answers each signal, and none is lost. The drained node owns nothing after a restart either, and
// gets its share again once it is resumed.
func TestADrainedNodeOwnsNothingUntilItIsResumedSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newMovingCluster(t, 24)
		drained, old := s.follower().name, s.leader().name
		others := without([]string{"n1", "n2", "n3"}, drained)
		theirs := slices.IndexFunc(s.keys, func(key string) bool { return s.explained(old, key).Partition.Owner == drained })
		s.round()

		s.change(drained, layout.ChangeDrain, drained) // any node takes the call
		time.Sleep(120 * time.Millisecond)
		if left := shares(s.leader())[drained]; left == 0 || left == layout.Partitions/3 {
			t.Errorf("the leader changes too late or too early: %d partitions are left", left)
		}
		s.change(old, layout.ChangeTransfer, others[0])
		if s.leader().name == old {
			s.change(old, layout.ChangeTransfer, others[1])
		}
		s.until(drained+" to own nothing", func(r *testNode) bool {
			now := shares(r)
			return now[drained] == 0 && now["*"] == 0 && now[""] == 0
		})
		s.even(others...)
		p := s.explained(drained, s.keys[theirs])
		if why := "node " + drained + " is drained"; p.Partition.Why != why || !slices.ContainsFunc(p.Events, func(e layout.PlacementEvent) bool {
			return e.Kind == layout.EventMoved && e.From == drained && e.Why == why
		}) || !slices.ContainsFunc(p.Candidates, func(c layout.PlacementCandidate) bool { return c.Drained && c.Node == drained }) {
			t.Errorf("why a key of its is elsewhere: %+v", p.Partition)
		}
		if m := s.awake[drained].Group().Members(); !slices.ContainsFunc(m, func(m layout.MemberStatus) bool { return m.ID == drained && m.Voter }) {
			t.Errorf("it has no vote any more: %+v", m)
		}

		s.sleep(drained)
		s.round()
		s.start(drained)
		s.settle(3)
		s.ownsNone(drained)
		s.crash(s.leader().name)
		s.ownsNone(drained)
		for _, name := range others {
			if s.awake[name] == nil {
				s.start(name)
			}
		}
		s.settle(3)

		s.change(others[0], layout.ChangeResume, drained)
		s.until("all to have their share", func(r *testNode) bool { return shares(r)[drained] > layout.Partitions/4 && shares(r)["*"] == 0 })
		s.whole(drained)
		s.agree()
	})
}

// CL-1, CL-3: a partition moves to the node to which it is pinned, and back there after that node
// was away. Signals are answered by one owner at a time meanwhile.
func TestAPinnedPartitionIsWhereItIsPinnedSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newMovingCluster(t, 12)
		to := s.follower().name
		others := without([]string{"n1", "n2", "n3"}, to)
		var key string
		for _, key = range s.keys {
			if s.explained(to, key).Partition.Owner != to {
				break
			}
		}
		n := placement.Partition(agent.DefaultScope, "docs", key)
		owner := func(r *testNode) string {
			if p := r.Machine().Partition(n); p.State == layout.PartitionOwned {
				return p.Owner
			}
			return ""
		}
		s.round()
		if err := s.awake[to].Operator().PinPartition(t.Context(), n, to); err != nil {
			t.Fatal(err)
		}
		s.until("it to be where it is pinned", func(r *testNode) bool { return owner(r) == to })
		if reply := s.signal(others[0], key); reply.Node != to {
			t.Errorf("its instance is on %s", reply.Node)
		}
		p := s.explained(others[0], key)
		if p.Partition.Why != "the partition is pinned to node "+to || len(p.Pins) != 1 || p.Pins[0].Node != to || p.Events[0].Why != p.Partition.Why {
			t.Errorf("why it is there: %+v, pins %+v, events %+v", p.Partition, p.Pins, p.Events)
		}

		s.crash(to)
		s.until("another node to own it", func(r *testNode) bool { return slices.Contains(others, owner(r)) })
		s.change(s.leader().name, layout.ChangeTransfer, "")
		s.start(to)
		s.settle(3)
		s.until("it to be back", func(r *testNode) bool { return owner(r) == to })

		s.change(others[0], layout.ChangeDrain, to) // which ends the pin
		s.until(to+" to own nothing", func(r *testNode) bool { return shares(r)[to] == 0 })
		if pins := s.leader().Machine().Pins(); len(pins) != 0 {
			t.Errorf("pins to a drained node: %+v", pins)
		}
		s.whole(others[0])
		s.agree()
	})
}

// What no rule can say is refused at once, by any node, with the reason.
func TestARuleThatCannotBeIsRefusedSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newMovingCluster(t, 0)
		op := s.follower().Operator()
		change := func(change layout.Change, node string) error {
			_, err := op.Change(t.Context(), change, node)
			return err
		}
		s.change("n1", layout.ChangeDrain, "n1")
		s.change("n2", layout.ChangeDrain, "n1") // again
		s.change("n3", layout.ChangeDrain, "n2")
		for _, c := range []struct {
			what string
			err  error
			code agent.Code
			says string
		}{
			{"the last one is drained", change(layout.ChangeDrain, "n3"), agent.CodeConflict, "no other node could own"},
			{"the last one leaves", change(layout.ChangeLeave, "n3"), agent.CodeConflict, "are drained: resume one first"},
			{"a stranger is drained", change(layout.ChangeDrain, "n9"), agent.CodeNotFound, `no member is called "n9"`},
			{"a stranger is resumed", change(layout.ChangeResume, "n9"), agent.CodeNotFound, `no member is called "n9"`},
			{"a pin to a stranger", op.PinPartition(t.Context(), 1, "n9"), agent.CodeNotFound, `no member is called "n9"`},
			{"a pin to a drained node", op.PinPartition(t.Context(), 1, "n1"), agent.CodeConflict, "is drained"},
			{"a pin of no partition", op.PinPartition(t.Context(), layout.Partitions, "n3"), agent.CodeInvalid, "must be from 0 to 4095"},
			{"a pin below zero", op.PinPartition(t.Context(), -1, "n3"), agent.CodeInvalid, "must be from 0 to 4095"},
		} {
			if agent.CodeOf(c.err) != c.code || !strings.Contains(c.err.Error(), c.says) {
				t.Errorf("%s: %v", c.what, c.err)
			}
		}
		if err := op.PinPartition(t.Context(), layout.Partitions-1, "n3"); err != nil {
			t.Error(err)
		}
		for range 2 {
			if err := op.PinPartition(t.Context(), layout.Partitions-1, ""); err != nil {
				t.Error(err)
			}
		}
		s.change("n3", layout.ChangeResume, "n1")
		s.change("n3", layout.ChangeResume, "n1")
		s.change("n3", layout.ChangeResume, "n2")
		s.even("n1", "n2", "n3")
	})
}
