package workload

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"dormouse/jepsen/check"
	"dormouse/jepsen/history"
)

func added(p, from, to int, member int64) history.Op {
	return OK(p, from, to, callAdd, "v1", setIn{Member: member}, struct{}{})
}

func members(p, from, to int, all ...int64) history.Op {
	return OK(p, from, to, CallRead, "v1", struct{}{}, setOut{Members: all})
}

func TestSetHistories(t *testing.T) {
	for _, c := range []struct {
		name  string
		calls Script
		rule  string
	}{
		{"added and read", Script{added(1, 0, 1, 1), added(2, 0, 3, 2), members(1, 2, 3, 1), members(1, 4, 5, 1, 2)}, ""},
		{"a read may see one under way", Script{added(1, 0, 9, 1), members(2, 1, 2, 1), members(2, 10, 11, 1)}, ""},
		{"or not", Script{added(1, 0, 9, 1), members(2, 1, 2), members(2, 10, 11, 1)}, ""},
		{"lost", Script{added(1, 0, 1, 1), added(2, 0, 1, 2), members(1, 2, 3, 1), members(1, 4, 5, 1)}, "lost member"},
		{"lost after it was seen", Script{added(1, 0, 1, 1), members(1, 2, 3, 1), members(1, 4, 5)}, "lost member"},
		{"an unknown one, lost after it was seen", Script{Unknown(added(1, 0, 1, 1)), members(1, 2, 3, 1), members(1, 4, 5)}, "lost member"},
		{"stale", Script{added(1, 0, 1, 1), members(1, 2, 3), members(1, 4, 5, 1)}, "stale read"},
		{"reads go back", Script{added(1, 0, 9, 1), members(1, 1, 2, 1), members(2, 3, 4), members(2, 10, 11, 1)}, "stale read"},
		{"an unknown one is there", Script{Unknown(added(1, 0, 1, 1)), members(1, 2, 3), members(1, 4, 5, 1)}, ""},
		{"an unknown one is not there", Script{Unknown(added(1, 0, 1, 1)), members(1, 4, 5)}, ""},
		{"a refused one is there", Script{Refused(added(1, 0, 1, 1), "revision_mismatch"), members(1, 4, 5, 1)}, "refused member is there"},
		{"one from nowhere", Script{added(1, 0, 1, 1), members(1, 4, 5, 1, 2)}, "member from nowhere"},
		{"something else", Script{OK(1, 4, 5, CallRead, "v1", struct{}{}, setOut{Wrong: []string{"v1/x"}})}, "member from nowhere"},
		{"one before its time", Script{members(1, 0, 1, 1), added(1, 2, 3, 1), members(1, 4, 5, 1)}, "read before it was added"},
		{"twice", Script{added(1, 0, 1, 1), members(1, 4, 5, 1, 1)}, "duplicate member"},
		{"a failed read says nothing", Script{added(1, 0, 1, 1), Refused(members(1, 2, 3), "unavailable"), members(1, 4, 5, 1)}, ""},
	} {
		t.Run(c.name, func(t *testing.T) { Expect(t, Judged(t, newSet(), c.calls.History()), c.rule) })
	}
}

func TestSetCheckGivesUp(t *testing.T) {
	GivesUp(t, newSet(), Script{added(1, 0, 1, 1), members(1, 2, 3, 1)}.History())
}

// TestAMemberThatNobodyLookedForIsNotJudged: a run without its final reads is
// unknown, not ok.
func TestAMemberThatNobodyLookedForIsNotJudged(t *testing.T) {
	r := Judged(t, newSet(), Script{added(1, 0, 1, 1), members(1, 2, 3, 1), added(2, 4, 5, 2)}.History())
	if r.Verdict != check.Unknown || r.Counts["never read"] != 1 || r.Counts["acknowledged"] != 2 {
		t.Errorf("judged %s: %v", r.Verdict, r.Counts)
	}
}

// madeUpSet is what one set answers, however the calls overlap.
func madeUpSet(d Draw, n int, key string) Script {
	var s Script
	var all []int64
	for i, m := range Execution(d, n, 10) {
		if d(0, 5) == 0 {
			s = append(s, m.Op(CallRead, key, struct{}{}, setOut{Members: slices.Clone(all)}))
			continue
		}
		if !m.Lost {
			all = append(all, int64(i))
		}
		s = append(s, m.Op(callAdd, key, setIn{Member: int64(i)}, struct{}{}))
	}
	return append(s, OK(99, s.End(), s.End()+1, CallRead, key, struct{}{}, setOut{Members: all}))
}

// TestSetExecutions: what one set answered is sound, however the calls overlap;
// with any read changed it is not.
func TestSetExecutions(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		d := Drawn(r)
		sound := madeUpSet(d, d(1, 60), "v1")
		if got := Check(newSet(), sound); got.Verdict != check.OK {
			r.Fatalf("sound, judged %s: %v", got.Verdict, Details(got))
		}
		wrong := sound.Copied()
		last := len(wrong) - 1
		out, err := history.Decode[setOut](wrong[last].Out)
		if err != nil {
			r.Fatal(err)
		}
		acked := slices.IndexFunc(wrong, func(op history.Op) bool { return op.Call == callAdd && op.Outcome == history.OK })
		switch {
		case acked < 0 || d(0, 1) == 0:
			out.Members = append(out.Members, 999)
		default:
			in, err := history.Decode[setIn](wrong[acked].In)
			if err != nil {
				r.Fatal(err)
			}
			out.Members = slices.DeleteFunc(out.Members, func(m int64) bool { return m == in.Member })
		}
		wrong[last].Out = Raw(out)
		if got := Check(newSet(), wrong); got.Verdict != check.Violation {
			r.Fatalf("the last read was answered %s instead of %s, judged %s", wrong[last].Out, sound[last].Out, got.Verdict)
		}
	})
}

// BenchmarkSetCheck judges sets of 300 calls, as a run makes them.
func BenchmarkSetCheck(b *testing.B) {
	d := Thrown(rand.New(rand.NewPCG(1, 2)))
	var all Script
	for key := range 100 {
		all = append(all, madeUpSet(d, setCalls, fmt.Sprint("v", key))...)
	}
	h := all.History()
	b.ReportAllocs()
	for b.Loop() {
		if r := newSet().Check(b.Context(), h); r.Verdict != check.OK {
			b.Fatalf("judged %s: %s %v", r.Verdict, r.Why, Details(r))
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(h.Ops)), "ns/call")
}

func BenchmarkSetAMillionCalls(b *testing.B) {
	AMillionCalls(b, newSet(), setCalls, madeUpSet)
}
