package erase

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"dormouse/jepsen/history"
	"dormouse/jepsen/workload"
	"dormouse/jepsen/workload/workloadtest"
)

const anAgent = "agent2"

// whole is a write of all parts.
func whole(name string) eraseCall {
	return eraseCall{Name: name, Journal: true, Memory: true, Sessions: 2}
}

func writesAgent(from, to int, name string, index uint64) history.Op {
	return workloadtest.OK(1, from, to, workload.CallPut, anAgent, whole(name), eraseSeen{Index: index, Time: int64(index)})
}

// erasesAgent is an erasure at an index, with its own receipt.
func erasesAgent(from, to int, index uint64) history.Op {
	return erasesWith(from, to, index, &eraseReceipt{Index: index, Complete: int64(index)})
}

func erasesWith(from, to int, index uint64, r *eraseReceipt) history.Op {
	return workloadtest.OK(2, from, to, callErase, anAgent, eraseCall{}, eraseSeen{Index: index, Time: int64(index), Receipt: r})
}

func lateAt(from, to int, name string, since, index uint64) history.Op {
	return workloadtest.OK(3, from, to, callLate, anAgent, eraseCall{Name: name, Incarnation: since, Since: since}, eraseSeen{Index: index})
}

// agentOf is an agent with all parts of these writes, last erased at an index.
func agentOf(index, erased uint64, names ...string) eraseSeen {
	s := eraseSeen{Index: index, Thread: names, Memories: names, Recalled: names, Listed: names, Sessions: map[string]uint64{}}
	for _, name := range names {
		s.Checkpoint, s.Sessions[name] = name, 2
	}
	if erased > 0 {
		s.Receipt = &eraseReceipt{Index: erased, Complete: int64(erased)}
	}
	return s
}

func readsAgent(at int, s eraseSeen) history.Op {
	return workloadtest.OK(4, at, at+5, workload.CallRead, anAgent, eraseCall{}, s)
}

