package watch

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"dormouse/jepsen/check"
	"dormouse/jepsen/history"
	"dormouse/jepsen/workload/workloadtest"
)

func TestWatchFindsEachWrong(t *testing.T) {
	app := func(process, invoke, ret int, by string, incarnation, seq uint64) history.Op {
		return workloadtest.OK(process, invoke, ret, "append", "t", watchAppend{By: by, Entries: 1}, appended{incarnation, seq, seq + 1})
	}
	load := func(process, invoke, ret int, out loaded) history.Op {
		return workloadtest.OK(process, invoke, ret, "load", "t", 0, out)
	}
	poll := func(invoke, ret int, in watchPoll, out polled) history.Op {
		return workloadtest.OK(7, invoke, ret, "poll", "t", in, out)
	}
	del := func(process, invoke, ret int, incarnation uint64) history.Op {
		return workloadtest.OK(process, invoke, ret, "delete", "t", struct{}{}, incarnation)
	}
	compact := func(process, invoke, ret int, before uint64) history.Op {
		return workloadtest.OK(process, invoke, ret, "compact", "t", before, loaded{Incarnation: 1, Rev: before, Floor: before})
	}
	seqs := func(from uint64, names ...string) (out polled) {
		for i, name := range names {
			out.Seqs, out.Entries = append(out.Seqs, from+uint64(i)), append(out.Entries, name)
		}
		return out
	}
	ended := func(end string, floor uint64) polled { return polled{End: end, Floor: floor} }
	w, named := watchPoll{Watch: 1}, watchPoll{Watch: 1, Incarnation: 1}
	two := workloadtest.Script{app(1, 0, 1, "a", 1, 0), app(1, 2, 3, "b", 1, 1)}
	with := func(more ...history.Op) workloadtest.Script { return append(slices.Clone(two), more...) }
	fault := []history.Event{{Kind: history.EventFault, Name: "pause", Step: 1, At: 8 * time.Second}}
	late := with(poll(5, 6, named, seqs(0, "a.0", "b.0")), app(1, 7000, 7001, "c", 1, 2), poll(7002, 17500, named, polled{}))
	cases := []struct {
		name, rule string
		calls      workloadtest.Script
		events     []history.Event
	}{
		{"as it grows", "", with(poll(0, 2, w, seqs(0, "a.0")), poll(3, 5, w, seqs(1, "b.0")), load(2, 6, 7, loaded{1, 2, 0, []string{"a.0", "b.0"}})), nil},
		{"a watch may lag", "", with(poll(6, 7, w, seqs(0, "a.0"))), nil},
		{"in two watches", "", with(poll(4, 5, w, seqs(0, "a.0")), poll(6, 7, watchPoll{Watch: 2, From: 1}, seqs(1, "b.0"))), nil},
		{"an unknown append may come", "", workloadtest.Script{workloadtest.Unknown(app(1, 0, 1, "a", 0, 0)), poll(4, 5, named, seqs(0, "a.0"))}, nil},
		{"deleted", "", with(poll(4, 5, w, seqs(0, "a.0")), del(2, 6, 7, 1), poll(8, 9, w, ended(endDeleted, 0))), nil},
		{"perhaps deleted", "", with(workloadtest.Unknown(del(2, 6, 7, 1)), poll(8, 9, named, ended(endDeleted, 0))), nil},
		{"deleted without a word", "", with(poll(4, 5, w, seqs(0, "a.0")), del(2, 6, 7, untold), poll(8, 9, w, ended(endDeleted, 0))), nil},
		{"compacted", "", with(compact(2, 6, 7, 2), poll(8, 9, named, ended(endCompacted, 2))), nil},
		{"nothing to watch yet", "", workloadtest.Script{poll(0, 1, w, ended("not_found", 0)), app(1, 2, 3, "a", 1, 0)}, nil},
		{"nothing to watch any more", "", with(del(2, 6, 7, 1), poll(8, 9, w, ended("not_found", 0))), nil},
		{"anew", "", with(del(2, 6, 7, 1), app(1, 8, 9, "c", 2, 0), poll(10, 11, w, seqs(0, "c.0"))), nil},
		{"a gap", "gap in a watch", with(poll(4, 5, w, seqs(1, "b.0"))), nil},
		{"a gap between polls", "gap in a watch", with(app(1, 4, 5, "c", 1, 2), poll(6, 7, w, seqs(0, "a.0")), poll(8, 9, w, seqs(2, "c.0"))), nil},
		{"again", "entry watched again", with(poll(6, 7, w, seqs(0, "a.0")), poll(8, 9, w, seqs(0, "a.0"))), nil},
		{"out of order", "two histories", with(poll(6, 7, w, seqs(0, "b.0", "a.0"))), nil},
		{"an entry without a call", "written by no call", with(poll(6, 7, named, seqs(0, "x"))), nil},
		{"refused and watched", "refused but applied", workloadtest.Script{workloadtest.Refused(app(1, 0, 1, "a", 0, 0), "conflict"), poll(2, 3, named, seqs(0, "a.0"))}, nil},
		{"watched in two incarnations", "applied twice", with(app(1, 8, 9, "c", 2, 0), poll(10, 11, watchPoll{Watch: 1, Incarnation: 2}, seqs(0, "a.0"))), nil},
		{"watched before it was appended", "read from the future", workloadtest.Script{poll(0, 1, named, seqs(0, "a.0")), app(1, 2, 3, "a", 1, 0)}, nil},
		{"watched and lost", "no order in real time explains it", workloadtest.Script{
			workloadtest.Unknown(app(1, 0, 1, "a", 0, 0)), poll(2, 3, named, seqs(0, "a.0")), load(2, 4, 5, loaded{Incarnation: 1}),
		}, nil},
		{"a stale read", "lost or stale", with(load(2, 4, 5, loaded{1, 1, 0, []string{"a.0"}})), nil},
		{"a list that is too short", "entries missing", with(load(2, 4, 5, loaded{1, 2, 0, []string{"b.0"}})), nil},
		{"deleted without a call", "ended for no reason", with(poll(8, 9, w, ended(endDeleted, 0))), nil},
		{"compacted without a call", "ended for no reason", with(poll(8, 9, w, ended(endCompacted, 1))), nil},
		{"compacted below", "ended for no reason", with(compact(2, 6, 7, 1), poll(8, 9, watchPoll{Watch: 1, From: 1}, ended(endCompacted, 1))), nil},
		{"a thread that is not found", "ended for no reason", with(poll(8, 9, w, ended("not_found", 0))), nil},
		{"no last word", "ended without an event", with(poll(8, 9, w, ended(endSilent, 0))), nil},
		{"an error", "broken watch", with(poll(8, 9, w, ended("internal", 0))), nil},
		{"more after the end", "watch went on after its end", with(del(2, 6, 7, 1), poll(8, 9, named, ended(endDeleted, 0)), poll(10, 11, named, seqs(0, "a.0"))), nil},
		{"watched what was deleted", "watched what was deleted", with(del(2, 6, 7, 1), poll(8, 9, named, seqs(0, "a.0"))), nil},
		{"watched what was compacted", "watched what was compacted", with(compact(2, 6, 7, 1), poll(8, 9, named, seqs(0, "a.0"))), nil},
		{"nothing comes", "silent watch", late, nil},
		{"nothing comes while a node is away", "", late, fault},
		{"nothing comes at the end", "silent watch", late, append(fault, history.Event{Kind: history.EventPhase, Name: check.PhaseFinal, At: 7 * time.Second})},
		{"it comes late", "silent watch", append(slices.Clone(late), poll(17600, 17700, named, seqs(2, "c.0"))), nil},
		{"it comes in time", "", append(slices.Clone(late[:4]), poll(7002, 17000, named, seqs(2, "c.0")), poll(17002, 27000, named, polled{})), nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			workloadtest.Expect(t, workloadtest.Judged(t, New(), c.calls.History(c.events...)), c.rule)
		})
	}
	workloadtest.GivesUp(t, New(), cases[0].calls.History())
}

