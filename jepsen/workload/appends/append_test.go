package appends

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"dormouse/agent"
	"dormouse/jepsen/check"
	"dormouse/jepsen/history"
	"dormouse/jepsen/model"
	"dormouse/jepsen/workload"
	"dormouse/jepsen/workload/workloadtest"
)

// listed is the answer of a thread that holds entries, from a seq on.
func listed(from int, entries ...string) appendOut {
	return appendOut{Incarnation: 3, Rev: uint64(from + len(entries)), From: uint64(from), IDs: entries}
}

// headed returns out with the head of all entries.
func headed(out appendOut, all ...string) appendOut {
	var h model.Head
	for _, id := range all {
		e, _ := chained(id, 0)
		h = h.Next(e)
	}
	out.Head = h.String()
	return out
}

// wrote is an append of the given number of entries, applied at seq at.
func wrote(p, from, to int, by int64, entries, at int) history.Op {
	in := appendIn{By: by, Entries: entries}
	return workloadtest.OK(p, from, to, workload.CallAppend, "t1", in, listed(at, in.ids()...))
}

// expecting returns op with an expected rev.
func expecting(op history.Op, rev uint64) history.Op {
	in, err := history.Decode[appendIn](op.In)
	if err != nil {
		panic(err)
	}
	in.Rev = &rev
	op.In = workloadtest.Raw(in)
	return op
}

// again returns a repetition of op, answered by a thread at rev.
func again(op history.Op, rev uint64) history.Op {
	in, _ := history.Decode[appendIn](op.In)
	out, _ := history.Decode[appendOut](op.Out)
	in.Again, out.Rev = true, rev
	op.In, op.Out = workloadtest.Raw(in), workloadtest.Raw(out)
	return op
}

// conflicts returns op as refused by a thread at rev.
func conflicts(op history.Op, rev uint64) history.Op {
	op.Out = workloadtest.Raw(appendOut{Refused: true, Rev: rev})
	return op
}

func readAll(p, from, to int, entries ...string) history.Op {
	return workloadtest.OK(p, from, to, workload.CallRead, "t1", readIn{}, listed(0, entries...))
}

func readTail(p, from, to int, tail uint64, at int, entries ...string) history.Op {
	return workloadtest.OK(p, from, to, workload.CallRead, "t1", readIn{Tail: tail}, listed(at, entries...))
}

func readAt(p, from, to int, at uint64, entries ...string) history.Op {
	return workloadtest.OK(p, from, to, workload.CallRead, "t1", readIn{At: &at}, listed(0, entries...))
}

func meta(p, from, to int, rev uint64) history.Op {
	return workloadtest.OK(p, from, to, workload.CallMeta, "t1", struct{}{}, appendOut{Incarnation: 3, Rev: rev})
}

func missing(p, from, to int) history.Op {
	return workloadtest.OK(p, from, to, workload.CallRead, "t1", readIn{}, appendOut{Missing: true})
}

