package instance

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"dormouse/jepsen/history"
	"dormouse/jepsen/workload"
	"dormouse/jepsen/workload/workloadtest"
)

const aCounter = counterPrefix + "2"

// seenAt is a counter at rev, under an epoch of node n<epoch>.
func seenAt(epoch, rev uint64) CounterSeen {
	return CounterSeen{Node: fmt.Sprint("n", epoch), Epoch: epoch, Rev: rev, First: true}
}

func increments(at int, name string, epoch, rev uint64) history.Op {
	return workloadtest.OK(1, at, at+10, CallIncrement, aCounter, CounterCall{Name: name}, seenAt(epoch, rev))
}

func repeats(at int, name string, epoch, rev uint64) history.Op {
	seen := seenAt(epoch, rev)
	seen.First = false
	return workloadtest.OK(1, at, at+10, CallIncrement, aCounter, CounterCall{Name: name, Again: true}, seen)
}

func gets(from, to int, epoch, rev uint64, by string) history.Op {
	seen := seenAt(epoch, rev)
	seen.State = &CounterState{Count: rev, By: by}
	return workloadtest.OK(2, from, to, workload.CallGet, aCounter, CounterCall{}, seen)
}

func looksUp(from, to int, epoch, rev uint64, awake bool) history.Op {
	seen := seenAt(epoch, rev)
	seen.Awake = awake
	return workloadtest.OK(3, from, to, callLookup, aCounter, CounterCall{}, seen)
}

func casts(at int, name string) history.Op {
	return workloadtest.OK(4, at, at+10, callCast, aCounter, CounterCall{Name: name}, seenAt(1, 0))
}

func storedAt(at int, names ...string) history.Op {
	seen := CounterSeen{Rev: uint64(len(names)), Names: names, State: &CounterState{Count: uint64(len(names))}}
	if len(names) > 0 {
		seen.State.By = names[len(names)-1]
	}
	return workloadtest.OK(9, at, at+10, workload.CallRead, aCounter, CounterCall{}, seen)
}