// store is a correct store of one thread and its watches.
type store struct {
	r           *rand.Rand
	incarnation uint64
	floor       uint64
	entries     []string
	watches     map[int64]*polled // :: watch → incarnation in Floor, next in Seqs[0]
}

func (s *store) do(_ string, in any) any {
	switch in := in.(type) {
	case watchAppend:
		if s.incarnation%2 == 0 { // odd incarnations exist
			s.incarnation++
			s.entries, s.floor = nil, 0
		}
		seq := uint64(len(s.entries))
		for i := range in.Entries {
			s.entries = append(s.entries, in.name(i))
		}
		return appended{s.incarnation, seq, uint64(len(s.entries))}
	case watchPoll:
		return s.poll(in)
	case struct{}: // delete
		if s.incarnation%2 == 0 {
			return uint64(0)
		}
		s.incarnation++
		if s.r.IntN(2) == 0 {
			return uint64(untold)
		}
		return s.incarnation - 1
	}
	if s.incarnation%2 == 0 {
		return loaded{}
	}
	switch in := in.(type) {
	case uint64: // compact
		if in > uint64(len(s.entries)) {
			return nil
		}
		s.floor = max(s.floor, in)
		return loaded{Incarnation: s.incarnation, Rev: uint64(len(s.entries)), Floor: s.floor}
	default:
		tail := s.entries[max(int(s.floor), len(s.entries)-watchTail):]
		return loaded{s.incarnation, uint64(len(s.entries)), s.floor, slices.Clone(tail)}
	}
}