func TestAppendHistories(t *testing.T) {
	two := []string{"1.0", "1.1"}
	stampedIn := appendIn{By: 1, Entries: 2, Stamped: true}
	stamped := func(out appendOut, at ...int64) appendOut { out.Stamps = at; return out }
	for _, c := range []struct {
		name  string
		calls workloadtest.Script
		rule  string
	}{
		{"appends and reads in turn", workloadtest.Script{
			missing(1, 0, 1), wrote(1, 2, 3, 1, 2, 0), readAll(2, 4, 5, two...), wrote(2, 6, 7, 2, 1, 2), readAll(1, 8, 9, "1.0", "1.1", "2.0"),
			readTail(1, 10, 11, 2, 1, "1.1", "2.0"), readAt(1, 10, 11, 2, two...), meta(2, 12, 13, 3),
		}, ""},
		{"a read may see an append under way", workloadtest.Script{wrote(1, 0, 9, 1, 2, 0), readAll(2, 1, 2, two...), readAll(3, 3, 4, two...)}, ""},
		{"or not", workloadtest.Script{wrote(1, 0, 9, 1, 2, 0), missing(2, 1, 2)}, ""},
		{"a stale read", workloadtest.Script{wrote(1, 0, 1, 1, 2, 0), missing(2, 2, 3), readAll(2, 4, 5, two...)}, "stale read"},
		{"stale meta", workloadtest.Script{wrote(1, 0, 1, 1, 2, 0), meta(2, 2, 3, 0), meta(2, 4, 5, 2)}, "stale read"},
		{"reads go back", workloadtest.Script{wrote(1, 0, 9, 1, 2, 0), readAll(2, 1, 2, two...), missing(3, 3, 4), readAll(2, 5, 6, two...)}, "stale read"},
		{"a lost append", workloadtest.Script{wrote(1, 0, 1, 1, 2, 0), missing(2, 2, 3), missing(2, 4, 5)}, "lost append"},
		{"a lost append, and another in its place", workloadtest.Script{wrote(1, 0, 1, 1, 1, 0), wrote(2, 0, 1, 2, 1, 0)}, "two appends at one seq"},
		{"overwritten", workloadtest.Script{wrote(1, 0, 1, 1, 1, 0), workloadtest.Unknown(wrote(2, 0, 1, 2, 1, 0)), readAll(1, 2, 3, "2.0")}, "lost append"},
		{"reads disagree", workloadtest.Script{workloadtest.Unknown(wrote(1, 0, 1, 1, 1, 0)), workloadtest.Unknown(wrote(2, 0, 1, 2, 1, 0)), readAll(1, 2, 3, "1.0", "2.0"), readAll(1, 2, 3, "2.0", "1.0")}, "reads disagree"},
		{"out of order in real time", workloadtest.Script{wrote(1, 0, 1, 1, 1, 1), wrote(2, 2, 3, 2, 1, 0), meta(1, 4, 5, 2)}, "stale answer"},
		{"a duplicate", workloadtest.Script{wrote(1, 0, 1, 1, 1, 0), readAll(2, 2, 3, "1.0", "1.0")}, "duplicate entry"},
		{"from nowhere", workloadtest.Script{wrote(1, 0, 1, 1, 1, 0), readAll(2, 2, 3, "1.0", "9.0")}, "entry from nowhere"},
		{"a refused append is there", workloadtest.Script{workloadtest.Refused(wrote(1, 0, 1, 1, 1, 0), "unavailable"), readAll(2, 2, 3, "1.0")}, "refused append applied"},
		{"a conflict is there", workloadtest.Script{wrote(2, 0, 1, 2, 1, 0), conflicts(expecting(wrote(1, 2, 3, 1, 1, 0), 0), 1), readAll(2, 4, 5, "2.0", "1.0")}, "refused append applied"},
		{"an unknown append is there later", workloadtest.Script{workloadtest.Unknown(wrote(1, 0, 1, 1, 2, 0)), missing(2, 2, 3), readAll(2, 4, 5, two...)}, ""},
		{"an unknown append is never there", workloadtest.Script{workloadtest.Unknown(wrote(1, 0, 1, 1, 2, 0)), wrote(2, 2, 3, 2, 1, 0), readAll(2, 4, 5, "2.0")}, ""},
		{"half of an unknown append", workloadtest.Script{workloadtest.Unknown(wrote(1, 0, 1, 1, 2, 0)), readAll(2, 4, 5, "1.0")}, "torn append"},
		{"another half", workloadtest.Script{workloadtest.Unknown(wrote(1, 0, 1, 1, 2, 0)), wrote(2, 2, 3, 2, 1, 1), readAll(2, 4, 5, "1.0", "2.0")}, "torn append"},
		{"its entries turned round", workloadtest.Script{workloadtest.Unknown(wrote(1, 0, 1, 1, 2, 0)), readAll(2, 4, 5, "1.1", "1.0")}, "torn append"},
		{"its second entry alone", workloadtest.Script{workloadtest.Unknown(wrote(1, 0, 1, 1, 2, 0)), readAll(2, 4, 5, "1.1")}, "torn append"},
		{"a rev in the middle of an append", workloadtest.Script{wrote(1, 0, 9, 1, 2, 0), meta(2, 1, 2, 1)}, "torn append"},
		{"an unknown append before it was invoked", workloadtest.Script{readAll(2, 0, 1, "1.0"), workloadtest.Unknown(wrote(1, 2, 3, 1, 1, 0))}, "seen before it was written"},
		{"expected revs", workloadtest.Script{expecting(wrote(1, 0, 1, 1, 2, 0), 0), expecting(wrote(1, 2, 3, 2, 1, 2), 2), conflicts(expecting(wrote(2, 4, 5, 3, 1, 0), 2), 3)}, ""},
		{"applied at another rev", workloadtest.Script{wrote(1, 0, 1, 1, 2, 0), expecting(wrote(1, 2, 3, 2, 1, 2), 1)}, "append at another rev"},
		{"refused at its own rev", workloadtest.Script{wrote(1, 0, 1, 1, 2, 0), conflicts(expecting(wrote(1, 2, 3, 2, 1, 2), 2), 2)}, "refused for no reason"},
		{"refused without a condition", workloadtest.Script{conflicts(wrote(1, 2, 3, 2, 1, 2), 0)}, "refused for no reason"},
		{"refused by what the thread was", workloadtest.Script{wrote(1, 0, 1, 1, 2, 0), conflicts(expecting(wrote(1, 2, 3, 2, 1, 2), 1), 0), meta(2, 4, 5, 2)}, "stale answer"},
		{"two at one expected rev", workloadtest.Script{expecting(wrote(1, 0, 9, 1, 1, 0), 0), expecting(wrote(2, 0, 9, 2, 1, 0), 0)}, "two appends at one seq"},
		{"fewer entries than were sent", workloadtest.Script{workloadtest.OK(1, 0, 1, workload.CallAppend, "t1", appendIn{By: 1, Entries: 2}, listed(0, "1.0"))}, "append answered wrong"},
		{"sent again", workloadtest.Script{workloadtest.Unknown(wrote(1, 0, 1, 1, 2, 0)), again(wrote(1, 2, 3, 1, 2, 0), 2), readAll(2, 4, 5, two...)}, ""},
		{"sent again, and there already", workloadtest.Script{wrote(1, 0, 1, 1, 2, 0), wrote(2, 2, 3, 2, 1, 2), again(wrote(1, 4, 5, 1, 2, 0), 3), readAll(2, 6, 7, "1.0", "1.1", "2.0")}, ""},
		{"sent again, and there twice", workloadtest.Script{wrote(1, 0, 1, 1, 1, 0), again(wrote(1, 4, 5, 1, 1, 1), 2), readAll(2, 6, 7, "1.0", "1.0")}, "duplicate entry"},
		{"sent again, first refused", workloadtest.Script{workloadtest.Refused(wrote(1, 0, 1, 1, 2, 0), "unavailable"), again(wrote(1, 2, 3, 1, 2, 0), 2), readAll(2, 4, 5, two...)}, ""},
		{"sent again, to a thread that went back", workloadtest.Script{wrote(1, 0, 1, 1, 2, 0), wrote(2, 2, 3, 2, 1, 2), again(wrote(1, 4, 5, 1, 2, 0), 2)}, "lost append"},
		{"seen before it was sent the first time", workloadtest.Script{readAll(2, 0, 1, "1.0"), workloadtest.Unknown(wrote(1, 2, 3, 1, 1, 0)), again(wrote(1, 4, 5, 1, 1, 0), 1)}, "seen before it was written"},
		{"taken for other entries", workloadtest.Script{wrote(1, 0, 1, 1, 1, 0), workloadtest.Refused(again(wrote(1, 4, 5, 1, 1, 0), 1), "duplicate_entry")}, "refused for no reason"},
		{"a gap in a read", workloadtest.Script{wrote(1, 0, 1, 1, 3, 0), workloadtest.OK(2, 2, 3, workload.CallRead, "t1", readIn{}, appendOut{Rev: 3, IDs: []string{"1.0", "1.1"}})}, "gap in a read"},
		{"a short tail", workloadtest.Script{wrote(1, 0, 1, 1, 3, 0), readTail(2, 2, 3, 2, 2, "1.2")}, "gap in a read"},
		{"a tail from the wrong end", workloadtest.Script{wrote(1, 0, 1, 1, 3, 0), workloadtest.OK(2, 2, 3, workload.CallRead, "t1", readIn{Tail: 2}, appendOut{Rev: 3, IDs: []string{"1.0", "1.1"}})}, "gap in a read"},
		{"more than an older rev had", workloadtest.Script{wrote(1, 0, 1, 1, 2, 0), wrote(1, 2, 3, 2, 1, 2), readAt(2, 4, 5, 2, "1.0", "1.1", "2.0")}, "gap in a read"},
		{"an older rev is gone", workloadtest.Script{wrote(1, 0, 1, 1, 2, 0), workloadtest.OK(2, 4, 5, workload.CallRead, "t1", readIn{At: workloadtest.Uint64(2)}, appendOut{Refused: true, Rev: 2})}, "refused for no reason"},
		{"an older rev is not there yet", workloadtest.Script{wrote(1, 0, 1, 1, 2, 0), workloadtest.OK(2, 2, 3, workload.CallRead, "t1", readIn{At: workloadtest.Uint64(2)}, appendOut{Refused: true, Rev: 0}), meta(1, 4, 5, 2)}, "stale read"},
		{"another incarnation", workloadtest.Script{wrote(1, 0, 1, 1, 2, 0), workloadtest.OK(2, 2, 3, workload.CallMeta, "t1", struct{}{}, appendOut{Incarnation: 4, Rev: 2})}, "another incarnation"},
		{"damaged", workloadtest.Script{wrote(1, 0, 1, 1, 2, 0), workloadtest.OK(2, 2, 3, workload.CallRead, "t1", readIn{}, appendOut{Rev: 2, IDs: two, Wrong: "nobody wrote this"})}, "damaged answer"},
		{"a seq without end", workloadtest.Script{workloadtest.OK(2, 2, 3, workload.CallRead, "t1", readIn{Tail: 1}, appendOut{Rev: 1 << 60, From: 1<<60 - 1, IDs: []string{"1.0"}})}, "impossible seq"},
		{"right heads", workloadtest.Script{workloadtest.OK(1, 0, 1, workload.CallAppend, "t1", appendIn{By: 1, Entries: 2}, headed(listed(0, two...), two...)), workloadtest.OK(2, 2, 3, workload.CallMeta, "t1", struct{}{}, headed(appendOut{Rev: 2}, two...))}, ""},
		{"a wrong head", workloadtest.Script{wrote(1, 0, 1, 1, 2, 0), workloadtest.OK(2, 2, 3, workload.CallMeta, "t1", struct{}{}, headed(appendOut{Rev: 2}, "1.1", "1.0"))}, "wrong head"},
		{"an expected head that was not there", workloadtest.Script{wrote(1, 0, 1, 1, 2, 0), workloadtest.OK(1, 2, 3, workload.CallAppend, "t1", appendIn{By: 2, Entries: 1, Head: "00"}, listed(2, "2.0"))}, "wrong head"},
		{"log time", workloadtest.Script{workloadtest.OK(1, 0, 1, workload.CallAppend, "t1", stampedIn, stamped(listed(0, two...), 7, 7)), workloadtest.OK(2, 2, 3, workload.CallRead, "t1", readIn{}, stamped(listed(0, two...), 7, 7))}, ""},
		{"log time runs back", workloadtest.Script{workloadtest.OK(1, 0, 1, workload.CallAppend, "t1", stampedIn, stamped(listed(0, two...), 7, 6))}, "time runs back"},
		{"log time changes", workloadtest.Script{workloadtest.OK(1, 0, 1, workload.CallAppend, "t1", stampedIn, stamped(listed(0, two...), 7, 7)), workloadtest.OK(2, 2, 3, workload.CallRead, "t1", readIn{}, stamped(listed(0, two...), 7, 8))}, "another time"},
		{"a time that was given changes", workloadtest.Script{wrote(1, 0, 1, 1, 2, 0), workloadtest.OK(2, 2, 3, workload.CallRead, "t1", readIn{}, stamped(listed(0, two...), 7))}, "another time"},
		{"a failed read says nothing", workloadtest.Script{wrote(1, 0, 1, 1, 2, 0), workloadtest.Refused(missing(2, 2, 3), "unavailable"), workloadtest.Unknown(missing(2, 4, 5))}, ""},
	} {
		t.Run(c.name, func(t *testing.T) { workloadtest.Expect(t, workloadtest.Judged(t, New(), c.calls.History()), c.rule) })
	}
}