func TestEraseFindsEachWrong(t *testing.T) {
	without := func(s eraseSeen, take func(*eraseSeen)) eraseSeen {
		take(&s)
		return s
	}
	sealed := erasesAgent(20, 30, 20)
	sealed.In = workloadtest.Raw(eraseCall{Seal: 10 * time.Millisecond})
	going := &eraseReceipt{Index: 20} // an incomplete erasure
	cases := []struct {
		name, rule string
		calls      workloadtest.Script
	}{
		{"written, erased and made anew", "", workloadtest.Script{
			writesAgent(1, 5, "a", 10), readsAgent(6, agentOf(12, 0, "a")), erasesAgent(20, 30, 20), readsAgent(32, agentOf(22, 20)),
			writesAgent(40, 45, "b", 30), readsAgent(50, agentOf(33, 20, "b")),
		}},
		{"an unknown erasure that took place", "", workloadtest.Script{writesAgent(1, 5, "a", 10), workloadtest.Unknown(erasesAgent(6, 9, 0)), readsAgent(32, agentOf(22, 15))}},
		{"an unknown erasure that did not", "", workloadtest.Script{writesAgent(1, 5, "a", 10), workloadtest.Unknown(erasesAgent(6, 9, 0)), readsAgent(32, agentOf(22, 0, "a"))}},
		{"an unknown write after the erasure", "", workloadtest.Script{workloadtest.Unknown(writesAgent(1, 5, "a", 0)), erasesAgent(6, 9, 10), readsAgent(32, agentOf(22, 10, "a"))}},
		{"a write and an erasure in one entry", "", workloadtest.Script{writesAgent(1, 5, "a", 10), erasesAgent(1, 5, 10), readsAgent(32, agentOf(22, 10, "a"))}},
		{"an erasure of what is erased already", "", workloadtest.Script{
			writesAgent(1, 5, "a", 10), erasesAgent(6, 9, 20), erasesWith(11, 13, 22, &eraseReceipt{Index: 20, Complete: 20}), readsAgent(32, agentOf(25, 20)),
		}},
		{"an unknown erasure that goes on with one", "", workloadtest.Script{
			erasesWith(1, 5, 20, going), writesAgent(6, 9, "a", 22), workloadtest.Unknown(erasesAgent(10, 11, 0)), readsAgent(32, without(agentOf(30, 20), func(s *eraseSeen) { s.Receipt = going })),
		}},
		{"a late call within a life", "", workloadtest.Script{writesAgent(1, 5, "a", 10), lateAt(6, 9, "a", 10, 12), erasesAgent(10, 11, 13), readsAgent(32, agentOf(22, 13))}},
		{"a write after the seal", "", workloadtest.Script{sealed, writesAgent(40, 45, "a", 30), readsAgent(50, agentOf(33, 20, "a"))}},

		{"what was erased is there", "erased and still there", workloadtest.Script{writesAgent(1, 5, "a", 10), erasesAgent(6, 9, 20), readsAgent(32, agentOf(22, 20, "a"))}},
		{"what an unknown erasure erased is there", "erased and still there", workloadtest.Script{
			writesAgent(1, 5, "a", 10), workloadtest.Unknown(erasesAgent(6, 9, 0)), readsAgent(32, agentOf(22, 15, "a")),
		}},
		{"an unknown write that was erased is back", "erased and still there", workloadtest.Script{
			workloadtest.Unknown(writesAgent(1, 5, "a", 0)), readsAgent(6, agentOf(10, 0, "a")), erasesAgent(12, 15, 20), readsAgent(32, agentOf(22, 20, "a")),
		}},
		{"a memory of it is found", "erased and still there", workloadtest.Script{
			writesAgent(1, 5, "a", 10), erasesAgent(6, 9, 20), readsAgent(32, without(agentOf(22, 20), func(s *eraseSeen) { s.Recalled = []string{"a"} })),
		}},
		{"a session of it is listed", "erased and still there", workloadtest.Script{
			writesAgent(1, 5, "a", 10), erasesAgent(6, 9, 20), readsAgent(32, without(agentOf(22, 20), func(s *eraseSeen) { s.Sessions["a"] = 1 })),
		}},
		{"its memories went, and its sessions did not", "half of a write", workloadtest.Script{
			writesAgent(1, 5, "a", 10), workloadtest.Unknown(erasesAgent(6, 9, 0)), readsAgent(32, without(agentOf(22, 0, "a"), func(s *eraseSeen) { s.Memories, s.Recalled, s.Listed = nil, nil, nil })),
		}},
		{"a memory of it is listed", "erased and still there", workloadtest.Script{
			writesAgent(1, 5, "a", 10), erasesAgent(6, 9, 20), readsAgent(32, without(agentOf(22, 20), func(s *eraseSeen) { s.Listed = []string{"a"} })),
		}},
		{"a memory that the list of all agents lacks", "half of a write", workloadtest.Script{
			writesAgent(1, 5, "a", 10), readsAgent(32, without(agentOf(22, 0, "a"), func(s *eraseSeen) { s.Listed = nil })),
		}},
		{"a list in part", "", workloadtest.Script{
			writesAgent(1, 5, "a", 10), readsAgent(32, without(agentOf(22, 0, "a"), func(s *eraseSeen) { s.Listed, s.ListedPart = nil, true })),
		}},
		{"some sessions of many", "half of a write", workloadtest.Script{writesAgent(1, 5, "a", 10), readsAgent(32, without(agentOf(22, 0, "a"), func(s *eraseSeen) { s.Sessions["a"] = 1 }))}},
		{"a lost write", "lost write", workloadtest.Script{writesAgent(1, 5, "a", 10), readsAgent(32, agentOf(22, 0))}},
		{"a lost unknown write", "lost write", workloadtest.Script{workloadtest.Unknown(writesAgent(1, 5, "a", 0)), readsAgent(6, agentOf(10, 0, "a")), readsAgent(32, agentOf(22, 0))}},
		{"an unknown write that one of two reads lacks", "lost write", workloadtest.Script{
			workloadtest.Unknown(writesAgent(1, 5, "a", 0)), readsAgent(6, agentOf(10, 0, "a")), readsAgent(6, agentOf(10, 0)),
		}},
		{"an unknown write, seen after the erasure and lost", "lost write", workloadtest.Script{
			erasesAgent(1, 2, 5), workloadtest.Unknown(writesAgent(3, 4, "a", 0)), readsAgent(6, agentOf(10, 5, "a")),
			workloadtest.Unknown(erasesAgent(12, 15, 0)), readsAgent(32, agentOf(22, 5)),
		}},
		{"an unknown write that is applied between reads", "", workloadtest.Script{
			workloadtest.Unknown(writesAgent(1, 5, "a", 0)), readsAgent(6, agentOf(10, 0)), readsAgent(12, agentOf(22, 0, "a")),
		}},
		{"an unknown write and an unknown erasure", "", workloadtest.Script{
			workloadtest.Unknown(writesAgent(1, 5, "a", 0)), readsAgent(6, agentOf(10, 0, "a")), workloadtest.Unknown(erasesAgent(12, 15, 0)), readsAgent(32, agentOf(22, 15)),
		}},
		{"an unknown write and an unknown erasure that goes on with one", "", workloadtest.Script{
			erasesWith(1, 5, 20, going), workloadtest.Unknown(writesAgent(6, 9, "a", 0)), readsAgent(10, without(agentOf(25, 20, "a"), func(s *eraseSeen) { s.Receipt = going })),
			workloadtest.Unknown(erasesAgent(16, 17, 0)), readsAgent(32, agentOf(40, 20)),
		}},
		{"an unknown write and an answered erasure that goes on with one", "", workloadtest.Script{
			erasesWith(1, 5, 20, going), workloadtest.Unknown(writesAgent(6, 9, "a", 0)), readsAgent(10, without(agentOf(25, 20, "a"), func(s *eraseSeen) { s.Receipt = going })),
			erasesWith(16, 17, 30, going), readsAgent(32, agentOf(40, 20)),
		}},
		{"an unknown write that an answered erasure erased", "", workloadtest.Script{
			workloadtest.Unknown(writesAgent(1, 5, "a", 0)), readsAgent(6, agentOf(10, 0, "a")), erasesAgent(12, 15, 20), readsAgent(32, agentOf(22, 20)),
		}},
		{"a lost write after the erasure", "lost write", workloadtest.Script{workloadtest.Unknown(erasesAgent(1, 2, 0)), erasesAgent(1, 5, 10), writesAgent(6, 9, "a", 20), readsAgent(32, agentOf(22, 10))}},
		{"an erasure that was refused", "lost write", workloadtest.Script{writesAgent(1, 5, "a", 10), workloadtest.Refused(erasesAgent(6, 9, 0), "unavailable"), readsAgent(32, agentOf(22, 0))}},
		{"an erasure without a call", "erased by no call", workloadtest.Script{writesAgent(1, 5, "a", 10), readsAgent(32, agentOf(22, 15))}},
		{"an unknown erasure that comes twice", "erased by no call", workloadtest.Script{
			workloadtest.Unknown(erasesAgent(1, 2, 0)), readsAgent(5, agentOf(10, 5)), writesAgent(11, 15, "a", 12), readsAgent(32, agentOf(22, 15)),
		}},
		{"an older receipt", "receipt went back", workloadtest.Script{erasesAgent(1, 2, 10), erasesAgent(3, 4, 20), readsAgent(5, agentOf(22, 10))}},
		{"no receipt", "receipt went back", workloadtest.Script{erasesAgent(1, 2, 10), readsAgent(5, agentOf(22, 0))}},
		{"a stale read", "index went back", workloadtest.Script{writesAgent(1, 5, "a", 10), readsAgent(7, agentOf(9, 0))}},
		{"a refused write", "refused but applied", workloadtest.Script{workloadtest.Refused(writesAgent(1, 5, "a", 0), "deleted"), readsAgent(7, agentOf(9, 0, "a"))}},
		{"a write by nobody", "from nowhere", workloadtest.Script{readsAgent(7, agentOf(9, 0, "a"))}},
		{"an entry without its checkpoint", "checkpoint and thread apart", workloadtest.Script{
			writesAgent(1, 5, "a", 10), readsAgent(7, without(agentOf(12, 0, "a"), func(s *eraseSeen) { s.Checkpoint = "" })),
		}},
		{"an entry that is there twice", "applied twice", workloadtest.Script{
			writesAgent(1, 5, "a", 10), readsAgent(7, without(agentOf(12, 0, "a"), func(s *eraseSeen) { s.Thread = []string{"a", "a"} })),
		}},
		{"a late call that brings a session back", "brought back", workloadtest.Script{writesAgent(1, 5, "a", 10), erasesAgent(6, 9, 20), lateAt(11, 13, "a", 10, 25)}},
		{"a write to a sealed agent", "written while sealed", workloadtest.Script{sealed, writesAgent(40, 45, "a", 25)}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { workloadtest.Expect(t, workloadtest.Judged(t, New(), c.calls.History()), c.rule) })
	}
	workloadtest.GivesUp(t, New(), cases[0].calls.History())
}

