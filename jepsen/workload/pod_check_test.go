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
	return OK(1, from, to, callGrow, aPod, squadCall{Name: node}, squadSeen{Version: version})
}

// podAt is a read of a sound pod of these nodes.
func podAt(at int, nodes ...string) history.Op {
	return OK(9, at, at+5, CallRead, aPod, squadCall{}, squadSeen{Version: uint64(len(nodes)) + 1, Nodes: nodes})
}

// podInTheEnd is the final read of one, of which these nodes are stored.
func podInTheEnd(running bool, nodes []string, stored ...string) history.Op {
	seen := squadSeen{Version: uint64(len(nodes)) + 1, Nodes: nodes, Running: running, Stored: stored}
	return OK(9, 95, 99, CallRead, aPod, squadCall{Final: true}, seen)
}

// counts is an increment of a node's counter under an epoch of node n<epoch>.
func counts(at int, name string, epoch, rev uint64) history.Op {
	return OK(1, at, at+10, callIncrement, aPod, counterCall{Name: name}, counterSeen{Node: fmt.Sprint("n", epoch), Epoch: epoch, Rev: rev, First: true})
}

// countedAt is a read of what is stored of a node's counter.
func countedAt(at int, names ...string) history.Op {
	seen := counterSeen{Rev: uint64(len(names)), Names: names, State: &counterState{Count: uint64(len(names))}}
	if len(names) > 0 {
		seen.State.By = names[len(names)-1]
	}
	return OK(9, at, at+10, CallRead, aPod, counterCall{}, seen)
}

func TestPodFindsEachWrong(t *testing.T) {
	ofNode := func(op history.Op) history.Op { op.Key = aPod + "/a"; return op }
	failed := grows(10, 20, "a", 2)
	failed.Out = Raw(squadSeen{Version: 2, Failed: true})
	skipped := podAt(80, "a")
	skipped.Out = Raw(squadSeen{Version: 3, Nodes: []string{"a"}})
	running := podAt(80, "a")
	running.Out = Raw(squadSeen{Version: 2, Nodes: []string{"a"}, Running: true})
	a, ab := []string{"a"}, []string{"a", "b"}
	cases := []struct {
		name, rule string
		calls      Script
	}{
		{"a pod that grows", "", Script{podAt(5), grows(10, 20, "a", 2), podAt(30, "a"), grows(35, 60, "b", 3), podInTheEnd(false, ab, "a", "b")}},
		{"an unknown mutation that is there", "", Script{Unknown(grows(10, 20, "a", 0)), podInTheEnd(false, a, "a")}},
		{"one whose node never started", "", Script{Unknown(grows(10, 20, "a", 0)), podInTheEnd(false, a)}},
		{"an unknown mutation that is not there", "", Script{Unknown(grows(10, 20, "a", 0)), podInTheEnd(false, nil)}},
		{"a mutation that is asked for again", "", Script{Unknown(grows(10, 20, "a", 0)), grows(30, 40, "a", 2), podInTheEnd(false, a, "a")}},
		{"one that is answered twice", "", Script{grows(10, 20, "a", 2), grows(30, 40, "a", 2), podAt(60, "a")}},
		{"one that is asked for again after it was seen", "", Script{Unknown(grows(10, 20, "a", 0)), podAt(25, "a"), grows(40, 50, "a", 2)}},
		{"a late answer to an early mutation", "", Script{Unknown(grows(10, 20, "a", 0)), grows(25, 28, "b", 3), grows(30, 40, "a", 2), podAt(60, "a", "b")}},
		{"a node that failed", "", Script{failed, podInTheEnd(false, a)}},
		{"a mutation that runs still", "", Script{grows(10, 85, "a", 2), running, podAt(90, "a")}},
		{"a node that is counted up", "", Script{grows(10, 20, "a", 2), ofNode(counts(30, "x", 1, 1)), ofNode(countedAt(90, "x"))}},

		{"a mutation that nobody finds", "lost mutation", Script{grows(10, 20, "a", 2), podAt(85, "b"), Unknown(grows(1, 5, "b", 0))}},
		{"a mutation before its version", "lost mutation", Script{grows(10, 40, "a", 3), Unknown(grows(1, 5, "b", 0)), podAt(20, "a")}},
		{"a node that is gone", "lost node", Script{Unknown(grows(10, 20, "a", 0)), Unknown(grows(10, 20, "b", 0)), Unknown(grows(10, 20, "c", 0)), podAt(80, "a"), podAt(90, "b", "c")}},
		{"a read from before", "stale read", Script{grows(10, 20, "a", 2), podAt(30)}},
		{"a mutation that counts twice", "mutation that counts twice", Script{grows(10, 20, "a", 2), grows(30, 40, "a", 3)}},
		{"a version that counts twice", "two mutations of one version", Script{grows(10, 20, "a", 2), grows(10, 20, "b", 2)}},
		{"a version without a node", "mutations and nodes apart", Script{Unknown(grows(10, 20, "a", 0)), skipped}},
		{"a refused mutation that is there", "refused mutation applied", Script{Refused(grows(10, 20, "a", 0), "mutation_in_progress"), podAt(90, "a")}},
		{"a node from nowhere", "node from nowhere", Script{podAt(90, "a")}},
		{"a node before its time", "seen before it was added", Script{podAt(10, "a"), Unknown(grows(30, 40, "a", 0))}},
		{"a node that is there and never started", "node that never started", Script{grows(10, 20, "a", 2), podInTheEnd(false, a)}},
		{"a mutation that runs for ever", "mutation that nobody ends", Script{Unknown(grows(10, 20, "a", 0)), podInTheEnd(true, a)}},
		{"a node that runs twice", "epoch ran backwards", Script{ofNode(counts(10, "x", 2, 1)), ofNode(counts(30, "y", 1, 2))}},
		{"a node that counts twice", "duplicate entry", Script{ofNode(counts(10, "x", 1, 1)), ofNode(countedAt(90, "x", "x"))}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { Expect(t, Judged(t, newSquad(), c.calls.History()), c.rule) })
	}
	jumped := Script{Unknown(grows(10, 20, "a", 0)), podInTheEnd(true, a)}.History(history.Event{Kind: history.EventFault, Name: "clock"})
	Expect(t, Judged(t, newSquad(), jumped), "")
	GivesUp(t, newSquad(), cases[0].calls.History())
}

// podStore is a sound pod.
type podStore struct {
	r     *rand.Rand
	nodes []string
}

func (s *podStore) do(call string, in any) any {
	if call == CallRead {
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
	run := SoundRun{R: s.r, Processes: processes, Calls: calls, Apply: s.do}
	run.Begin = func(int) (string, any) {
		n++
		if s.r.IntN(4) == 0 {
			return CallRead, squadCall{}
		}
		return callGrow, squadCall{Name: fmt.Sprint("n", n)}
	}
	return run.History(aPod)
}

func TestPodPassesSoundRuns(t *testing.T) {
	run := func(seed uint64) *history.History { return podHistory(seed, 1+int(seed%9), 120) }
	TellsApart(t, newSquad, run, 22, spoilPod)
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
		op.Out = Raw(seen)
		return fmt.Sprintf("%s in call %d", what, op.ID)
	}
	return ""
}

func BenchmarkPodCheck(b *testing.B) {
	run := func(seed uint64) *history.History { return podHistory(seed, 9, 150) }
	Scales(b, newSquad(), OfKeys(40, Named(squadPrefix), run))
}