func TestAppendCheckGivesUp(t *testing.T) {
	workloadtest.GivesUp(t, New(), workloadtest.Script{wrote(1, 0, 1, 1, 1, 0)}.History())
}

// TestTheChainIsThatOfTheContract compares the store's chain with the model's.
func TestTheChainIsThatOfTheContract(t *testing.T) {
	var ours model.Head
	var theirs agent.Head
	for _, id := range []string{"1.0", "1.1", "27.3"} {
		e, _ := chained(id, 0)
		ours = ours.Next(e)
		theirs = theirs.Next(e.ID, e.At, e.Kind, agent.JSON(e.Payload), agent.JSON(e.Refs))
		if ours.String() != theirs.String() {
			t.Fatalf("after %s: %s, and theirs is %s", id, ours, theirs)
		}
	}
}

// madeUpAppends returns the answers of one thread to overlapping calls.
func madeUpAppends(d workloadtest.Draw, n int, key string) workloadtest.Script {
	var s workloadtest.Script
	var all []string
	tell := func(out appendOut) appendOut {
		out.Incarnation = 3
		return headed(out, all[:out.Rev]...)
	}
	var sent []appendIn
	for i, m := range workloadtest.Execution(d, n, 10) {
		switch d(0, 6) {
		case 6:
			if len(sent) == 0 {
				continue
			}
			in := sent[d(0, len(sent)-1)].again()
			at := slices.Index(all, in.id(0))
			if at < 0 && !m.Lost {
				at = len(all)
				all = append(all, in.ids()...)
			}
			out := listed(at, in.ids()...)
			out.Rev = uint64(len(all))
			s = append(s, m.Op(workload.CallAppend, key, in, tell(out)))
		case 0:
			s = append(s, m.Op(workload.CallRead, key, readIn{}, tell(listed(0, slices.Clone(all)...))))
		case 1:
			tail := min(d(1, 4), len(all))
			s = append(s, m.Op(workload.CallRead, key, readIn{Tail: uint64(max(1, tail))}, tell(listed(len(all)-tail, slices.Clone(all[len(all)-tail:])...))))
		case 2:
			s = append(s, m.Op(workload.CallMeta, key, struct{}{}, tell(appendOut{Rev: uint64(len(all))})))
		default:
			in := appendIn{By: int64(i + 1), Entries: d(1, entriesMax)}
			if rev := uint64(len(all)) - uint64(d(0, min(1, len(all)))); d(0, 1) == 0 {
				in.Rev = &rev
			}
			sent = append(sent, in)
			if in.Rev != nil && *in.Rev != uint64(len(all)) {
				sent = sent[:len(sent)-1]
				s = append(s, m.Op(workload.CallAppend, key, in, tell(appendOut{Refused: true, Rev: uint64(len(all))})))
				continue
			}
			if m.Lost {
				s = append(s, m.Op(workload.CallAppend, key, in, nil))
				continue
			}
			at := len(all)
			all = append(all, in.ids()...)
			s = append(s, m.Op(workload.CallAppend, key, in, tell(listed(at, in.ids()...))))
		}
	}
	return append(s, workloadtest.OK(99, s.End(), s.End()+1, workload.CallRead, key, readIn{}, tell(listed(0, all...))))
}