// store is a correct store of one agent. Its erasures take some more log entries to
// complete.
type store struct {
	r       *rand.Rand
	index   uint64
	names   []string
	made    map[string]uint64 // :: write → its index
	receipt *eraseReceipt
	whole   bool // the state at this index was read: no more writes at it
}

func (s *store) do(call string, in any) any {
	if s.whole || s.r.IntN(4) > 0 { // otherwise the call shares the previous index
		s.index++
	}
	s.whole = call == workload.CallRead
	if s.receipt != nil && s.receipt.Complete == 0 && s.r.IntN(3) == 0 {
		done := *s.receipt
		done.Complete = int64(s.index)
		s.receipt = &done
	}
	out := eraseSeen{Index: s.index, Time: int64(s.index)}
	c := in.(eraseCall)
	switch call {
	case workload.CallPut:
		s.names, s.made[c.Name] = append(s.names, c.Name), s.index
	case callLate:
		if !slices.Contains(s.names, c.Name) {
			return nil
		}
	case callErase:
		if s.receipt == nil || s.receipt.Complete > 0 && len(s.names) > 0 {
			s.receipt = &eraseReceipt{Index: s.index}
		}
		s.names, out.Receipt = nil, s.receipt
	default:
		out = agentOf(s.index, 0, slices.Clone(s.names)...)
		out.Receipt = s.receipt
	}
	return out
}