func (s *store) poll(in watchPoll) (out polled) {
	at := s.watches[in.Watch]
	if at == nil {
		at = &polled{Floor: in.Incarnation, Seqs: []uint64{in.From}}
		s.watches[in.Watch] = at
		if at.Floor == 0 {
			if at.Floor = s.incarnation; s.incarnation%2 == 0 {
				at.End = "not_found"
				return polled{End: at.End}
			}
		}
	}
	next := at.Seqs[0]
	switch {
	case at.End != "":
		return out
	case at.Floor != s.incarnation:
		at.End = endDeleted
		return polled{End: at.End}
	case next < s.floor:
		at.End = endCompacted
		return polled{End: at.End, Floor: s.floor}
	}
	for ; next < uint64(len(s.entries)) && s.r.IntN(4) > 0; next++ {
		out.Seqs, out.Entries = append(out.Seqs, next), append(out.Entries, s.entries[next])
	}
	at.Seqs[0] = next
	return out
}

// storeHistory returns a random run of a correct store. Each compaction has a
// different floor, so that the floor identifies it.
func storeHistory(seed uint64, processes, calls int) *history.History {
	s := &store{r: rand.New(rand.NewPCG(seed, 7)), watches: map[int64]*polled{}}
	open, n := make([]watchPoll, processes), int64(0)
	run := workloadtest.SoundRun{R: s.r, Processes: processes, Calls: calls, Apply: s.do}
	run.Begin = func(at int) (string, any) {
		n++
		switch draw := s.r.IntN(100); {
		case at%2 == 0 && draw < 80:
			if ended := s.watches[open[at].Watch]; ended == nil || ended.End != "" || s.r.IntN(10) == 0 {
				open[at] = watchPoll{Watch: n, From: s.floor}
				if s.incarnation%2 == 1 && s.r.IntN(2) == 0 {
					open[at].Incarnation = s.incarnation
				}
			}
			return "poll", open[at]
		case draw < 80:
			return "append", watchAppend{By: fmt.Sprint(n), Entries: 1 + s.r.IntN(3)}
		case draw < 94:
			return "load", watchTail
		case draw < 98:
			return "compact", s.floor + s.r.Uint64N(uint64(len(s.entries))-s.floor+1)
		default:
			return "delete", struct{}{}
		}
	}
	run.Heard = func(at int, out any) {
		if out == nil {
			open[at] = watchPoll{} // events on the way are lost, so the watch cannot go on
		}
	}
	return run.History("t")
}

func TestWatchPassesSoundRuns(t *testing.T) {
	run := func(seed uint64) *history.History { return storeHistory(seed, 2+int(seed%8), 200) }
	workloadtest.TellsApart(t, New, run, 8, spoilPoll)
}

// spoilPoll makes the answer of one poll wrong and describes the change.
func spoilPoll(r *rand.Rand, h *history.History) string {
	for _, at := range r.Perm(len(h.Ops)) {
		op := &h.Ops[at]
		if op.Call != "poll" || op.Outcome != history.OK {
			continue
		}
		out, err := history.Decode[polled](op.Out)
		if err != nil {
			panic(err)
		}
		n := len(out.Seqs)
		if n < 2 {
			continue
		}
		what := ""
		switch r.IntN(4) {
		case 0:
			out.Seqs, out.Entries, what = out.Seqs[1:], out.Entries[1:], "a gap"
		case 1:
			out.Seqs, out.Entries, what = append(out.Seqs, out.Seqs[0]), append(out.Entries, out.Entries[0]), "an entry twice"
		case 2:
			out.Entries[0], out.Entries[1], what = out.Entries[1], out.Entries[0], "entries swapped"
		default:
			out.Entries[n-1], what = "x", "an entry without a call"
		}
		op.Out = workloadtest.Raw(out)
		if !known(h, out.Entries) {
			continue
		}
		return fmt.Sprintf("%s in call %d", what, op.ID)
	}
	return ""
}

// known reports whether the checker can know the seqs of entries: an append was
// answered.
func known(h *history.History, names []string) bool {
	for _, op := range h.Ops {
		if op.Call != "append" || op.Outcome != history.OK {
			continue
		}
		in, err := history.Decode[watchAppend](op.In)
		if err != nil {
			panic(err)
		}
		if slices.Contains(names, in.name(0)) {
			return true
		}
	}
	return false
}

func BenchmarkWatchCheck(b *testing.B) {
	run := func(seed uint64) *history.History { return storeHistory(seed, 8, 800) }
	workloadtest.Scales(b, New(), workloadtest.OfKeys(10, workloadtest.Named("t"), run))
}