func TestInstanceFindsEachWrong(t *testing.T) {
	torn := storedAt(90, "a", "b")
	torn.Out = workloadtest.Raw(CounterSeen{Rev: 2, Names: []string{"a", "b"}, State: &CounterState{Count: 1, By: "a"}})
	other := gets(30, 40, 1, 1, "a")
	other.Out = workloadtest.Raw(CounterSeen{Node: "n9", Epoch: 1, Rev: 1, State: &CounterState{Count: 1, By: "a"}})
	cases := []struct {
		name, rule string
		calls      workloadtest.Script
	}{
		{"increments", "", workloadtest.Script{increments(10, "a", 1, 1), gets(30, 40, 1, 1, "a"), increments(50, "b", 2, 2), storedAt(90, "a", "b")}},
		{"an owner after another", "", workloadtest.Script{increments(10, "a", 1, 1), looksUp(30, 40, 2, 1, true), increments(50, "b", 2, 2), storedAt(90, "a", "b")}},
		{"an increment that is sent again to a later owner", "", workloadtest.Script{
			workloadtest.Unknown(increments(10, "a", 0, 0)), increments(30, "b", 2, 2), repeats(50, "a", 3, 1), storedAt(90, "a", "b"),
		}},
		{"an unknown one that is there", "", workloadtest.Script{workloadtest.Unknown(increments(10, "a", 0, 0)), storedAt(90, "a")}},
		{"an unknown one that is not there", "", workloadtest.Script{workloadtest.Unknown(increments(10, "a", 0, 0)), storedAt(90)}},
		{"a refused one that is sent again", "", workloadtest.Script{workloadtest.Refused(increments(10, "a", 0, 0), "unavailable"), repeats(30, "a", 1, 1), storedAt(90, "a")}},
		{"casts that are lost and that are not", "", workloadtest.Script{casts(10, "a"), casts(10, "b"), increments(30, "c", 1, 2), storedAt(90, "b", "c")}},
		{"a lookup of one that sleeps, while it moves", "", workloadtest.Script{
			increments(10, "a", 1, 1), looksUp(30, 70, 3, 1, false), increments(50, "b", 2, 2), storedAt(90, "a", "b"),
		}},
		{"a lost increment", "lost append", workloadtest.Script{increments(10, "a", 1, 1), increments(30, "b", 1, 2), storedAt(90, "a")}},
		{"one that counts twice", "duplicate entry", workloadtest.Script{increments(10, "a", 1, 1), storedAt(90, "a", "a")}},
		{"one that counts twice for its sender", "duplicate entry", workloadtest.Script{increments(10, "a", 1, 1), repeats(30, "a", 1, 2), storedAt(90, "a")}},
		{"a refused one that counts", "refused append applied", workloadtest.Script{workloadtest.Refused(increments(10, "a", 0, 0), "unavailable"), storedAt(90, "a")}},
		{"a refused cast that counts", "refused append applied", workloadtest.Script{workloadtest.Refused(casts(10, "a"), "overloaded"), storedAt(90, "a")}},
		{"a cast that counts twice", "duplicate entry", workloadtest.Script{casts(10, "a"), storedAt(90, "a", "a")}},
		{"one from nowhere", "entry from nowhere", workloadtest.Script{increments(10, "a", 1, 1), storedAt(90, "a", "x")}},
		{"one before its time", "seen before it was written", workloadtest.Script{gets(10, 20, 1, 1, "a"), storedAt(22, "a"), workloadtest.Unknown(increments(30, "a", 0, 0))}},
		{"two at one place", "two appends at one seq", workloadtest.Script{increments(10, "a", 1, 1), increments(30, "b", 1, 1)}},
		{"nothing for an increment", "increment that left nothing", workloadtest.Script{increments(10, "a", 1, 0)}},
		{"a state without its entry", "state and thread apart", workloadtest.Script{increments(10, "a", 1, 1), increments(30, "b", 1, 2), torn}},
		{"another state", "state and thread apart", workloadtest.Script{increments(10, "a", 1, 1), gets(30, 40, 1, 1, "b")}},
		{"a stale lookup", "stale answer", workloadtest.Script{increments(10, "a", 2, 1), increments(30, "b", 2, 2), looksUp(50, 60, 2, 1, true), storedAt(90, "a", "b")}},
		{"an answer of an owner that was", "epoch ran backwards", workloadtest.Script{increments(10, "a", 2, 1), looksUp(30, 40, 1, 1, true)}},
		{"an answer of an owner that was, to a cast", "epoch ran backwards", workloadtest.Script{increments(10, "a", 2, 1), casts(30, "b")}},
		{"two owners", "two owners of one epoch", workloadtest.Script{increments(10, "a", 1, 1), other}},
		{"an effect after the next owner had it", "effect of a stale owner", workloadtest.Script{
			gets(30, 40, 2, 0, ""), workloadtest.OK(1, 10, 60, CallIncrement, aCounter, CounterCall{Name: "a"}, seenAt(1, 1)), storedAt(90, "a"),
		}},
		{"an effect between those of the next owner", "effect of a stale owner", workloadtest.Script{
			workloadtest.OK(1, 10, 60, CallIncrement, aCounter, CounterCall{Name: "b"}, seenAt(1, 2)), increments(30, "a", 2, 1), storedAt(90, "a", "b"),
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { workloadtest.Expect(t, workloadtest.Judged(t, New(), c.calls.History()), c.rule) })
	}
	workloadtest.GivesUp(t, New(), cases[0].calls.History())
}

// store is a correct counter that moves between owners.
type store struct {
	r     *rand.Rand
	epoch uint64
	names []string
}

func (s *store) do(call string, in any) any {
	if s.r.IntN(30) == 0 {
		s.epoch++
	}
	if call == workload.CallRead {
		return CounterSeen{Rev: uint64(len(s.names)), Names: slices.Clone(s.names), State: s.state()}
	}
	if s.r.IntN(20) == 0 {
		return nil
	}
	out := seenAt(s.epoch, 0)
	switch name := in.(CounterCall).Name; {
	case call == callCast && s.r.IntN(3) == 0: // the cast is lost
	case name == "":
		out.Rev, out.State = uint64(len(s.names)), s.state()
	case slices.Contains(s.names, name):
		out.Rev, out.First = uint64(slices.Index(s.names, name)+1), false
	default:
		s.names = append(s.names, name)
		out.Rev, out.First = uint64(len(s.names)), !in.(CounterCall).Again
	}
	if call == callLookup {
		out.State, out.Awake = nil, true
	}
	return out
}

func (s *store) state() *CounterState {
	state := &CounterState{Count: uint64(len(s.names))}
	if n := len(s.names); n > 0 {
		state.By = s.names[n-1]
	}
	return state
}

func storeHistory(seed uint64, processes, calls int) *history.History {
	s := &store{r: rand.New(rand.NewPCG(seed, 17)), epoch: 1}
	n := 0
	unheard := make([]string, processes) // increments without an answer
	run := workloadtest.SoundRun{R: s.r, Processes: processes, Calls: calls, Apply: s.do}
	run.Begin = func(at int) (string, any) {
		n++
		switch draw := s.r.IntN(20); {
		case draw < 3:
			return workload.CallRead, CounterCall{}
		case draw < 6:
			return callLookup, CounterCall{}
		case draw < 9:
			return workload.CallGet, CounterCall{}
		case draw < 11:
			return callCast, CounterCall{Name: fmt.Sprint("c", n)}
		case draw < 15 && unheard[at] != "":
			return CallIncrement, CounterCall{Name: unheard[at], Again: true}
		}
		unheard[at] = fmt.Sprint("i", n)
		return CallIncrement, CounterCall{Name: unheard[at]}
	}
	return run.History(aCounter)
}

func TestInstancePassesSoundRuns(t *testing.T) {
	run := func(seed uint64) *history.History { return storeHistory(seed, 1+int(seed%9), 300) }
	workloadtest.TellsApart(t, New, run, 18, spoilInstance)
}

// spoilInstance removes an acknowledged increment from the final state, or lowers the
// epoch of an answer, and describes the change.
func spoilInstance(r *rand.Rand, h *history.History) string {
	for _, at := range r.Perm(len(h.Ops)) {
		op := &h.Ops[at]
		if op.Outcome != history.OK || op.Call != workload.CallRead && op.Call != workload.CallGet {
			continue
		}
		seen, err := history.Decode[CounterSeen](op.Out)
		if err != nil {
			panic(err)
		}
		if op.Call == workload.CallRead && len(seen.Names) > 1 {
			i := r.IntN(len(seen.Names) - 1)
			seen.Names = slices.Delete(seen.Names, i, i+1)
			seen.Rev--
			seen.State.Count--
			op.Out = workloadtest.Raw(seen)
			return fmt.Sprintf("a lost increment in call %d", op.ID)
		}
		if op.Call == workload.CallGet && seen.Epoch > 5 {
			seen.Epoch, seen.Node = 1, "n1"
			op.Out = workloadtest.Raw(seen)
			return fmt.Sprintf("an epoch that is over in call %d", op.ID)
		}
	}
	return ""
}

func BenchmarkInstanceCheck(b *testing.B) {
	run := func(seed uint64) *history.History { return storeHistory(seed, 9, 1000) }
	workloadtest.Scales(b, New(), workloadtest.OfKeys(10, workloadtest.Named(counterPrefix), run))
}