func storeHistory(seed uint64, processes, calls int) *history.History {
	s := &store{r: rand.New(rand.NewPCG(seed, 29)), index: 1, made: map[string]uint64{}}
	n := 0
	run := workloadtest.SoundRun{R: s.r, Processes: processes, Calls: calls, Apply: s.do}
	run.Begin = func(int) (string, any) {
		n++
		switch draw := s.r.IntN(20); {
		case draw < 8:
			return workload.CallRead, eraseCall{}
		case draw < 10:
			return callErase, eraseCall{}
		case draw < 12 && len(s.names) > 0:
			name := s.names[s.r.IntN(len(s.names))]
			return callLate, eraseCall{Name: name, Incarnation: s.made[name], Since: s.made[name]}
		}
		return workload.CallPut, whole(fmt.Sprint("w", n))
	}
	return run.History(anAgent)
}

func TestErasePassesSoundRuns(t *testing.T) {
	run := func(seed uint64) *history.History { return storeHistory(seed, 1+int(seed%9), 300) }
	workloadtest.TellsApart(t, New, run, 31, spoilErase)
}

// spoilErase removes a write from the last read that has one, or adds one to a read
// after an erasure, and describes the change.
func spoilErase(r *rand.Rand, h *history.History) string {
	var before []string // found by earlier reads
	for at := range h.Ops {
		op := &h.Ops[at]
		if op.Outcome != history.OK || op.Call != workload.CallRead {
			continue
		}
		seen, err := history.Decode[eraseSeen](op.Out)
		if err != nil {
			panic(err)
		}
		if back := len(before) > 0 && len(seen.Thread) == 0; back && r.IntN(2) == 0 {
			seen.Memories = before[:1]
			op.Out = workloadtest.Raw(seen)
			return fmt.Sprintf("an erased memory in call %d", op.ID)
		}
		if len(seen.Thread) > 1 && r.IntN(4) == 0 {
			delete(seen.Sessions, seen.Thread[0])
			op.Out = workloadtest.Raw(seen)
			return fmt.Sprintf("lost sessions in call %d", op.ID)
		}
		before = append(before, seen.Thread...)
	}
	return ""
}

func BenchmarkEraseCheck(b *testing.B) {
	run := func(seed uint64) *history.History { return storeHistory(seed, 9, 1000) }
	workloadtest.Scales(b, New(), workloadtest.OfKeys(10, workloadtest.Named("agent"), run))
}
