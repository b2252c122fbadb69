package workload

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"dormouse/jepsen/history"
)

const aLive = "live1"

func marks(from, to int, name string) history.Op {
	return OK(1, from, to, callMark, aLive, eraseLiveCall{Name: name}, eraseLiveSeen{First: true})
}

func erasesLive(from, to int) history.Op {
	return OK(2, from, to, callErase, aLive, eraseLiveCall{}, eraseLiveSeen{Complete: true})
}

func getsLive(from, to int, names ...string) history.Op {
	return OK(3, from, to, CallGet, aLive, eraseLiveCall{}, eraseLiveSeen{Names: names})
}

func TestEraseLiveFindsEachWrong(t *testing.T) {
	again := marks(1, 5, "a")
	again.Out = Raw(eraseLiveSeen{})
	partial := erasesLive(10, 20)
	partial.Out = Raw(eraseLiveSeen{})
	cases := []struct {
		name, rule string
		calls      Script
	}{
		{"marked, erased and marked anew", "", Script{marks(1, 5, "a"), getsLive(6, 8, "a"), erasesLive(10, 20), getsLive(21, 25), marks(30, 35, "b"), getsLive(40, 45, "b")}},
		{"a get while it is erased", "", Script{marks(1, 5, "a"), erasesLive(10, 20), getsLive(15, 30, "a")}},
		{"a mark while it is erased", "", Script{erasesLive(10, 20), marks(5, 12, "a"), getsLive(21, 25, "a")}},
		{"an erasure that is not complete", "", Script{marks(1, 5, "a"), partial, getsLive(21, 25, "a")}},
		{"an erasure whose outcome is unknown", "", Script{marks(1, 5, "a"), Unknown(erasesLive(10, 20)), getsLive(21, 25, "a")}},
		{"a mark whose outcome is unknown", "", Script{Unknown(marks(1, 5, "a")), erasesLive(10, 20), getsLive(21, 25, "a")}},
		{"a mark that was sent twice", "", Script{again, erasesLive(10, 20), getsLive(21, 25, "a")}},
		{"a mark that is lost", "", Script{marks(1, 5, "a"), getsLive(21, 25)}}, // other workloads' to judge

		{"a mark that lives on", "lived on", Script{marks(1, 5, "a"), erasesLive(10, 20), getsLive(21, 25, "a")}},
		{"one of two", "lived on", Script{marks(1, 5, "a"), erasesLive(10, 20), marks(21, 22, "b"), getsLive(25, 26, "a", "b")}},
		{"an erasure that began earlier and ended later", "lived on", Script{marks(1, 5, "a"), erasesLive(3, 30), erasesLive(10, 20), getsLive(31, 35, "a")}},
		{"a mark of nobody", "from nowhere", Script{getsLive(21, 25, "a")}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { Expect(t, Judged(t, newEraseLive(), c.calls.History()), c.rule) })
	}
	GivesUp(t, newEraseLive(), cases[0].calls.History())
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
	run := SoundRun{R: r, Processes: processes, Calls: calls, Apply: s.do}
	run.Begin = func(int) (string, any) {
		n++
		switch draw := r.IntN(20); {
		case draw < 9:
			return callMark, eraseLiveCall{Name: fmt.Sprint("m", n)}
		case draw < 18:
			return CallGet, eraseLiveCall{}
		default:
			return callErase, eraseLiveCall{}
		}
	}
	return run.History(aLive)
}

func TestEraseLivePassesSoundRuns(t *testing.T) {
	run := func(seed uint64) *history.History { return eraseLiveHistory(seed, 1+int(seed%9), 300) }
	TellsApart(t, newEraseLive, run, 31, spoilEraseLive)
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
				if g := &h.Ops[at]; g.Call == CallGet && g.Outcome == history.OK && g.Invoke > e.Return {
					in, err := history.Decode[eraseLiveCall](m.In)
					if err != nil {
						panic(err)
					}
					g.Out = Raw(eraseLiveSeen{Names: []string{in.Name}})
					return fmt.Sprintf("an erased mark in call %d", g.ID)
				}
			}
		}
	}
	return ""
}

func BenchmarkEraseLiveCheck(b *testing.B) {
	run := func(seed uint64) *history.History { return eraseLiveHistory(seed, 9, 1000) }
	Scales(b, newEraseLive(), OfKeys(10, Named("live"), run))
}
