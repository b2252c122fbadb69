package workload

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"dormouse/jepsen/history"
)

const aLive = "live1"

func marks(from, to int, name string) history.Op {
	return ok(1, from, to, callMark, aLive, eraseLiveCall{Name: name}, eraseLiveSeen{First: true})
}

func erasesLive(from, to int) history.Op {
	return ok(2, from, to, callErase, aLive, eraseLiveCall{}, eraseLiveSeen{Complete: true})
}

func getsLive(from, to int, names ...string) history.Op {
	return ok(3, from, to, callGet, aLive, eraseLiveCall{}, eraseLiveSeen{Names: names})
}

func TestEraseLiveFindsEachWrong(t *testing.T) {
	again := marks(1, 5, "a")
	again.Out = raw(eraseLiveSeen{})
	partial := erasesLive(10, 20)
	partial.Out = raw(eraseLiveSeen{})
	cases := []struct {
		name, rule string
		calls      script
	}{
		{"marked, erased and marked anew", "", script{marks(1, 5, "a"), getsLive(6, 8, "a"), erasesLive(10, 20), getsLive(21, 25), marks(30, 35, "b"), getsLive(40, 45, "b")}},
		{"a get while it is erased", "", script{marks(1, 5, "a"), erasesLive(10, 20), getsLive(15, 30, "a")}},
		{"a mark while it is erased", "", script{erasesLive(10, 20), marks(5, 12, "a"), getsLive(21, 25, "a")}},
		{"an erasure that is not complete", "", script{marks(1, 5, "a"), partial, getsLive(21, 25, "a")}},
		{"an erasure whose outcome is unknown", "", script{marks(1, 5, "a"), unknown(erasesLive(10, 20)), getsLive(21, 25, "a")}},
		{"a mark whose outcome is unknown", "", script{unknown(marks(1, 5, "a")), erasesLive(10, 20), getsLive(21, 25, "a")}},
		{"a mark that was sent twice", "", script{again, erasesLive(10, 20), getsLive(21, 25, "a")}},
		{"a mark that is lost", "", script{marks(1, 5, "a"), getsLive(21, 25)}}, // other workloads' to judge

		{"a mark that lives on", "lived on", script{marks(1, 5, "a"), erasesLive(10, 20), getsLive(21, 25, "a")}},
		{"one of two", "lived on", script{marks(1, 5, "a"), erasesLive(10, 20), marks(21, 22, "b"), getsLive(25, 26, "a", "b")}},
		{"an erasure that began earlier and ended later", "lived on", script{marks(1, 5, "a"), erasesLive(3, 30), erasesLive(10, 20), getsLive(31, 35, "a")}},
		{"a mark of nobody", "from nowhere", script{getsLive(21, 25, "a")}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { expect(t, judged(t, newEraseLive(), c.calls.history()), c.rule) })
	}
	givesUp(t, newEraseLive(), cases[0].calls.history())
}

// liveStore is a sound instance.
type liveStore struct{ names []string }

func (s *liveStore) do(call string, in any) any {
	switch call {
	case callMark:
		s.names = append(s.names, in.(eraseLiveCall).Name)
		return eraseLiveSeen{First: true}
	case callErase:
		s.names = nil
		return eraseLiveSeen{Complete: true}
	default:
		return eraseLiveSeen{Names: append([]string(nil), s.names...)}
	}
}

func eraseLiveHistory(seed uint64, processes, calls int) *history.History {
	s, n := &liveStore{}, 0
	r := rand.New(rand.NewPCG(seed, 31))
	run := soundRun{r: r, processes: processes, calls: calls, apply: s.do}
	run.begin = func(int) (string, any) {
		n++
		switch draw := r.IntN(20); {
		case draw < 9:
			return callMark, eraseLiveCall{Name: fmt.Sprint("m", n)}
		case draw < 18:
			return callGet, eraseLiveCall{}
		default:
			return callErase, eraseLiveCall{}
		}
	}
	return run.history(aLive)
}

func TestEraseLivePassesSoundRuns(t *testing.T) {
	run := func(seed uint64) *history.History { return eraseLiveHistory(seed, 1+int(seed%9), 300) }
	tellsApart(t, newEraseLive, run, 31, spoilEraseLive)
}

// spoilEraseLive brings a mark back that an erasure took, and says where.
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
				if g := &h.Ops[at]; g.Call == callGet && g.Outcome == history.OK && g.Invoke > e.Return {
					in, err := history.Decode[eraseLiveCall](m.In)
					if err != nil {
						panic(err)
					}
					g.Out = raw(eraseLiveSeen{Names: []string{in.Name}})
					return fmt.Sprintf("an erased mark in call %d", g.ID)
				}
			}
		}
	}
	return ""
}

func BenchmarkEraseLiveCheck(b *testing.B) {
	run := func(seed uint64) *history.History { return eraseLiveHistory(seed, 9, 1000) }
	scales(b, newEraseLive(), ofKeys(10, named("live"), run))
}
