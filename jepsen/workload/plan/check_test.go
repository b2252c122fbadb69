package plan

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"dormouse/jepsen/history"
	"dormouse/jepsen/workload"
	"dormouse/jepsen/workload/workloadtest"
)

const aPlanner = prefix + "3"

// plansOne is a plan under an epoch of node n<epoch>.
func plansOne(from, to int, name string, epoch uint64) history.Op {
	return workloadtest.OK(5, from, to, callPlan, aPlanner, planCall{Name: name}, planSeen{Node: fmt.Sprint("n", epoch), Epoch: epoch, First: true})
}

// plansAgain is a plan whose answer is to a later attempt.
func plansAgain(from, to int, name string, epoch uint64) history.Op {
	return workloadtest.OK(5, from, to, callPlan, aPlanner, planCall{Name: name}, planSeen{Node: fmt.Sprint("n", epoch), Epoch: epoch})
}

func plannedAt(at int, plans ...string) history.Op {
	return workloadtest.OK(9, at, at+5, workload.CallRead, aPlanner, planCall{}, planSeen{Plans: plans})
}

func TestPlanFindsEachWrong(t *testing.T) {
	other := plansOne(30, 40, "b", 1)
	other.Out = workloadtest.Raw(planSeen{Node: "n9", Epoch: 1, First: true})
	cases := []struct {
		name, rule string
		calls      workloadtest.Script
	}{
		{"plans of two owners", "", workloadtest.Script{plansOne(10, 20, "a", 1), plansOne(15, 40, "b", 2), plannedAt(90, "a", "b")}},
		{"an unknown plan that is there", "", workloadtest.Script{plansOne(10, 20, "a", 1), plansOne(15, 40, "b", 2), workloadtest.Unknown(plansOne(20, 30, "c", 0)), plannedAt(90, "a", "c", "b")}},
		{"an unknown plan that is not there", "", workloadtest.Script{plansOne(10, 20, "a", 1), workloadtest.Unknown(plansOne(20, 30, "c", 0)), plannedAt(90, "a")}},
		{"a refused plan", "", workloadtest.Script{plansOne(10, 20, "a", 1), workloadtest.Refused(plansOne(20, 30, "b", 0), "fenced"), plannedAt(90, "a")}},
		{"reads between", "", workloadtest.Script{plannedAt(5), plansOne(10, 20, "a", 1), plannedAt(30, "a"), plansOne(40, 50, "b", 1), plannedAt(90, "a", "b")}},
		{"a plan whose epoch is not known", "", workloadtest.Script{plansAgain(10, 40, "a", 3), plansOne(15, 40, "b", 2), plannedAt(90, "a", "b")}},
		{"a plan that no read could find", "", workloadtest.Script{plannedAt(5), plansOne(10, 20, "a", 1)}},
		{"a plan that an owner made after the next one had", "effect of a stale owner", workloadtest.Script{plansOne(10, 40, "a", 1), plansOne(15, 40, "b", 2), plannedAt(90, "b", "a")}},
		{"one between those of the next owner", "effect of a stale owner", workloadtest.Script{
			plansOne(10, 60, "a", 1), plansOne(15, 40, "b", 2), plansOne(50, 60, "c", 2), plannedAt(90, "b", "a", "c"),
		}},
		{"one under an epoch that is over, whichever it was", "effect of a stale owner", workloadtest.Script{plansAgain(10, 40, "a", 1), plansOne(15, 40, "b", 2), plannedAt(90, "b", "a")}},
		{"a plan that nobody finds", "lost plan", workloadtest.Script{plansOne(10, 20, "a", 1), plannedAt(90)}},
		{"a plan that is gone", "lost append", workloadtest.Script{plansOne(10, 20, "a", 1), plannedAt(80, "a"), plannedAt(90)}},
		{"an unknown plan that is gone", "lost append", workloadtest.Script{workloadtest.Unknown(plansOne(10, 20, "a", 1)), plannedAt(80, "a"), plannedAt(90)}},
		{"a read from before", "stale read", workloadtest.Script{plansOne(10, 20, "a", 1), plannedAt(30), plannedAt(90, "a")}},
		{"a plan before an earlier one", "stale answer", workloadtest.Script{plansOne(10, 20, "a", 1), plansOne(30, 40, "b", 1), plannedAt(90, "b", "a")}},
		{"a plan before its time", "seen before it was written", workloadtest.Script{plannedAt(10, "a"), workloadtest.Unknown(plansOne(30, 40, "a", 0))}},
		{"another order", "reads disagree", workloadtest.Script{workloadtest.Unknown(plansOne(10, 20, "a", 1)), workloadtest.Unknown(plansOne(10, 20, "b", 1)), plannedAt(80, "a", "b"), plannedAt(90, "b", "a")}},
		{"a plan that is there twice", "duplicate entry", workloadtest.Script{plansOne(10, 20, "a", 1), plannedAt(90, "a", "a")}},
		{"a refused plan that is there", "refused append applied", workloadtest.Script{workloadtest.Refused(plansOne(10, 20, "a", 1), "unavailable"), plannedAt(90, "a")}},
		{"a plan from nowhere", "entry from nowhere", workloadtest.Script{plannedAt(90, "a")}},
		{"an answer of an owner that was", "epoch ran backwards", workloadtest.Script{plansOne(10, 20, "a", 2), plansAgain(30, 40, "b", 1), plannedAt(90, "a", "b")}},
		{"two owners", "two owners of one epoch", workloadtest.Script{plansOne(10, 20, "a", 1), other, plannedAt(90, "a", "b")}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { workloadtest.Expect(t, workloadtest.Judged(t, New(), c.calls.History()), c.rule) })
	}
	workloadtest.GivesUp(t, New(), cases[0].calls.History())
}

