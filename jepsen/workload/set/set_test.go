package set

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"dormouse/jepsen/check"
	"dormouse/jepsen/history"
	"dormouse/jepsen/workload"
	"dormouse/jepsen/workload/workloadtest"
)

func added(p, from, to int, member int64) history.Op {
	return workloadtest.OK(p, from, to, CallAdd, "v1", In{Member: member}, struct{}{})
}

func members(p, from, to int, all ...int64) history.Op {
	return workloadtest.OK(p, from, to, workload.CallRead, "v1", struct{}{}, Out{Members: all})
}

// onDisk returns the read of a node's disk after the cluster did not recover.
func onDisk(at int, node string, all ...int64) history.Op {
	op := workloadtest.OK(9, at, at+1, workload.CallDisk, "v1", struct{}{}, Out{Members: all})
	op.Node = node
	return op
}

func TestWhatWasAcknowledgedIsOnSomeDisk(t *testing.T) {
	unread := history.Event{Kind: history.EventNote, Name: check.NoteDiskUnread}
	for _, c := range []struct {
		name   string
		calls  workloadtest.Script
		events []history.Event
		rule   string
	}{
		{"on one disk of two", workloadtest.Script{added(1, 0, 1, 1), members(1, 2, 3, 1), onDisk(4, "n1"), onDisk(6, "n2", 1)}, nil, ""},
		{"on none", workloadtest.Script{added(1, 0, 1, 1), members(1, 2, 3, 1), onDisk(4, "n1"), onDisk(6, "n2")}, nil, "on no surviving disk"},
		{"on none, and never read", workloadtest.Script{added(1, 0, 1, 1), onDisk(4, "n1")}, nil, "on no surviving disk"},
		{"an unknown one", workloadtest.Script{workloadtest.Unknown(added(1, 0, 1, 1)), onDisk(4, "n1")}, nil, ""},
		{"a disk was not read", workloadtest.Script{added(1, 0, 1, 1), members(1, 2, 3, 1), onDisk(4, "n1")}, []history.Event{unread}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			workloadtest.Expect(t, workloadtest.Judged(t, New(), c.calls.History(c.events...)), c.rule)
		})
	}
}

func TestSetHistories(t *testing.T) {
	for _, c := range []struct {
		name  string
		calls workloadtest.Script
		rule  string
	}{
		{"added and read", workloadtest.Script{added(1, 0, 1, 1), added(2, 0, 3, 2), members(1, 2, 3, 1), members(1, 4, 5, 1, 2)}, ""},
		{"a read may see one under way", workloadtest.Script{added(1, 0, 9, 1), members(2, 1, 2, 1), members(2, 10, 11, 1)}, ""},
		{"or not", workloadtest.Script{added(1, 0, 9, 1), members(2, 1, 2), members(2, 10, 11, 1)}, ""},
		{"lost", workloadtest.Script{added(1, 0, 1, 1), added(2, 0, 1, 2), members(1, 2, 3, 1), members(1, 4, 5, 1)}, "lost member"},
		{"lost after it was seen", workloadtest.Script{added(1, 0, 1, 1), members(1, 2, 3, 1), members(1, 4, 5)}, "lost member"},
		{"an unknown one, lost after it was seen", workloadtest.Script{workloadtest.Unknown(added(1, 0, 1, 1)), members(1, 2, 3, 1), members(1, 4, 5)}, "lost member"},
		{"stale", workloadtest.Script{added(1, 0, 1, 1), members(1, 2, 3), members(1, 4, 5, 1)}, "stale read"},
		{"reads go back", workloadtest.Script{added(1, 0, 9, 1), members(1, 1, 2, 1), members(2, 3, 4), members(2, 10, 11, 1)}, "stale read"},
		{"an unknown one is there", workloadtest.Script{workloadtest.Unknown(added(1, 0, 1, 1)), members(1, 2, 3), members(1, 4, 5, 1)}, ""},
		{"an unknown one is not there", workloadtest.Script{workloadtest.Unknown(added(1, 0, 1, 1)), members(1, 4, 5)}, ""},
		{"a refused one is there", workloadtest.Script{workloadtest.Refused(added(1, 0, 1, 1), "revision_mismatch"), members(1, 4, 5, 1)}, "refused member is there"},
		{"one from nowhere", workloadtest.Script{added(1, 0, 1, 1), members(1, 4, 5, 1, 2)}, "member from nowhere"},
		{"something else", workloadtest.Script{workloadtest.OK(1, 4, 5, workload.CallRead, "v1", struct{}{}, Out{Wrong: []string{"v1/x"}})}, "member from nowhere"},
		{"one before its time", workloadtest.Script{members(1, 0, 1, 1), added(1, 2, 3, 1), members(1, 4, 5, 1)}, "read before it was added"},
		{"twice", workloadtest.Script{added(1, 0, 1, 1), members(1, 4, 5, 1, 1)}, "duplicate member"},
		{"a failed read says nothing", workloadtest.Script{added(1, 0, 1, 1), workloadtest.Refused(members(1, 2, 3), "unavailable"), members(1, 4, 5, 1)}, ""},
	} {
		t.Run(c.name, func(t *testing.T) { workloadtest.Expect(t, workloadtest.Judged(t, New(), c.calls.History()), c.rule) })
	}
}

