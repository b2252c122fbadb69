package register

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"dormouse/jepsen/check"
	"dormouse/jepsen/history"
	"dormouse/jepsen/model"
	"dormouse/jepsen/workload/workloadtest"
)

// world is a second, independent implementation of a register.
type world struct {
	there          bool
	inc, rev, next uint64
	a, b           uint64
}

func (w *world) call(name string, in regIn) regOut {
	switch {
	case name == "get" && !w.there, name == "patch" && !w.there && in.IfIncarnation == 0:
		return regOut{Refused: "not_found"}
	case name == "get":
		return regOut{Incarnation: w.inc, Revision: w.rev, Content: model.Content{A: w.a, B: w.b}}
	case in.IfIncarnation != 0 && (!w.there || w.inc != in.IfIncarnation):
		return regOut{Refused: "deleted", Incarnation: w.inc}
	case in.IfRevision != nil && *in.IfRevision != w.rev:
		return regOut{Refused: "revision_mismatch", Revision: w.rev}
	case name == "delete":
		out := regOut{Existed: w.there}
		if w.there {
			out.Incarnation = w.inc
		}
		*w = world{next: w.next, inc: w.inc}
		return out
	}
	if !w.there {
		w.next += 3
		*w = world{there: true, inc: w.next, next: w.next}
	}
	w.rev++
	if name == "put" {
		w.a, w.b = 0, 0
	}
	if in.Content.A != 0 {
		w.a = in.Content.A
	}
	if in.Content.B != 0 {
		w.b = in.Content.B
	}
	if in.Drop {
		w.b = 0
	}
	return regOut{Incarnation: w.inc, Revision: w.rev}
}

func madeUpRegister(d workloadtest.Draw, n int) workloadtest.Script {
	w := world{next: 4}
	var s workloadtest.Script
	for i, m := range workloadtest.Execution(d, n, 8) {
		name := []string{"get", "get", "get", "put", "put", "put", "patch", "delete"}[d(0, 7)]
		in := regIn{}
		if name == "put" || name == "patch" {
			in.Content.B = uint64(2*i + 2)
			if name == "put" {
				in.Content.A = uint64(2*i + 1)
			}
		}
		if name == "patch" && d(0, 1) == 0 {
			in = regIn{Drop: true}
		}
		// Deleting a missing register is always allowed.
		switch condition := d(0, 3); {
		case name == "get":
		case condition == 0 && (name != "delete" || w.there):
			in.IfRevision = workloadtest.Uint64(max(w.rev, 1) - uint64(d(0, 1)))
		case condition == 1 && w.there:
			in.IfIncarnation = w.inc - 3*uint64(d(0, 1))
		}
		var out regOut
		if !m.Lost {
			out = w.call(name, in)
		}
		if name == "delete" && out.Refused == "" && d(0, 1) == 0 {
			out = regOut{Untold: true}
		}
		s = append(s, m.Op(name, "c1", in, out))
	}
	return s
}

// TestRegisterExecutions checks that the answers of one register to overlapping calls
// are accepted, and that a changed answer is found.
func TestRegisterExecutions(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		sound := madeUpRegister(workloadtest.Drawn(r), rapid.IntRange(1, 40).Draw(r, "calls"))
		want := check.OK
		if len(workloadtest.Answered(sound, func(history.Op) bool { return true })) == 0 {
			want = check.Unknown
		}
		if got := workloadtest.Check(New(), sound); got.Verdict != want {
			r.Fatalf("sound, judged %s: %v", got.Verdict, workloadtest.Details(got))
		}
		places := workloadtest.Answered(sound, func(op history.Op) bool { return op.Call != "delete" })
		if len(places) == 0 {
			return
		}
		wrong := sound.Copied()
		at := rapid.SampledFrom(places).Draw(r, "wrong")
		out, err := history.Decode[regOut](wrong[at].Out)
		if err != nil {
			r.Fatal(err)
		}
		wrong[at].Out = workloadtest.Raw(spoiled(workloadtest.Drawn(r), wrong[at].Call, out))
		got := workloadtest.Check(New(), wrong)
		if got.Verdict != check.Violation {
			r.Fatalf("call %d was answered %s instead of %s, judged %s", at, wrong[at].Out, sound[at].Out, got.Verdict)
		}
		shortest := got.Findings[0]
		if whole := strings.HasSuffix(shortest.Detail, "first call on"); whole && workloadtest.Check(New(), shortest.Ops).Verdict != check.Violation {
			r.Fatalf("the shortest history shows nothing: %+v", shortest)
		}
	})
}

// spoiled returns an answer that no register can give.
func spoiled(d workloadtest.Draw, call string, out regOut) regOut {
	switch {
	case out.Refused == "revision_mismatch":
		out.Revision += 1000
	case out.Refused != "":
		return regOut{Refused: "revision_mismatch", Revision: 1000}
	case call == "get" && d(0, 1) == 0:
		out.Content.A += 1000
	default:
		out.Revision += 1000
	}
	return out
}

// BenchmarkRegisterCheck judges keys of 400 calls, as in a run.
func BenchmarkRegisterCheck(b *testing.B) {
	for _, wrong := range []bool{false, true} {
		b.Run(fmt.Sprintf("wrong=%v", wrong), func(b *testing.B) {
			d := workloadtest.Thrown(rand.New(rand.NewPCG(1, 2)))
			var keys []*history.History
			for range 20 {
				s := madeUpRegister(d, registerCalls)
				if wrong {
					places := workloadtest.Answered(s, func(op history.Op) bool { return op.Call != "delete" })
					at := places[d(0, len(places)-1)]
					out, err := history.Decode[regOut](s[at].Out)
					if err != nil {
						b.Fatal(err)
					}
					s[at].Out = workloadtest.Raw(spoiled(d, s[at].Call, out))
				}
				keys = append(keys, s.History())
			}
			worst := time.Duration(0)
			for b.Loop() {
				for _, h := range keys {
					r := New().Check(b.Context(), h)
					if (r.Verdict == check.Violation) != wrong {
						b.Fatalf("judged %s: %s %v", r.Verdict, r.Why, workloadtest.Details(r))
					}
					worst = max(worst, r.Took)
				}
			}
			b.ReportMetric(worst.Seconds()*1000, "worst-ms")
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(keys)*registerCalls), "ns/call")
		})
	}
}

func BenchmarkRegisterAMillionCalls(b *testing.B) {
	workloadtest.AMillionCalls(b, New(), registerCalls, func(d workloadtest.Draw, n int, key string) workloadtest.Script {
		return madeUpRegister(d, n).Of("c" + key)
	})
}
