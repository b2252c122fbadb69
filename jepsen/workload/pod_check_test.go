package workload

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"dormouse/jepsen/history"
)

const aPod = squadPrefix + "2"

func grows(from, to int, node string, version uint64) history.Op {
	return ok(1, from, to, callGrow, aPod, squadCall{Name: node}, squadSeen{Version: version})
}

// podAt is a read of a sound pod of these nodes.
func podAt(at int, nodes ...string) history.Op {
	return ok(9, at, at+5, callRead, aPod, squadCall{}, squadSeen{Version: uint64(len(nodes)) + 1, Nodes: nodes})
}

// podInTheEnd is the final read of one, of which these nodes are stored.
func podInTheEnd(running bool, nodes []string, stored ...string) history.Op {
	seen := squadSeen{Version: uint64(len(nodes)) + 1, Nodes: nodes, Running: running, Stored: stored}
	return ok(9, 95, 99, callRead, aPod, squadCall{Final: true}, seen)
}

// counts is an increment of a node's counter under an epoch of node n<epoch>.
func counts(at int, name string, epoch, rev uint64) history.Op {
	return ok(1, at, at+10, callIncrement, aPod, counterCall{Name: name}, counterSeen{Node: fmt.Sprint("n", epoch), Epoch: epoch, Rev: rev, First: true})
}

// countedAt is a read of what is stored of a node's counter.
func countedAt(at int, names ...string) history.Op {
	seen := counterSeen{Rev: uint64(len(names)), Names: names, State: &counterState{Count: uint64(len(names))}}
	if len(names) > 0 {
		seen.State.By = names[len(names)-1]
	}
	return ok(9, at, at+10, callRead, aPod, counterCall{}, seen)
}

func TestPodFindsEachWrong(t *testing.T) {
	ofNode := func(op history.Op) history.Op { op.Key = aPod + "/a"; return op }
	failed := grows(10, 20, "a", 2)
	failed.Out = raw(squadSeen{Version: 2, Failed: true})
	skipped := podAt(80, "a")
	skipped.Out = raw(squadSeen{Version: 3, Nodes: []string{"a"}})
	running := podAt(80, "a")
	running.Out = raw(squadSeen{Version: 2, Nodes: []string{"a"}, Running: true})
	a, ab := []string{"a"}, []string{"a", "b"}
	cases := []struct {
		name, rule string
		calls      script
	}{
		{"a pod that grows", "", script{podAt(5), grows(10, 20, "a", 2), podAt(30, "a"), grows(35, 60, "b", 3), podInTheEnd(false, ab, "a", "b")}},
		{"an unknown mutation that is there", "", script{unknown(grows(10, 20, "a", 0)), podInTheEnd(false, a, "a")}},
		{"one whose node never started", "", script{unknown(grows(10, 20, "a", 0)), podInTheEnd(false, a)}},
		{"an unknown mutation that is not there", "", script{unknown(grows(10, 20, "a", 0)), podInTheEnd(false, nil)}},
		{"a mutation that is asked for again", "", script{unknown(grows(10, 20, "a", 0)), grows(30, 40, "a", 2), podInTheEnd(false, a, "a")}},
		{"one that is answered twice", "", script{grows(10, 20, "a", 2), grows(30, 40, "a", 2), podAt(60, "a")}},
		{"one that is asked for again after it was seen", "", script{unknown(grows(10, 20, "a", 0)), podAt(25, "a"), grows(40, 50, "a", 2)}},
		{"a late answer to an early mutation", "", script{unknown(grows(10, 20, "a", 0)), grows(25, 28, "b", 3), grows(30, 40, "a", 2), podAt(60, "a", "b")}},
		{"a node that failed", "", script{failed, podInTheEnd(false, a)}},
		{"a mutation that runs still", "", script{grows(10, 85, "a", 2), running, podAt(90, "a")}},
		{"a node that is counted up", "", script{grows(10, 20, "a", 2), ofNode(counts(30, "x", 1, 1)), ofNode(countedAt(90, "x"))}},

		{"a mutation that nobody finds", "lost mutation", script{grows(10, 20, "a", 2), podAt(85, "b"), unknown(grows(1, 5, "b", 0))}},
		{"a mutation before its version", "lost mutation", script{grows(10, 40, "a", 3), unknown(grows(1, 5, "b", 0)), podAt(20, "a")}},
		{"a node that is gone", "lost node", script{unknown(grows(10, 20, "a", 0)), unknown(grows(10, 20, "b", 0)), unknown(grows(10, 20, "c", 0)), podAt(80, "a"), podAt(90, "b", "c")}},
		{"a read from before", "stale read", script{grows(10, 20, "a", 2), podAt(30)}},
		{"a mutation that counts twice", "mutation that counts twice", script{grows(10, 20, "a", 2), grows(30, 40, "a", 3)}},
		{"a version that counts twice", "two mutations of one version", script{grows(10, 20, "a", 2), grows(10, 20, "b", 2)}},
		{"a version without a node", "mutations and nodes apart", script{unknown(grows(10, 20, "a", 0)), skipped}},
		{"a refused mutation that is there", "refused mutation applied", script{refused(grows(10, 20, "a", 0), "mutation_in_progress"), podAt(90, "a")}},
		{"a node from nowhere", "node from nowhere", script{podAt(90, "a")}},
		{"a node before its time", "seen before it was added", script{podAt(10, "a"), unknown(grows(30, 40, "a", 0))}},
		{"a node that is there and never started", "node that never started", script{grows(10, 20, "a", 2), podInTheEnd(false, a)}},
		{"a mutation that runs for ever", "mutation that nobody ends", script{unknown(grows(10, 20, "a", 0)), podInTheEnd(true, a)}},
		{"a node that runs twice", "epoch ran backwards", script{ofNode(counts(10, "x", 2, 1)), ofNode(counts(30, "y", 1, 2))}},
		{"a node that counts twice", "duplicate entry", script{ofNode(counts(10, "x", 1, 1)), ofNode(countedAt(90, "x", "x"))}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { expect(t, judged(t, newSquad(), c.calls.history()), c.rule) })
	}
	jumped := script{unknown(grows(10, 20, "a", 0)), podInTheEnd(true, a)}.history(history.Event{Kind: history.EventFault, Name: "clock"})
	expect(t, judged(t, newSquad(), jumped), "")
	givesUp(t, newSquad(), cases[0].calls.history())
}

