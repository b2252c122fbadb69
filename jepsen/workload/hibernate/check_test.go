package hibernate

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"dormouse/jepsen/history"
	"dormouse/jepsen/workload"
	"dormouse/jepsen/workload/workloadtest"
)

func TestHibernateFindsEachWrong(t *testing.T) {
	sleep := func(process, invoke, ret int, in hibernation, revision uint64) history.Op {
		return workloadtest.OK(process, invoke, ret, "hibernate", "a", in, hibernated{revision, in.rev()})
	}
	thaw := func(process, invoke, ret int, out thawed) history.Op {
		return workloadtest.OK(process, invoke, ret, "thaw", "a", thawing{}, out)
	}
	rows := func(process, invoke, ret int, rows ...keptRevision) history.Op {
		return workloadtest.OK(process, invoke, ret, "history", "a", struct{}{}, rows)
	}
	load := func(process, invoke, ret, from int, out caughtUp) history.Op {
		return workloadtest.OK(process, invoke, ret, "load", "a", from, out)
	}
	one := uint64(1)
	a := hibernation{By: "a", Entries: []string{"a.0"}, New: 1}
	b := hibernation{By: "b", From: 1, Entries: []string{"b.0"}, New: 1}
	idle := hibernation{By: "b", From: 1}
	if1 := b
	if1.Revision = &one
	seen := thawed{Revision: 1, By: "a", Rev: 1, Entries: []string{"a.0"}}
	seenB := thawed{Revision: 2, By: "b", Rev: 2, Entries: []string{"a.0", "b.0"}}
	cases := []struct {
		name, rule string
		calls      workloadtest.Script
	}{
		{"in order", "", workloadtest.Script{
			thaw(1, 0, 1, thawed{}), sleep(1, 2, 3, a, 1), thaw(2, 4, 5, seen), sleep(2, 6, 7, if1, 2), thaw(3, 8, 9, seenB),
			rows(3, 10, 11, keptRevision{2, 2}, keptRevision{1, 1}),
		}},
		{"one that changed nothing of the thread", "", workloadtest.Script{sleep(1, 0, 1, a, 1), sleep(1, 2, 3, idle, 2)}},
		{"a journal that is ahead", "", workloadtest.Script{
			sleep(1, 0, 1, a, 1), workloadtest.OK(2, 2, 3, "append", "a", b, 2), thaw(3, 4, 5, thawed{Revision: 1, By: "a", Rev: 1, Entries: []string{"a.0"}, Ahead: 1}), load(3, 6, 7, 1, caughtUp{Rev: 2, Entries: []string{"b.0"}}),
		}},
		{"an unknown one may have applied", "", workloadtest.Script{sleep(1, 0, 1, a, 1), workloadtest.Unknown(sleep(2, 2, 3, b, 0)), thaw(3, 4, 5, seenB)}},
		{"or not", "", workloadtest.Script{sleep(1, 0, 1, a, 1), workloadtest.Unknown(sleep(2, 2, 3, b, 0)), thaw(3, 4, 5, seen)}},
		{"an older checkpoint than the acknowledged one", "lost or stale", workloadtest.Script{sleep(1, 0, 1, a, 1), sleep(1, 2, 3, idle, 2), thaw(3, 4, 5, seen)}},
		{"an agent that has vanished", "lost or stale", workloadtest.Script{sleep(1, 0, 1, a, 1), thaw(3, 4, 5, thawed{})}},
		{"a history that has vanished", "lost or stale", workloadtest.Script{sleep(1, 0, 1, a, 1), rows(3, 4, 5)}},
		{"entries that have vanished", "lost or stale", workloadtest.Script{sleep(1, 0, 1, a, 1), workloadtest.OK(2, 2, 3, "append", "a", b, 2), thaw(3, 4, 5, seen)}},
		{"a thread that has vanished", "lost or stale", workloadtest.Script{sleep(1, 0, 1, a, 1), load(3, 4, 5, 1, caughtUp{})}},
		{"no thread to thaw", "cannot thaw", workloadtest.Script{sleep(1, 0, 1, a, 1), workloadtest.Refused(thaw(3, 4, 5, seen), "missing_thread")}},
		{"a thread that is another", "cannot thaw", workloadtest.Script{sleep(1, 0, 1, a, 1), workloadtest.Refused(thaw(3, 4, 5, seen), "thread_mismatch")}},
		{"from the floor on", "", workloadtest.Script{sleep(1, 0, 1, a, 1), sleep(1, 2, 3, b, 2), load(3, 4, 5, 0, caughtUp{Rev: 2, Floor: 1, Entries: []string{"b.0"}})}},
		{"entries that were compacted away", "cannot thaw", workloadtest.Script{sleep(1, 0, 1, a, 1), workloadtest.Refused(thaw(3, 4, 5, seen), "compacted")}},
		{"entries of an older revision that were", "", workloadtest.Script{sleep(1, 0, 1, a, 1), workloadtest.Refused(workloadtest.OK(3, 4, 5, "thaw", "a", thawing{Revision: 1}, seen), "compacted")}},
		{"compacted up to the pointer", "", workloadtest.Script{sleep(1, 0, 1, a, 1), workloadtest.OK(3, 4, 5, "compact", "a", 1, caughtUp{Rev: 1}), thaw(3, 6, 7, thawed{Revision: 1, By: "a", Rev: 1, Floor: 1})}},
		{"unavailable is no crime", "", workloadtest.Script{sleep(1, 0, 1, a, 1), workloadtest.Refused(thaw(3, 4, 5, seen), "unavailable")}},
		{"fewer entries than the pointer says", "entries missing", workloadtest.Script{sleep(1, 0, 1, a, 1), thaw(3, 4, 5, thawed{Revision: 1, By: "a", Rev: 1})}},
		{"another rev than was hibernated", "another pointer", workloadtest.Script{sleep(1, 0, 1, a, 1), sleep(1, 2, 3, idle, 2), thaw(3, 4, 5, thawed{Revision: 2, By: "b", Ahead: 1})}},
		{"a pointer of its own", "another pointer", workloadtest.Script{workloadtest.OK(1, 0, 1, "hibernate", "a", a, hibernated{1, 7})}},
		{"another entry than was hibernated", "two histories", workloadtest.Script{
			sleep(1, 0, 1, a, 1), sleep(1, 2, 3, b, 2), thaw(3, 4, 5, thawed{Revision: 2, By: "b", Rev: 2, Entries: []string{"b.0", "a.0"}}),
		}},
		{"two that made one revision", "two histories", workloadtest.Script{sleep(1, 0, 1, a, 1), sleep(1, 2, 3, b, 1)}},
		{"refused and there", "refused but applied", workloadtest.Script{sleep(1, 0, 1, a, 1), workloadtest.Refused(sleep(2, 2, 3, b, 0), "conflict"), thaw(3, 4, 5, seenB)}},
		{"entries without their checkpoint", "half a commit", workloadtest.Script{
			sleep(1, 0, 1, a, 1), workloadtest.Unknown(sleep(2, 2, 3, b, 0)), thaw(3, 4, 5, thawed{Revision: 1, By: "a", Rev: 1, Entries: []string{"a.0"}, Ahead: 1}), load(3, 6, 7, 1, caughtUp{Rev: 2, Entries: []string{"b.0"}}),
		}},
		{"a checkpoint without its entries", "no order explains it", workloadtest.Script{
			sleep(1, 0, 1, a, 1), workloadtest.Unknown(sleep(2, 2, 9, b, 0)), thaw(3, 4, 5, seenB), thaw(4, 4, 9, thawed{Revision: 1, By: "a", Rev: 1, Entries: []string{"a.0"}, Ahead: 1}),
		}},
		{"an expectation that was not held", "expectation ignored", workloadtest.Script{sleep(1, 0, 1, a, 1), sleep(1, 2, 3, idle, 2), sleep(2, 4, 5, hibernation{By: "c", From: 1, Revision: &one}, 3)}},
		{"a short history", "history of another length", workloadtest.Script{sleep(1, 0, 1, a, 1), sleep(1, 2, 3, b, 2), rows(3, 4, 5, keptRevision{2, 2})}},
		{"a history with a gap", "gap in the history", workloadtest.Script{sleep(1, 0, 1, a, 1), rows(3, 4, 5, keptRevision{3, 2}, keptRevision{1, 1}, keptRevision{0, 0})}},
		{"pointers that went back", "pointer went back", workloadtest.Script{rows(3, 4, 5, keptRevision{2, 1}, keptRevision{1, 2})}},
		{"a history with another pointer", "another pointer", workloadtest.Script{sleep(1, 0, 1, a, 1), rows(3, 4, 5, keptRevision{1, 2})}},
		{"another revision than was asked for", "another revision", workloadtest.Script{
			sleep(1, 0, 1, a, 1), sleep(1, 2, 3, b, 2), workloadtest.OK(3, 4, 5, "thaw", "a", thawing{Revision: 1}, seenB),
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { workloadtest.Expect(t, workloadtest.Judged(t, New(), c.calls.History()), c.rule) })
	}
	workloadtest.GivesUp(t, New(), cases[0].calls.History())
}

// sleepStore is a correct store of one agent.
type sleepStore struct {
	r       *rand.Rand
	entries []string
	kept    []thawed // :: revision - 1 → the hibernated state
}

// do executes a call and returns its answer, or nil if the call is refused.
func (s *sleepStore) do(call string, in any) any {
	newest := len(s.kept)
	switch in := in.(type) {
	case hibernation:
		old := in.rev() - uint64(in.New)
		if old != uint64(len(s.entries)) || in.Revision != nil && *in.Revision != uint64(newest) ||
			!slices.Equal(s.entries[in.From:], in.Entries[:len(in.Entries)-in.New]) {
			return nil
		}
		s.entries = append(s.entries, in.Entries[len(in.Entries)-in.New:]...)
		if call == "append" {
			return in.rev()
		}
		s.kept = append(s.kept, thawed{Revision: uint64(newest + 1), By: in.By, Rev: in.rev()})
		return hibernated{uint64(newest + 1), in.rev()}
	case thawing:
		if newest == 0 {
			return thawed{}
		}
		out := s.kept[newest-1]
		out.Entries = slices.Clone(s.entries[:out.Rev])
		if in.Tail > 0 {
			out.Entries = out.Entries[max(0, int(out.Rev)-int(in.Tail)):]
		}
		out.Ahead = uint64(len(s.entries)) - out.Rev
		return out
	case uint64:
		return caughtUp{Rev: uint64(len(s.entries)), Entries: slices.Clone(s.entries[min(in, uint64(len(s.entries))):])}
	default:
		var rows []keptRevision
		for i := newest; i > max(newest-4, 0); i-- {
			rows = append(rows, keptRevision{uint64(i), s.kept[i-1].Rev})
		}
		return rows
	}
}

// sleepHistory returns a random run of a correct store.
func sleepHistory(seed uint64, processes, calls int) *history.History {
	s := &sleepStore{r: rand.New(rand.NewPCG(seed, 5))}
	w := &hibernate{}
	run := workloadtest.SoundRun{R: s.r, Processes: processes, Calls: calls, Apply: s.do}
	run.Begin = func(at int) (string, any) {
		switch s.r.IntN(6) {
		case 0:
			return "thaw", thawing{Tail: s.r.Uint64N(4)}
		case 1:
			return "load", s.r.Uint64N(uint64(len(s.entries) + 1))
		case 2:
			return "history", nil
		}
		l := &knownAgent{rev: uint64(len(s.entries)), revision: uint64(len(s.kept))}
		for _, name := range s.entries {
			l.entries = append(l.entries, knownEntry{name, ""})
		}
		h := w.draw(&workload.Process{ID: at, Rand: s.r}, l)
		if h.New > 0 && s.r.IntN(8) == 0 {
			return "append", h
		}
		return "hibernate", h
	}
	return run.History("a")
}

func TestHibernatePassesSoundRuns(t *testing.T) {
	run := func(seed uint64) *history.History { return sleepHistory(seed, 1+int(seed%9), 200) }
	workloadtest.TellsApart(t, New, run, 6, spoilThaw)
}

// spoilThaw makes one answer wrong and describes the change.
func spoilThaw(r *rand.Rand, h *history.History) string {
	for _, at := range r.Perm(len(h.Ops)) {
		op := &h.Ops[at]
		if op.Call != "thaw" || op.Outcome != history.OK || at < len(h.Ops)/2 {
			continue
		}
		out, err := history.Decode[thawed](op.Out)
		if err != nil {
			panic(err)
		}
		what := "a journal that is shorter"
		switch r.IntN(4) {
		case 0:
			out, what = thawed{}, "nothing there"
		case 1:
			out.Rev, what = out.Rev+1, "a pointer that is ahead"
		case 2:
			out.Revision, what = out.Revision-1, "an older revision"
		default:
			if out.Ahead == 0 {
				continue
			}
			out.Ahead--
			if concurrent(h, *op) {
				continue // the change may still be correct
			}
		}
		op.Out = workloadtest.Raw(out)
		return fmt.Sprintf("%s in call %d", what, op.ID)
	}
	return ""
}

// concurrent reports whether any write overlaps op.
func concurrent(h *history.History, op history.Op) bool {
	return slices.ContainsFunc(h.Ops, func(other history.Op) bool {
		return other.ID != op.ID && other.Invoke < op.Return && other.Return > op.Invoke
	})
}

func BenchmarkHibernateCheck(b *testing.B) {
	run := func(seed uint64) *history.History { return sleepHistory(seed, 9, 800) }
	workloadtest.Scales(b, New(), workloadtest.OfKeys(10, workloadtest.Named("a"), run))
}
