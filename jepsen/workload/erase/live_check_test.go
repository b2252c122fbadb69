package erase

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"dormouse/jepsen/history"
	"dormouse/jepsen/workload"
	"dormouse/jepsen/workload/workloadtest"
)

const aLive = "live1"

func marks(from, to int, name string) history.Op {
	return workloadtest.OK(1, from, to, callMark, aLive, liveCall{Name: name}, liveSeen{First: true})
}

func erasesLive(from, to int) history.Op {
	return workloadtest.OK(2, from, to, callErase, aLive, liveCall{}, liveSeen{Complete: true})
}

func getsLive(from, to int, names ...string) history.Op {
	return workloadtest.OK(3, from, to, workload.CallGet, aLive, liveCall{}, liveSeen{Names: names})
}

func TestEraseLiveFindsEachWrong(t *testing.T) {
	again := marks(1, 5, "a")
	again.Out = workloadtest.Raw(liveSeen{})
	partial := erasesLive(10, 20)
	partial.Out = workloadtest.Raw(liveSeen{})
	cases := []struct {
		name, rule string
		calls      workloadtest.Script
	}{
		{"marked, erased and marked anew", "", workloadtest.Script{marks(1, 5, "a"), getsLive(6, 8, "a"), erasesLive(10, 20), getsLive(21, 25), marks(30, 35, "b"), getsLive(40, 45, "b")}},
		{"a get while it is erased", "", workloadtest.Script{marks(1, 5, "a"), erasesLive(10, 20), getsLive(15, 30, "a")}},
		{"a mark while it is erased", "", workloadtest.Script{erasesLive(10, 20), marks(5, 12, "a"), getsLive(21, 25, "a")}},
		{"an erasure that is not complete", "", workloadtest.Script{marks(1, 5, "a"), partial, getsLive(21, 25, "a")}},
		{"an erasure whose outcome is unknown", "", workloadtest.Script{marks(1, 5, "a"), workloadtest.Unknown(erasesLive(10, 20)), getsLive(21, 25, "a")}},
		{"a mark whose outcome is unknown", "", workloadtest.Script{workloadtest.Unknown(marks(1, 5, "a")), erasesLive(10, 20), getsLive(21, 25, "a")}},
		{"a mark that was sent twice", "", workloadtest.Script{again, erasesLive(10, 20), getsLive(21, 25, "a")}},
		{"a mark that is lost", "", workloadtest.Script{marks(1, 5, "a"), getsLive(21, 25)}}, // other workloads judge this

		{"a mark that lives on", "lived on", workloadtest.Script{marks(1, 5, "a"), erasesLive(10, 20), getsLive(21, 25, "a")}},
		{"one of two", "lived on", workloadtest.Script{marks(1, 5, "a"), erasesLive(10, 20), marks(21, 22, "b"), getsLive(25, 26, "a", "b")}},
		{"an erasure that began earlier and ended later", "lived on", workloadtest.Script{marks(1, 5, "a"), erasesLive(3, 30), erasesLive(10, 20), getsLive(31, 35, "a")}},
		{"a mark of nobody", "from nowhere", workloadtest.Script{getsLive(21, 25, "a")}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			workloadtest.Expect(t, workloadtest.Judged(t, NewLive(), c.calls.History()), c.rule)
		})
	}
	workloadtest.GivesUp(t, NewLive(), cases[0].calls.History())
}

// liveStore is a correct instance.
type liveStore struct{ names []string }

func (s *liveStore) do(call string, in any) any {
	switch call {
	case callMark:
		s.names = append(s.names, in.(liveCall).Name)
		return liveSeen{First: true}
	case callErase:
		s.names = nil
		return liveSeen{Complete: true}
	default:
		return liveSeen{Names: append([]string(nil), s.names...)}
	}
}

func liveHistory(seed uint64, processes, calls int) *history.History {
	s, n := &liveStore{}, 0
	r := rand.New(rand.NewPCG(seed, 31))
	run := workloadtest.SoundRun{R: r, Processes: processes, Calls: calls, Apply: s.do}
	run.Begin = func(int) (string, any) {
		n++
		switch draw := r.IntN(20); {
		case draw < 9:
			return callMark, liveCall{Name: fmt.Sprint("m", n)}
		case draw < 18:
			return workload.CallGet, liveCall{}
		default:
			return callErase, liveCall{}
		}
	}
	return run.History(aLive)
}

func TestEraseLivePassesSoundRuns(t *testing.T) {
	run := func(seed uint64) *history.History { return liveHistory(seed, 1+int(seed%9), 300) }
	workloadtest.TellsApart(t, NewLive, run, 31, spoilEraseLive)
}

// spoilEraseLive restores a mark after an erasure and describes the change.
func spoilEraseLive(_ *rand.Rand, h *history.History) string {
	for _, e := range h.Ops {
		if e.Call != callErase || e.Outcome != history.OK {
			continue
		}
		for _, m := range h.Ops {
			if m.Call != callMark || m.Outcome != history.OK || m.Return >= e.Invoke {
				continue
			}
			for at := range h.Ops {
				if g := &h.Ops[at]; g.Call == workload.CallGet && g.Outcome == history.OK && g.Invoke > e.Return {
					in, err := history.Decode[liveCall](m.In)
					if err != nil {
						panic(err)
					}
					g.Out = workloadtest.Raw(liveSeen{Names: []string{in.Name}})
					return fmt.Sprintf("an erased mark in call %d", g.ID)
				}
			}
		}
	}
	return ""
}

func BenchmarkEraseLiveCheck(b *testing.B) {
	run := func(seed uint64) *history.History { return liveHistory(seed, 9, 1000) }
	workloadtest.Scales(b, NewLive(), workloadtest.OfKeys(10, workloadtest.Named("live"), run))
}
