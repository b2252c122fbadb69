package pod

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"dormouse/jepsen/history"
	"dormouse/jepsen/workload"
	"dormouse/jepsen/workload/instance"
	"dormouse/jepsen/workload/workloadtest"
)

const aPod = prefix + "2"

func grows(from, to int, node string, version uint64) history.Op {
	return workloadtest.OK(1, from, to, callGrow, aPod, podCall{Name: node}, podSeen{Version: version})
}

// podAt is a read of a correct pod of these nodes.
func podAt(at int, nodes ...string) history.Op {
	return workloadtest.OK(9, at, at+5, workload.CallRead, aPod, podCall{}, podSeen{Version: uint64(len(nodes)) + 1, Nodes: nodes})
}

// podInTheEnd is the final read of a pod, with the stored nodes.
func podInTheEnd(running bool, nodes []string, stored ...string) history.Op {
	seen := podSeen{Version: uint64(len(nodes)) + 1, Nodes: nodes, Running: running, Stored: stored}
	return workloadtest.OK(9, 95, 99, workload.CallRead, aPod, podCall{Final: true}, seen)
}

// counts is an increment of a node's counter under an epoch of node n<epoch>.
func counts(at int, name string, epoch, rev uint64) history.Op {
	return workloadtest.OK(1, at, at+10, instance.CallIncrement, aPod, instance.CounterCall{Name: name}, instance.CounterSeen{Node: fmt.Sprint("n", epoch), Epoch: epoch, Rev: rev, First: true})
}

// countedAt is a read of the stored state of a node's counter.
func countedAt(at int, names ...string) history.Op {
	seen := instance.CounterSeen{Rev: uint64(len(names)), Names: names, State: &instance.CounterState{Count: uint64(len(names))}}
	if len(names) > 0 {
		seen.State.By = names[len(names)-1]
	}
	return workloadtest.OK(9, at, at+10, workload.CallRead, aPod, instance.CounterCall{}, seen)
}

func TestPodFindsEachWrong(t *testing.T) {
	ofNode := func(op history.Op) history.Op { op.Key = aPod + "/a"; return op }
	failed := grows(10, 20, "a", 2)
	failed.Out = workloadtest.Raw(podSeen{Version: 2, Failed: true})
	skipped := podAt(80, "a")
	skipped.Out = workloadtest.Raw(podSeen{Version: 3, Nodes: []string{"a"}})
	running := podAt(80, "a")
	running.Out = workloadtest.Raw(podSeen{Version: 2, Nodes: []string{"a"}, Running: true})
	earlier := func(op history.Op) history.Op {
		op.Invoke, op.Return = op.Invoke-10*time.Millisecond, op.Return-10*time.Millisecond
		return op
	}
	a, ab := []string{"a"}, []string{"a", "b"}
	cases := []struct {
		name, rule string
		calls      workloadtest.Script
	}{
		{"a pod that grows", "", workloadtest.Script{podAt(5), grows(10, 20, "a", 2), podAt(30, "a"), grows(35, 60, "b", 3), podInTheEnd(false, ab, "a", "b")}},
		{"an unknown mutation that is there", "", workloadtest.Script{workloadtest.Unknown(grows(10, 20, "a", 0)), podInTheEnd(false, a, "a")}},
		{"one whose node never started", "", workloadtest.Script{workloadtest.Unknown(grows(10, 20, "a", 0)), podInTheEnd(false, a)}},
		{"an unknown mutation that is not there", "", workloadtest.Script{workloadtest.Unknown(grows(10, 20, "a", 0)), podInTheEnd(false, nil)}},
		{"a mutation that is asked for again", "", workloadtest.Script{workloadtest.Unknown(grows(10, 20, "a", 0)), grows(30, 40, "a", 2), podInTheEnd(false, a, "a")}},
		{"one that is answered twice", "", workloadtest.Script{grows(10, 20, "a", 2), grows(30, 40, "a", 2), podAt(60, "a")}},
		{"one that is asked for again after it was seen", "", workloadtest.Script{workloadtest.Unknown(grows(10, 20, "a", 0)), podAt(25, "a"), grows(40, 50, "a", 2)}},
		{"a late answer to an early mutation", "", workloadtest.Script{workloadtest.Unknown(grows(10, 20, "a", 0)), grows(25, 28, "b", 3), grows(30, 40, "a", 2), podAt(60, "a", "b")}},
		{"a node that failed", "", workloadtest.Script{failed, podInTheEnd(false, a)}},
		{"a mutation that runs still", "", workloadtest.Script{grows(10, 85, "a", 2), running, podAt(90, "a")}},
		{"a mutation that began between the last looks", "", workloadtest.Script{workloadtest.Unknown(grows(10, 20, "a", 0)), earlier(podInTheEnd(true, a)), podInTheEnd(false, a, "a")}},
		{"a node that is counted up", "", workloadtest.Script{grows(10, 20, "a", 2), ofNode(counts(30, "x", 1, 1)), ofNode(countedAt(90, "x"))}},

		{"a mutation that nobody finds", "lost mutation", workloadtest.Script{grows(10, 20, "a", 2), podAt(85, "b"), workloadtest.Unknown(grows(1, 5, "b", 0))}},
		{"a mutation before its version", "lost mutation", workloadtest.Script{grows(10, 40, "a", 3), workloadtest.Unknown(grows(1, 5, "b", 0)), podAt(20, "a")}},
		{"a node that is gone", "lost node", workloadtest.Script{workloadtest.Unknown(grows(10, 20, "a", 0)), workloadtest.Unknown(grows(10, 20, "b", 0)), workloadtest.Unknown(grows(10, 20, "c", 0)), podAt(80, "a"), podAt(90, "b", "c")}},
		{"a read from before", "stale read", workloadtest.Script{grows(10, 20, "a", 2), podAt(30)}},
		{"a mutation that counts twice", "mutation that counts twice", workloadtest.Script{grows(10, 20, "a", 2), grows(30, 40, "a", 3)}},
		{"a version that counts twice", "two mutations of one version", workloadtest.Script{grows(10, 20, "a", 2), grows(10, 20, "b", 2)}},
		{"a version without a node", "mutations and nodes apart", workloadtest.Script{workloadtest.Unknown(grows(10, 20, "a", 0)), skipped}},
		{"a refused mutation that is there", "refused mutation applied", workloadtest.Script{workloadtest.Refused(grows(10, 20, "a", 0), "mutation_in_progress"), podAt(90, "a")}},
		{"a node from nowhere", "node from nowhere", workloadtest.Script{podAt(90, "a")}},
		{"a node before its time", "seen before it was added", workloadtest.Script{podAt(10, "a"), workloadtest.Unknown(grows(30, 40, "a", 0))}},
		{"a node that is there and never started", "node that never started", workloadtest.Script{grows(10, 20, "a", 2), podInTheEnd(false, a)}},
		{"a mutation that never ends", "mutation without an end", workloadtest.Script{workloadtest.Unknown(grows(10, 20, "a", 0)), podInTheEnd(true, a)}},
		{"a mutation that the last of two finds", "mutation without an end", workloadtest.Script{workloadtest.Unknown(grows(10, 20, "a", 0)), podInTheEnd(true, a), earlier(podInTheEnd(false, a))}},
		{"a node that runs twice", "epoch ran backwards", workloadtest.Script{ofNode(counts(10, "x", 2, 1)), ofNode(counts(30, "y", 1, 2))}},
		{"a node that counts twice", "duplicate entry", workloadtest.Script{ofNode(counts(10, "x", 1, 1)), ofNode(countedAt(90, "x", "x"))}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { workloadtest.Expect(t, workloadtest.Judged(t, New(), c.calls.History()), c.rule) })
	}
	jumped := workloadtest.Script{workloadtest.Unknown(grows(10, 20, "a", 0)), podInTheEnd(true, a)}.History(history.Event{Kind: history.EventFault, Name: "clock"})
	workloadtest.Expect(t, workloadtest.Judged(t, New(), jumped), "")
	workloadtest.GivesUp(t, New(), cases[0].calls.History())
}