// store is a correct instance that moves between owners.
type store struct {
	r     *rand.Rand
	epoch uint64
	plans []string
}

func (s *store) do(call string, in any) any {
	if s.r.IntN(20) == 0 {
		s.epoch++
	}
	if call == workload.CallRead {
		return planSeen{Plans: slices.Clone(s.plans)}
	}
	if s.r.IntN(20) == 0 {
		return nil
	}
	s.plans = append(s.plans, in.(planCall).Name)
	out := planSeen{Node: fmt.Sprint("n", s.epoch), Epoch: s.epoch, First: true}
	if s.r.IntN(4) == 0 { // an earlier owner may have made an earlier attempt
		s.epoch += uint64(s.r.IntN(2))
		out = planSeen{Node: fmt.Sprint("n", s.epoch), Epoch: s.epoch}
	}
	return out
}

func storeHistory(seed uint64, processes, calls int) *history.History {
	s := &store{r: rand.New(rand.NewPCG(seed, 19)), epoch: 1}
	n := 0
	run := workloadtest.SoundRun{R: s.r, Processes: processes, Calls: calls, Apply: s.do}
	run.Begin = func(int) (string, any) {
		n++
		if s.r.IntN(10) == 0 {
			return workload.CallRead, planCall{}
		}
		return callPlan, planCall{Name: fmt.Sprint("p", n)}
	}
	return run.History(aPlanner)
}

func TestPlanPassesSoundRuns(t *testing.T) {
	run := func(seed uint64) *history.History { return storeHistory(seed, 1+int(seed%9), 200) }
	workloadtest.TellsApart(t, New, run, 20, spoilPlan)
}

// spoilPlan removes a plan from a read, swaps two plans, or lowers the epoch of a late
// plan, and describes the change.
func spoilPlan(r *rand.Rand, h *history.History) string {
	for _, at := range r.Perm(len(h.Ops)) {
		op := &h.Ops[at]
		if op.Outcome != history.OK {
			continue
		}
		seen, err := history.Decode[planSeen](op.Out)
		if err != nil {
			panic(err)
		}
		what := ""
		switch n := len(seen.Plans); {
		case op.Call == callPlan && seen.Epoch > 5:
			seen.Epoch, seen.Node, what = 1, "n1", "an epoch that is over"
		case n > 20 && r.IntN(2) == 0:
			seen.Plans, what = slices.Delete(seen.Plans, n/2, n/2+1), "a lost plan"
		case n > 20:
			seen.Plans[0], seen.Plans[n-1], what = seen.Plans[n-1], seen.Plans[0], "another order of plans"
		default:
			continue
		}
		op.Out = workloadtest.Raw(seen)
		return fmt.Sprintf("%s in call %d", what, op.ID)
	}
	return ""
}

func BenchmarkPlanCheck(b *testing.B) {
	run := func(seed uint64) *history.History { return storeHistory(seed, 9, callsMax) }
	workloadtest.Scales(b, New(), workloadtest.OfKeys(40, workloadtest.Named(prefix), run))
}
