package deletes

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"dormouse/jepsen/history"
	"dormouse/jepsen/workload/workloadtest"
)

func TestDeleteFindsEachWrong(t *testing.T) {
	put := func(process, at int, in deletePut, incarnation, revision, index uint64) history.Op {
		out := deleteSeen{Incarnation: incarnation, Revision: revision, Index: index, Time: int64(index) * 1000}
		return workloadtest.OK(process, at, at+1, "put", "k", in, out)
	}
	del := func(process, at int, in deleteCall, incarnation, index uint64) history.Op {
		return workloadtest.OK(process, at, at+1, "delete", "k", in, deleteSeen{Incarnation: incarnation, Index: index, Time: int64(index) * 1000})
	}
	untold := func(process, at int, in deleteCall, index uint64) history.Op {
		return workloadtest.OK(process, at, at+1, "delete", "k", in, deleteSeen{Untold: true, Index: index})
	}
	get := func(process, at int, incarnation, revision uint64, name string, index uint64) history.Op {
		return workloadtest.OK(process, at, at+1, "get", "k", struct{}{}, deleteSeen{Incarnation: incarnation, Revision: revision, Name: name, Index: index})
	}
	a, b := deletePut{Name: "a"}, deletePut{Name: "b"}
	late, fresh := deletePut{Name: "b", Incarnation: 1}, deletePut{Name: "b", New: true}
	gone := workloadtest.Script{put(1, 0, a, 1, 1, 1), del(1, 2, deleteCall{}, 1, 2)}
	after := func(more ...history.Op) workloadtest.Script {
		return append(append(workloadtest.Script{}, gone...), more...)
	}
	sealed := workloadtest.Script{put(1, 0, a, 1, 1, 1), del(1, 2, deleteCall{Seal: 5 * time.Second}, 1, 2)}
	cases := []struct {
		name, rule string
		calls      workloadtest.Script
	}{
		{"deleted and made anew", "", after(get(2, 4, 0, 0, "", 2), put(2, 6, b, 3, 1, 3), get(2, 8, 3, 1, "b", 3))},
		{"a late write is refused", "", after(workloadtest.Refused(put(2, 4, late, 0, 0, 0), "deleted"))},
		{"a write that names the one that is there", "", workloadtest.Script{put(1, 0, a, 1, 1, 1), put(1, 2, late, 1, 2, 2), get(2, 4, 1, 2, "b", 2)}},
		{"an unknown delete may have applied", "", workloadtest.Script{put(1, 0, a, 1, 1, 1), workloadtest.Unknown(del(1, 2, deleteCall{}, 0, 0)), get(2, 4, 0, 0, "", 2)}},
		{"or apply later", "", workloadtest.Script{put(1, 0, a, 1, 1, 1), workloadtest.Unknown(del(1, 2, deleteCall{}, 0, 0)), get(2, 4, 1, 1, "a", 2), get(2, 6, 0, 0, "", 3)}},
		{"an unknown write without a name may come late", "", workloadtest.Script{
			put(1, 0, a, 1, 1, 1), workloadtest.Unknown(put(2, 1, b, 0, 0, 0)), del(1, 2, deleteCall{}, 1, 2), get(2, 4, 3, 1, "b", 3),
		}},
		{"nothing to delete", "", after(del(2, 4, deleteCall{}, 0, 3))},
		{"deleted without a word", "", workloadtest.Script{put(1, 0, a, 1, 1, 1), untold(1, 2, deleteCall{}, 2), get(2, 4, 0, 0, "", 2), put(2, 6, b, 3, 1, 3), untold(1, 8, deleteCall{Incarnation: 3}, 4)}},
		{"nothing to delete, without a word", "", after(untold(2, 4, deleteCall{}, 3), untold(2, 6, deleteCall{Seal: time.Second}, 4))},
		{"a seal without its time", "", workloadtest.Script{untold(1, 2, deleteCall{Seal: 5 * time.Second}, 2), put(2, 4, b, 6, 1, 6)}},
		{"it is there after a delete without a word", "brought back", workloadtest.Script{put(1, 0, a, 1, 1, 1), untold(1, 2, deleteCall{}, 2), get(2, 4, 1, 1, "a", 3)}},
		{"deleted again without a word", "brought back", after(untold(2, 4, deleteCall{Incarnation: 1}, 3))},
		{"the longest seal without its time", "broken seal", workloadtest.Script{untold(1, 2, deleteCall{Seal: sealForever}, 2), put(2, 4, b, 1<<40, 1, 1<<40)}},
		{"a seal that is over", "", append(sealed, put(2, 4, b, 8, 1, 8))},
		{"a seal that holds", "", append(sealed, workloadtest.Refused(put(2, 4, b, 0, 0, 0), "deleted"))},
		{"a late write brings it back", "brought back", after(put(2, 4, late, 1, 2, 3))},
		{"it is there again", "brought back", after(get(2, 4, 1, 1, "a", 3))},
		{"it is there again after it was seen to be gone", "brought back", workloadtest.Script{
			put(1, 0, a, 1, 1, 1), workloadtest.Unknown(del(1, 2, deleteCall{}, 0, 0)), get(2, 4, 0, 0, "", 2), get(2, 6, 1, 1, "a", 3),
		}},
		{"deleted again", "brought back", after(del(2, 4, deleteCall{}, 1, 3))},
		{"numbers that fall", "brought back", after(put(2, 4, b, 3, 1, 3), del(2, 6, deleteCall{}, 3, 4), put(3, 8, deletePut{Name: "c"}, 2, 1, 5))},
		{"deleted by two", "deleted twice", workloadtest.Script{put(1, 0, a, 1, 1, 1), del(2, 2, deleteCall{}, 1, 2), del(3, 2, deleteCall{}, 1, 3)}},
		{"gone by itself", "vanished", workloadtest.Script{put(1, 0, a, 1, 1, 1), get(2, 4, 0, 0, "", 2)}},
		{"gone by itself and made anew", "vanished", workloadtest.Script{put(1, 0, a, 1, 1, 1), put(2, 4, b, 2, 1, 2)}},
		{"gone by a delete of another", "vanished", workloadtest.Script{put(1, 0, a, 4, 1, 1), workloadtest.Unknown(del(1, 2, deleteCall{Incarnation: 1}, 0, 0)), get(2, 4, 0, 0, "", 2)}},
		{"another one was written", "another incarnation", after(put(2, 4, late, 3, 1, 3))},
		{"another one was deleted", "another incarnation", after(put(2, 4, b, 3, 1, 3), del(2, 6, deleteCall{Incarnation: 1}, 3, 4))},
		{"over what was not to be there", "expectation ignored", workloadtest.Script{put(1, 0, a, 1, 1, 1), put(2, 2, fresh, 1, 2, 2)}},
		{"a seal that is broken", "broken seal", append(sealed, put(2, 4, b, 6, 1, 6))},
		{"the longest seal", "broken seal", workloadtest.Script{del(1, 2, deleteCall{Seal: sealForever}, 0, 2), put(2, 4, b, 1<<40, 1, 1<<40)}},
		{"refused without a seal", "refused for no reason", after(workloadtest.Refused(put(2, 4, b, 0, 0, 0), "deleted"))},
		{"refused and it was there", "refused for no reason", workloadtest.Script{put(1, 0, a, 1, 1, 1), workloadtest.Refused(put(2, 4, late, 0, 0, 0), "deleted")}},
		{"refused and there", "refused but applied", workloadtest.Script{put(1, 0, a, 1, 1, 1), workloadtest.Refused(put(2, 2, b, 0, 0, 0), "conflict"), get(2, 4, 1, 2, "b", 2)}},
		{"in two incarnations", "applied twice", after(workloadtest.Unknown(put(2, 4, b, 0, 0, 0)), get(2, 6, 3, 1, "b", 3), get(2, 8, 4, 1, "b", 4))},
		{"a stale read", "lost or stale", workloadtest.Script{put(1, 0, a, 1, 1, 1), put(1, 2, b, 1, 2, 2), get(2, 4, 1, 1, "a", 2)}},
		{"an older index", "index went back", workloadtest.Script{put(1, 0, a, 1, 1, 7), get(2, 4, 1, 1, "a", 6)}},
		{"an older time", "time ran back", workloadtest.Script{
			put(1, 0, a, 1, 1, 1), workloadtest.OK(1, 2, 3, "put", "k", b, deleteSeen{Incarnation: 1, Revision: 2, Index: 2, Time: 999}),
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { workloadtest.Expect(t, workloadtest.Judged(t, New(), c.calls.History()), c.rule) })
	}
	workloadtest.GivesUp(t, New(), cases[0].calls.History())
}

// store is a correct store of one id.
type store struct {
	r           *rand.Rand
	index       uint64
	time        int64
	incarnation uint64 // 0 if the id does not exist
	revision    uint64
	name        string
	sealed      int64
}

// deletedRefusal is the store's answer to a call that is refused as deleted.
type deletedRefusal struct{}

func (s *store) do(_ string, in any) any {
	s.index++
	s.time += s.r.Int64N(300)
	switch in := in.(type) {
	case deletePut:
		switch {
		case s.incarnation != 0 && in.Incarnation != 0 && in.Incarnation != s.incarnation, s.incarnation == 0 && (s.sealed > s.time || in.Incarnation != 0):
			return deletedRefusal{}
		case s.incarnation != 0 && in.New:
			return nil
		case s.incarnation == 0:
			s.incarnation, s.revision = s.index, 0
		}
		s.revision, s.name = s.revision+1, in.Name
		return deleteSeen{Incarnation: s.incarnation, Revision: s.revision, Index: s.index, Time: s.time}
	case deleteCall:
		if in.Incarnation != 0 && in.Incarnation != s.incarnation {
			return deletedRefusal{}
		}
		if in.Seal > 0 {
			s.sealed = max(s.sealed, s.time+in.Seal.Milliseconds())
		}
		out := deleteSeen{Incarnation: s.incarnation, Index: s.index, Time: s.time}
		s.incarnation = 0
		if s.r.IntN(2) == 0 {
			out = deleteSeen{Untold: true, Index: s.index}
		}
		return out
	default:
		if s.incarnation == 0 {
			return deleteSeen{Index: s.index}
		}
		return deleteSeen{Incarnation: s.incarnation, Revision: s.revision, Name: s.name, Index: s.index}
	}
}

func storeHistory(seed uint64, processes, calls int) *history.History {
	s := &store{r: rand.New(rand.NewPCG(seed, 9)), time: 1}
	n, known := 0, []uint64{0}
	run := workloadtest.SoundRun{R: s.r, Processes: processes, Calls: calls, Apply: s.do}
	run.Begin = func(int) (string, any) {
		n++
		meant := uint64(0)
		if s.r.IntN(3) == 0 {
			meant = known[max(0, len(known)-1-s.r.IntN(3))]
		}
		switch draw := s.r.IntN(100); {
		case draw < 35:
			return "get", struct{}{}
		case draw < 80:
			return "put", deletePut{Name: fmt.Sprint(n), Incarnation: meant, New: s.r.IntN(8) == 0}
		case draw < 96:
			return "delete", deleteCall{Incarnation: meant}
		default:
			return "delete", deleteCall{Seal: time.Duration(1+s.r.IntN(5)) * time.Second}
		}
	}
	run.Heard = func(_ int, out any) {
		if seen, is := out.(deleteSeen); is && seen.Incarnation > 0 {
			known = append(known, seen.Incarnation)
		}
	}
	h := run.History("value1")
	for i, op := range h.Ops {
		if string(op.Out) == "{}" {
			h.Ops[i] = workloadtest.Refused(op, "deleted")
		}
	}
	return h
}

func TestDeletePassesSoundRuns(t *testing.T) {
	run := func(seed uint64) *history.History { return storeHistory(seed, 1+int(seed%9), 200) }
	workloadtest.TellsApart(t, New, run, 10, spoilDelete)
}

// spoilDelete changes one read to see an incarnation that was deleted before the read
// began, and describes the change.
func spoilDelete(r *rand.Rand, h *history.History) string {
	for _, at := range r.Perm(len(h.Ops)) {
		op := &h.Ops[at]
		if op.Call != "get" || op.Outcome != history.OK {
			continue
		}
		for _, other := range h.Ops {
			if other.Call != "get" || other.Outcome != history.OK {
				continue
			}
			out, err := history.Decode[deleteSeen](other.Out)
			if err != nil {
				panic(err)
			}
			if out.Incarnation > 0 && deletedBefore(h, out.Incarnation, op.Invoke) {
				op.Out = workloadtest.Raw(out)
				return fmt.Sprintf("incarnation %d in call %d", out.Incarnation, op.ID)
			}
		}
	}
	return ""
}

func deletedBefore(h *history.History, incarnation uint64, when time.Duration) bool {
	for _, op := range h.Ops {
		if op.Call != "delete" || op.Outcome != history.OK || op.Return >= when {
			continue
		}
		if out, err := history.Decode[deleteSeen](op.Out); err == nil && out.Incarnation == incarnation {
			return true
		}
	}
	return false
}

func BenchmarkDeleteCheck(b *testing.B) {
	run := func(seed uint64) *history.History { return storeHistory(seed, 9, 150) }
	workloadtest.Scales(b, New(), workloadtest.OfKeys(60, workloadtest.Named("value"), run))
}
