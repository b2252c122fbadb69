package pod_test

import (
	"slices"
	"testing"

	"dormouse/agent"
	"dormouse/instance/pod"
)

func TestTheSlotIsOneMemberOfTheState(t *testing.T) {
	state := agent.JSON(`{"z":1,"n":12345678901234567890,"a":{"x":null}}`)
	if _, ok, err := pod.ReadSlot(state); ok || err != nil {
		t.Fatalf("a state without a slot has one: %v", err)
	}
	first, err := pod.NewSlot(parse(t, team)).AddTo(state)
	if err != nil {
		t.Fatal(err)
	}
	s, ok, err := pod.ReadSlot(first)
	if !ok || err != nil {
		t.Fatalf("the slot is not there: %v", err)
	}
	if s.Mutation.Status != pod.MutationIdle || s.TopologyVersion != 1 || len(s.Topology.Nodes) != 5 {
		t.Errorf("read %+v", s)
	}
	again, err := s.AddTo(first)
	if err != nil {
		t.Fatal(err)
	}
	if string(again) != string(first) || !slices.Equal(first[:len(state)-1], state[:len(state)-1]) {
		t.Errorf("the slot has changed more than itself:\n%s\n%s", first, again)
	}
	if empty, err := s.AddTo(agent.JSON(`{}`)); err != nil || empty[len(empty)-1] != '}' || empty[1] != '"' {
		t.Errorf("in an empty state: %s, %v", empty, err)
	}
}

func TestADamagedSlotIsCorrupt(t *testing.T) {
	for _, state := range []agent.JSON{
		agent.JSON(`{"__pod__":7}`), agent.JSON(`{"__pod__":{"topology":{"name":""}}}`), agent.JSON(`{"__pod__":`),
	} {
		if _, _, err := pod.ReadSlot(state); agent.CodeOf(err) != agent.CodeCorrupt {
			t.Errorf("%s: %v, want corrupt", state, err)
		}
	}
}

func TestOneMutationAtATime(t *testing.T) {
	idle := pod.NewSlot(parse(t, team))
	running, err := idle.Begin("m1", ops(t, `[{"remove_node":{"name":"ann"}}]`))
	if err != nil {
		t.Fatal(err)
	}
	if running.TopologyVersion != 2 || len(running.Topology.Nodes) != 3 {
		t.Errorf("PD-10 the new topology must be stored first, not %+v", running.Topology)
	}
	if _, err := running.Begin("m2", nil); agent.CodeOf(err) != agent.CodeMutationInProgress {
		t.Errorf("PD-11 a second mutation: %v, want mutation_in_progress", err)
	}

	t.Run("PD-15 one whose runner died is resumed", func(t *testing.T) {
		stored, err := running.AddTo(agent.JSON(`{}`))
		if err != nil {
			t.Fatal(err)
		}
		back, _, err := pod.ReadSlot(stored)
		if err != nil {
			t.Fatal(err)
		}
		m, ok := back.Running()
		if !ok || m.ID != "m1" || len(m.Stop) != 2 || m.Removed["eve"].Manager != "agents" {
			t.Errorf("resumes %+v", m)
		}
	})

	t.Run("PD-10 a failure keeps the topology and lets the next one in", func(t *testing.T) {
		on, report, err := running.Advance(pod.Outcome{Stopped: []string{"eve"}})
		if err != nil || report != nil {
			t.Fatalf("after the first of two waves: %+v, %v", report, err)
		}
		failed, report, err := on.Advance(pod.Outcome{Failures: map[string]pod.Failure{"ann": {Stage: pod.StageStop, Code: agent.CodeHandlerFailed}}})
		if err != nil || report == nil {
			t.Fatalf("after the last wave: %+v, %v", report, err)
		}
		if report.Status != pod.MutationFailed || report.TopologyVersion != 2 || !slices.Equal(report.Removed, []string{"ann", "eve"}) {
			t.Errorf("report %+v", report)
		}
		if failed.TopologyVersion != 2 || len(failed.Topology.Nodes) != 3 {
			t.Errorf("the topology went back to %+v", failed.Topology)
		}
		if _, ok := failed.Running(); ok {
			t.Error("a mutation that has ended is still running")
		}
		if _, err := failed.Begin("m2", nil); err != nil {
			t.Errorf("the next mutation: %v", err)
		}
		if _, _, err := failed.Finish("m1"); agent.CodeOf(err) != agent.CodeConflict {
			t.Errorf("ended twice: %v, want conflict", err)
		}
	})
}

// PD-4: the four statuses.
func TestStatusOfANode(t *testing.T) {
	us, others := pod.Parent{Manager: "teams", Key: "t1", Node: "boss"}, pod.Parent{Manager: "teams", Key: "t2"}
	for name, c := range map[string]struct {
		awake  bool
		actual *pod.Parent
		want   pod.Status
	}{
		"adopted": {true, &us, pod.Adopted}, "running": {true, nil, pod.Running},
		"misplaced": {true, &others, pod.Misplaced}, "stopped": {false, &us, pod.Stopped},
	} {
		if got := pod.StatusOf(c.awake, c.actual, us); got != c.want {
			t.Errorf("%s: got %s", name, got)
		}
	}
}

func TestANodeHasAnInstanceOfItsOwn(t *testing.T) {
	topology := parse(t, team)
	ref := agent.InstanceRef{Scope: "s", Manager: "teams", Key: "a/b"}
	got, err := topology.NodeRef(ref, "store")
	if err != nil || got != (agent.InstanceRef{Scope: "s", Manager: "stores", Key: "pod/teams/a%2Fb/store"}) {
		t.Errorf("got %+v, %v", got, err)
	}
	if _, err := topology.NodeRef(ref, "zoe"); agent.CodeOf(err) != agent.CodeNotFound {
		t.Errorf("an unknown node: %v", err)
	}
	if got, want := topology.ParentOf(ref, "ann"), (pod.Parent{Manager: "teams", Key: "a/b", Node: "boss"}); got != want {
		t.Errorf("ann's parent is %+v", got)
	}
	if got, want := topology.ParentOf(ref, "boss"), (pod.Parent{Manager: "teams", Key: "a/b"}); got != want {
		t.Errorf("boss's parent is %+v", got)
	}
}

// PD-14: a pod may contain pods, but not itself.
func TestPodsDoNotContainThemselves(t *testing.T) {
	if err := pod.CheckRecursion([]string{"teams", "squads"}, "agents"); err != nil {
		t.Error(err)
	}
	if err := pod.CheckRecursion([]string{"teams", "squads"}, "teams"); agent.CodeOf(err) != agent.CodeInvalid {
		t.Errorf("got %v, want invalid", err)
	}
}
