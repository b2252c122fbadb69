package check_test

import (
	"encoding/json"
	"testing"
	"time"

	"dormouse/jepsen/check"
	"dormouse/jepsen/history"
)

func sampled(node string, s check.Sample) history.Event {
	raw, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return history.Event{Kind: history.EventSample, Node: node, Data: raw}
}

// A process counts from 0, so that the counts of its successor are added to its own. What all
// replicas count alike is counted once.
func TestCoverageCountsWhatARunMet(t *testing.T) {
	call := func(workload, name string, from, to int) history.Op {
		return history.Op{Workload: workload, Call: name, Key: "k", Outcome: history.OK, Invoke: time.Duration(from), Return: time.Duration(to)}
	}
	h := &history.History{
		Events: []history.Event{
			sampled("a", check.Sample{Leader: "a", Snapshots: 2, Answered: 5, SharedFences: 4, LeasesEnded: 1}),
			{Kind: history.EventLeader, Node: "b"},
			sampled("b", check.Sample{Leader: "a", Answered: 3, Installs: 1, Truncations: 1}),
			sampled("a", check.Sample{Leader: "b", Snapshots: 1, Answered: 2}), // a new process
			{Kind: history.EventLeader, Node: "b"},
			sampled("b", check.Sample{Leader: "b", Answered: 7, Installs: 1, Truncations: 1, SharedFences: 9, Drained: 2}),
		},
		Ops: []history.Op{
			call("fork", "compact", 0, 1), call("fork", "fork", 2, 3), call("fork", "compact", 4, 5),
			call("recall", "churn", 0, 4), call("recall", "read", 3, 6), call("recall", "read", 5, 6),
		},
	}
	r := check.Coverage(h)
	if r.Verdict != check.OK {
		t.Errorf("the verdict is %s", r.Verdict)
	}
	for met, want := range map[check.Met]int{
		check.MetSnapshots: 3, check.MetInstalls: 1, check.MetLedInstalled: 1, check.MetTruncations: 1, check.MetAnswered: 7, check.MetAnsweredLater: 4,
		check.MetSharedFences: 9, check.MetLeasesEnded: 1, check.MetDrained: 2, check.MetForksCut: 1, check.MetRecalls: 1,
	} {
		if got := r.Counts[string(met)]; got != want {
			t.Errorf("%s: %d, want %d", met, got, want)
		}
	}
}

func TestATargetIsOfItsWorkloadAndNemesis(t *testing.T) {
	target := check.Target{Workload: "claim", Nemesis: "kill", Meets: check.MetSharedFences}
	for _, c := range []struct {
		workloads, nemeses []string
		is                 bool
	}{
		{[]string{"set", "claim"}, []string{"kill/leader"}, true},
		{[]string{"set"}, []string{"kill"}, false},
		{[]string{"claim"}, []string{"pause"}, false},
	} {
		if got := target.Of(history.Header{Workloads: c.workloads, Nemeses: c.nemeses}); got != c.is {
			t.Errorf("%v under %v: %t", c.workloads, c.nemeses, got)
		}
	}
	if !(check.Target{}).Of(history.Header{}) {
		t.Error("a target without names is not of any run")
	}
}