// podStore is a sound pod.
type podStore struct {
	r     *rand.Rand
	nodes []string
}

func (s *podStore) do(call string, in any) any {
	if call == callRead {
		return squadSeen{Version: uint64(len(s.nodes)) + 1, Nodes: slices.Clone(s.nodes)}
	}
	if s.r.IntN(5) == 0 {
		return nil
	}
	s.nodes = append(s.nodes, in.(squadCall).Name)
	return squadSeen{Version: uint64(len(s.nodes)) + 1}
}

func podHistory(seed uint64, processes, calls int) *history.History {
	s := &podStore{r: rand.New(rand.NewPCG(seed, 21))}
	n := 0
	run := soundRun{r: s.r, processes: processes, calls: calls, apply: s.do}
	run.begin = func(int) (string, any) {
		n++
		if s.r.IntN(4) == 0 {
			return callRead, squadCall{}
		}
		return callGrow, squadCall{Name: fmt.Sprint("n", n)}
	}
	return run.history(aPod)
}

func TestPodPassesSoundRuns(t *testing.T) {
	run := func(seed uint64) *history.History { return podHistory(seed, 1+int(seed%9), 120) }
	tellsApart(t, newSquad, run, 22, spoilPod)
}

// spoilPod takes a node out of a read, or turns back the version of a mutation,
// and says which.
func spoilPod(r *rand.Rand, h *history.History) string {
	for _, at := range r.Perm(len(h.Ops)) {
		op := &h.Ops[at]
		if op.Outcome != history.OK {
			continue
		}
		seen, err := history.Decode[squadSeen](op.Out)
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
		op.Out = raw(seen)
		return fmt.Sprintf("%s in call %d", what, op.ID)
	}
	return ""
}

func BenchmarkPodCheck(b *testing.B) {
	run := func(seed uint64) *history.History { return podHistory(seed, 9, 150) }
	scales(b, newSquad(), ofKeys(40, named(squadPrefix), run))
}