// TestAppendExecutions checks that the answers of one thread are accepted, and that a
// changed answer is found.
func TestAppendExecutions(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		d := workloadtest.Drawn(r)
		sound := madeUpAppends(d, d(1, 60), "t1")
		if got := workloadtest.Check(New(), sound); got.Verdict != check.OK {
			r.Fatalf("sound, judged %s: %v", got.Verdict, workloadtest.Details(got))
		}
		wrong := sound.Copied()
		at := rapid.SampledFrom(workloadtest.Answered(sound, func(history.Op) bool { return true })).Draw(r, "wrong")
		out, err := history.Decode[appendOut](wrong[at].Out)
		if err != nil {
			r.Fatal(err)
		}
		wrong[at].Out = workloadtest.Raw(spoiledThread(d, out))
		if got := workloadtest.Check(New(), wrong); got.Verdict != check.Violation {
			r.Fatalf("call %d was answered %s instead of %s, judged %s", at, wrong[at].Out, sound[at].Out, got.Verdict)
		}
	})
}

// spoiledThread returns an answer that the thread cannot have given.
func spoiledThread(d workloadtest.Draw, out appendOut) appendOut {
	switch n := len(out.IDs); {
	case n > 1 && d(0, 2) == 0:
		out.IDs[0], out.IDs[n-1] = out.IDs[n-1], out.IDs[0]
	case n > 0 && d(0, 2) == 0:
		out.IDs = out.IDs[:n-1]
	case n > 0 && d(0, 2) == 0:
		out.IDs[d(0, n-1)] = "999.0"
	default:
		out.Head = model.Head{1}.String()
	}
	return out
}

// BenchmarkAppendCheck judges threads of 200 calls, as in a run.
func BenchmarkAppendCheck(b *testing.B) {
	d := workloadtest.Thrown(rand.New(rand.NewPCG(1, 2)))
	var all workloadtest.Script
	for key := range 100 {
		all = append(all, madeUpAppends(d, appendCalls, fmt.Sprint("t", key))...)
	}
	h := all.History()
	b.ReportAllocs()
	for b.Loop() {
		if r := New().Check(b.Context(), h); r.Verdict != check.OK {
			b.Fatalf("judged %s: %s %v", r.Verdict, r.Why, workloadtest.Details(r))
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(h.Ops)), "ns/call")
}

func BenchmarkAppendAMillionCalls(b *testing.B) {
	workloadtest.AMillionCalls(b, New(), appendCalls, madeUpAppends)
}