// store is a correct pod.
type store struct {
	r     *rand.Rand
	nodes []string
}

func (s *store) do(call string, in any) any {
	if call == workload.CallRead {
		return podSeen{Version: uint64(len(s.nodes)) + 1, Nodes: slices.Clone(s.nodes)}
	}
	if s.r.IntN(5) == 0 {
		return nil
	}
	s.nodes = append(s.nodes, in.(podCall).Name)
	return podSeen{Version: uint64(len(s.nodes)) + 1}
}

func storeHistory(seed uint64, processes, calls int) *history.History {
	s := &store{r: rand.New(rand.NewPCG(seed, 21))}
	n := 0
	run := workloadtest.SoundRun{R: s.r, Processes: processes, Calls: calls, Apply: s.do}
	run.Begin = func(int) (string, any) {
		n++
		if s.r.IntN(4) == 0 {
			return workload.CallRead, podCall{}
		}
		return callGrow, podCall{Name: fmt.Sprint("n", n)}
	}
	return run.History(aPod)
}

func TestPodPassesSoundRuns(t *testing.T) {
	run := func(seed uint64) *history.History { return storeHistory(seed, 1+int(seed%9), 120) }
	workloadtest.TellsApart(t, New, run, 22, spoilPod)
}

// spoilPod removes a node from a read, or lowers the version of a mutation, and
// describes the change.
func spoilPod(r *rand.Rand, h *history.History) string {
	for _, at := range r.Perm(len(h.Ops)) {
		op := &h.Ops[at]
		if op.Outcome != history.OK {
			continue
		}
		seen, err := history.Decode[podSeen](op.Out)
		if err != nil {
			panic(err)
		}
		what := ""
		switch n := len(seen.Nodes); {
		case op.Call == callGrow && seen.Version > 20:
			seen.Version, what = 1, "a version that is over"
		case n > 10:
			seen.Nodes, what = slices.Delete(seen.Nodes, n/2, n/2+1), "a lost node"
		default:
			continue
		}
		op.Out = workloadtest.Raw(seen)
		return fmt.Sprintf("%s in call %d", what, op.ID)
	}
	return ""
}

func BenchmarkPodCheck(b *testing.B) {
	run := func(seed uint64) *history.History { return storeHistory(seed, 9, 150) }
	workloadtest.Scales(b, New(), workloadtest.OfKeys(40, workloadtest.Named(prefix), run))
}