func TestSetCheckGivesUp(t *testing.T) {
	workloadtest.GivesUp(t, New(), workloadtest.Script{added(1, 0, 1, 1), members(1, 2, 3, 1)}.History())
}

// TestAMemberThatNobodyLookedForIsNotJudged checks that a run without its final reads
// is unknown, not ok.
func TestAMemberThatNobodyLookedForIsNotJudged(t *testing.T) {
	r := workloadtest.Judged(t, New(), workloadtest.Script{added(1, 0, 1, 1), members(1, 2, 3, 1), added(2, 4, 5, 2)}.History())
	if r.Verdict != check.Unknown || r.Counts["never read"] != 1 || r.Counts["acknowledged"] != 2 {
		t.Errorf("judged %s: %v", r.Verdict, r.Counts)
	}
}

// madeUpSet returns the answers of one set to overlapping calls.
func madeUpSet(d workloadtest.Draw, n int, key string) workloadtest.Script {
	var s workloadtest.Script
	var all []int64
	for i, m := range workloadtest.Execution(d, n, 10) {
		if d(0, 5) == 0 {
			s = append(s, m.Op(workload.CallRead, key, struct{}{}, Out{Members: slices.Clone(all)}))
			continue
		}
		if !m.Lost {
			all = append(all, int64(i))
		}
		s = append(s, m.Op(CallAdd, key, In{Member: int64(i)}, struct{}{}))
	}
	return append(s, workloadtest.OK(99, s.End(), s.End()+1, workload.CallRead, key, struct{}{}, Out{Members: all}))
}

// TestSetExecutions checks that the answers of one set are accepted, and that a
// changed read is found.
func TestSetExecutions(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		d := workloadtest.Drawn(r)
		sound := madeUpSet(d, d(1, 60), "v1")
		if got := workloadtest.Check(New(), sound); got.Verdict != check.OK {
			r.Fatalf("sound, judged %s: %v", got.Verdict, workloadtest.Details(got))
		}
		wrong := sound.Copied()
		last := len(wrong) - 1
		out, err := history.Decode[Out](wrong[last].Out)
		if err != nil {
			r.Fatal(err)
		}
		acked := slices.IndexFunc(wrong, func(op history.Op) bool { return op.Call == CallAdd && op.Outcome == history.OK })
		switch {
		case acked < 0 || d(0, 1) == 0:
			out.Members = append(out.Members, 999)
		default:
			in, err := history.Decode[In](wrong[acked].In)
			if err != nil {
				r.Fatal(err)
			}
			out.Members = slices.DeleteFunc(out.Members, func(m int64) bool { return m == in.Member })
		}
		wrong[last].Out = workloadtest.Raw(out)
		if got := workloadtest.Check(New(), wrong); got.Verdict != check.Violation {
			r.Fatalf("the last read was answered %s instead of %s, judged %s", wrong[last].Out, sound[last].Out, got.Verdict)
		}
	})
}

// BenchmarkSetCheck judges sets of 300 calls, as in a run.
func BenchmarkSetCheck(b *testing.B) {
	d := workloadtest.Thrown(rand.New(rand.NewPCG(1, 2)))
	var all workloadtest.Script
	for key := range 100 {
		all = append(all, madeUpSet(d, CallsMax, fmt.Sprint("v", key))...)
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

func BenchmarkSetAMillionCalls(b *testing.B) {
	workloadtest.AMillionCalls(b, New(), CallsMax, madeUpSet)
}
