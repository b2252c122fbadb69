package workload

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"dormouse/jepsen/check"
	"dormouse/jepsen/history"
	"dormouse/jepsen/model"
)

type (
	regIn  = model.RegisterIn
	regOut = model.RegisterOut
)

func is(n uint64) *uint64 { return &n }

func holding(a uint64) model.Content { return model.Content{A: a} }

// put, get and so on are calls by hand: process, invoked, returned.
func regPut(p, from, to int, a uint64, inc, rev uint64) history.Op {
	return ok(p, from, to, "put", "c1", regIn{Content: holding(a)}, regOut{Incarnation: inc, Revision: rev})
}

func regCAS(p, from, to int, a, expected uint64, inc, rev uint64) history.Op {
	return ok(p, from, to, "put", "c1", regIn{Content: holding(a), IfRevision: &expected}, regOut{Incarnation: inc, Revision: rev})
}

func regMismatch(p, from, to int, a, expected uint64, rev uint64) history.Op {
	return ok(p, from, to, "put", "c1", regIn{Content: holding(a), IfRevision: &expected}, regOut{Refused: "revision_mismatch", Revision: rev})
}

func regGet(p, from, to int, a uint64, inc, rev uint64) history.Op {
	return ok(p, from, to, "get", "c1", regIn{}, regOut{Incarnation: inc, Revision: rev, Content: holding(a)})
}

func regGone(p, from, to int) history.Op {
	return ok(p, from, to, "get", "c1", regIn{}, regOut{Refused: "not_found"})
}

func regDelete(p, from, to int, inc uint64) history.Op {
	return ok(p, from, to, "delete", "c1", regIn{}, regOut{Existed: inc != 0, Incarnation: inc})
}

func regPatch(p, from, to int, b uint64, out regOut) history.Op {
	return ok(p, from, to, "patch", "c1", regIn{Content: model.Content{B: b}}, out)
}

func TestRegisterHistories(t *testing.T) {
	const broken = "not linearizable"
	late := regIn{Content: holding(9), IfIncarnation: 5}
	for _, c := range []struct {
		name  string
		calls script
		rule  string
	}{
		{"writes and reads in turn", script{regGone(1, 0, 1), regPut(1, 2, 3, 1, 5, 1), regGet(2, 4, 5, 1, 5, 1), regPut(2, 6, 7, 2, 5, 2), regGet(1, 8, 9, 2, 5, 2)}, ""},
		{"a read may see a write under way", script{regPut(1, 0, 9, 1, 5, 1), regGet(2, 2, 3, 1, 5, 1), regGet(2, 4, 5, 1, 5, 1)}, ""},
		{"or not", script{regPut(1, 0, 9, 1, 5, 1), regGone(2, 2, 3)}, ""},
		{"a stale read", script{regPut(1, 0, 1, 1, 5, 1), regPut(1, 2, 3, 2, 5, 2), regGet(2, 4, 5, 1, 5, 1)}, "lost write"},
		{"a stale read of what is there later", script{regPut(1, 0, 1, 1, 5, 1), regPut(1, 2, 3, 2, 5, 2), regGet(2, 4, 5, 1, 5, 1), regGet(2, 6, 7, 2, 5, 2)}, "stale read"},
		{"a read of what is not there yet", script{regGet(2, 0, 1, 1, 5, 1), regPut(1, 2, 3, 1, 5, 1)}, "lost write"},
		{"reads go back", script{regPut(1, 0, 9, 1, 5, 1), regGet(2, 1, 2, 1, 5, 1), regGone(3, 3, 4)}, broken},
		{"a lost write", script{regPut(1, 0, 1, 1, 5, 1), regGone(2, 4, 5)}, broken},
		{"a value nobody wrote", script{regPut(1, 0, 1, 1, 5, 1), regGet(2, 4, 5, 7, 5, 1)}, "another content"},
		{"a refused write is seen", script{refused(regPut(1, 0, 1, 1, 5, 1), "unavailable"), regGet(2, 4, 5, 1, 5, 1)}, broken},
		{"an unknown write is seen much later", script{unknown(regPut(1, 0, 1, 1, 5, 1)), regGone(2, 4, 5), regGet(2, 6, 7, 1, 5, 1)}, ""},
		{"an unknown write is never seen", script{unknown(regPut(1, 0, 1, 1, 5, 1)), regPut(2, 2, 3, 2, 5, 1), regGet(2, 4, 5, 2, 5, 1)}, ""},
		{"an unknown write counts only once", script{unknown(regPut(1, 0, 1, 1, 5, 1)), regPut(2, 2, 3, 2, 5, 2), regPut(2, 4, 5, 3, 5, 4)}, broken},
		{"an unknown write that was undone returns", script{unknown(regPut(1, 0, 1, 1, 5, 1)), regGet(2, 2, 3, 1, 5, 1), regPut(2, 4, 5, 2, 5, 2), regGet(3, 6, 7, 1, 5, 3)}, broken},
		{"an unknown write before it was invoked", script{regGet(2, 0, 1, 1, 5, 1), unknown(regPut(1, 2, 3, 1, 5, 1))}, broken},
		{"two writes get one revision", script{regPut(1, 0, 9, 1, 5, 1), regPut(2, 0, 9, 2, 5, 1)}, "two writes at one revision"},
		{"a revision is skipped", script{regPut(1, 0, 1, 1, 5, 1), regPut(2, 2, 3, 2, 5, 3)}, broken},
		{"compare and swap", script{regCAS(1, 0, 1, 1, 0, 5, 1), regCAS(2, 2, 3, 2, 1, 5, 2), regMismatch(1, 4, 5, 3, 1, 2), regGet(1, 6, 7, 2, 5, 2)}, ""},
		{"two of one revision", script{regPut(1, 0, 1, 1, 5, 1), regCAS(2, 2, 9, 2, 1, 5, 2), regCAS(3, 2, 9, 3, 1, 5, 3)}, broken},
		{"created twice", script{regCAS(2, 2, 9, 2, 0, 5, 1), regCAS(3, 2, 9, 3, 0, 6, 1)}, broken},
		{"refused, though it fits", script{regPut(1, 0, 1, 1, 5, 1), regMismatch(2, 2, 3, 2, 1, 1)}, broken},
		{"refused with a stale revision", script{regPut(1, 0, 1, 1, 5, 1), regPut(1, 2, 3, 2, 5, 2), regMismatch(2, 4, 5, 2, 7, 1)}, broken},
		{"a swap that was refused is seen", script{regPut(1, 0, 1, 1, 5, 1), regMismatch(2, 2, 3, 2, 7, 1), regGet(1, 4, 5, 2, 5, 2)}, broken},
		{"deleted and made anew", script{regPut(1, 0, 1, 1, 5, 1), regDelete(1, 2, 3, 5), regGone(2, 4, 5), regDelete(1, 6, 7, 0), regPut(1, 8, 9, 2, 6, 1), regGet(2, 10, 11, 2, 6, 1)}, ""},
		{"a delete is undone", script{regPut(1, 0, 1, 1, 5, 1), regDelete(1, 2, 3, 5), regGet(2, 4, 5, 1, 5, 1)}, "lost write"},
		{"a deleted key keeps its revision", script{regPut(1, 0, 1, 1, 5, 1), regDelete(1, 2, 3, 5), regPut(2, 4, 5, 2, 6, 2)}, broken},
		{"a deleted key keeps its incarnation", script{regPut(1, 0, 1, 1, 5, 1), regDelete(1, 2, 3, 5), regPut(2, 4, 5, 2, 5, 1)}, "two writes at one revision"},
		{"an incarnation changes by itself", script{regPut(1, 0, 1, 1, 5, 1), regPut(2, 4, 5, 2, 6, 2)}, broken},
		{"an incarnation nobody was told", script{unknown(regPut(1, 0, 1, 1, 5, 1)), regGet(2, 2, 3, 1, 7, 1), regGet(2, 4, 5, 1, 7, 1)}, ""},
		{"and it changes", script{unknown(regPut(1, 0, 1, 1, 5, 1)), regGet(2, 2, 3, 1, 7, 1), regGet(2, 4, 5, 1, 8, 1)}, broken},
		{"a delete that found something finds nothing", script{regPut(1, 0, 1, 1, 5, 1), regDelete(1, 2, 3, 0)}, broken},
		{"an unknown delete", script{regPut(1, 0, 1, 1, 5, 1), unknown(regDelete(1, 2, 3, 5)), regGet(2, 4, 5, 1, 5, 1), regGone(2, 6, 7), regPut(2, 8, 9, 2, 6, 1)}, ""},
		{"patches", script{
			regPatch(1, 0, 1, 7, regOut{Refused: "not_found"}), regPut(1, 2, 3, 1, 5, 1), regPatch(1, 4, 5, 7, regOut{Incarnation: 5, Revision: 2}),
			ok(2, 6, 7, "get", "c1", regIn{}, regOut{Incarnation: 5, Revision: 2, Content: model.Content{A: 1, B: 7}}),
			ok(2, 8, 9, "patch", "c1", regIn{Drop: true}, regOut{Incarnation: 5, Revision: 3}), regGet(1, 10, 11, 1, 5, 3),
		}, ""},
		{"a patch forgets the rest", script{
			regPut(1, 2, 3, 1, 5, 1), regPatch(1, 4, 5, 7, regOut{Incarnation: 5, Revision: 2}),
			ok(2, 6, 7, "get", "c1", regIn{}, regOut{Incarnation: 5, Revision: 2, Content: model.Content{B: 7}}),
		}, broken},
		{"a patch makes what is not there", script{regPatch(1, 4, 5, 7, regOut{Incarnation: 5, Revision: 1})}, broken},
		{"a late write is refused", script{
			regPut(1, 0, 1, 1, 5, 1), regDelete(1, 2, 3, 5), ok(2, 4, 5, "put", "c1", late, regOut{Refused: "deleted", Incarnation: 5}),
			regPut(1, 6, 7, 1, 6, 1), ok(2, 8, 9, "put", "c1", late, regOut{Refused: "deleted", Incarnation: 6}),
		}, ""},
		{"a late write resurrects", script{regPut(1, 0, 1, 1, 5, 1), regDelete(1, 2, 3, 5), ok(2, 4, 5, "put", "c1", late, regOut{Incarnation: 6, Revision: 1})}, broken},
		{"a late write applies to the next one", script{regPut(1, 0, 1, 1, 5, 1), regDelete(1, 2, 3, 5), regPut(1, 4, 5, 2, 6, 1), ok(2, 6, 7, "put", "c1", late, regOut{Incarnation: 6, Revision: 2})}, broken},
		{"a timely write is refused as late", script{regPut(1, 0, 1, 1, 5, 1), ok(2, 4, 5, "put", "c1", late, regOut{Refused: "deleted", Incarnation: 5})}, broken},
		{"compare bytes", script{
			ok(1, 0, 1, "put", "c1", regIn{Content: holding(1), IfAbsent: true}, regOut{Incarnation: 5, Revision: 1}),
			ok(1, 2, 3, "put", "c1", regIn{Content: holding(2), IfContent: &model.Content{A: 1}}, regOut{Incarnation: 5, Revision: 2}),
			ok(1, 4, 5, "put", "c1", regIn{Content: holding(3), IfContent: &model.Content{A: 1}}, regOut{Refused: "revision_mismatch", Revision: 2}),
		}, ""},
		{"bytes differ, and yet", script{regPut(1, 0, 1, 1, 5, 1), ok(1, 2, 3, "put", "c1", regIn{Content: holding(2), IfContent: &model.Content{A: 3}}, regOut{Incarnation: 5, Revision: 2})}, broken},
		{"created where there is something", script{regPut(1, 0, 1, 1, 5, 1), ok(1, 2, 3, "put", "c1", regIn{Content: holding(2), IfAbsent: true}, regOut{Incarnation: 5, Revision: 2})}, broken},
		{"bytes that nobody wrote", script{regPut(1, 0, 1, 1, 5, 1), ok(1, 2, 3, "get", "c1", regIn{}, regOut{Incarnation: 5, Revision: 1, Content: model.Content{Odd: "{}"}})}, "another content"},
		{"a failed read and one that never returned say nothing", script{refused(regGone(1, 0, 1), "unavailable"), unknown(regGone(2, 0, 1)), regPut(1, 2, 3, 1, 5, 1)}, ""},
	} {
		t.Run(c.name, func(t *testing.T) { expect(t, judged(t, newRegister(), c.calls.history()), c.rule) })
	}
}

func TestRegisterCheckGivesUp(t *testing.T) {
	givesUp(t, newRegister(), script{regPut(1, 0, 1, 1, 5, 1)}.history())
}

// TestTheShortestFailingHistory: out of a long history with one stale refusal
// come the few calls that show it, with a picture.
func TestTheShortestFailingHistory(t *testing.T) {
	var calls script
	for i := range 300 {
		n := uint64(i + 1)
		calls = append(calls, regPut(1, 10*i, 10*i+5, n, 5, n), regGet(2, 10*i+6, 10*i+8, n, 5, n), regMismatch(3, 10*i+7, 10*i+9, 1, 999, n))
	}
	calls[602] = regMismatch(3, 10*200+7, 10*200+9, 1, 999, 200) // it should tell 201
	r := judged(t, newRegister(), calls.history())
	expect(t, r, "not linearizable")
	f := r.Findings[0]
	if len(f.Ops) > 3 {
		t.Errorf("%d calls show it: %s", len(f.Ops), f.Detail)
	}
	if last := f.Ops[len(f.Ops)-1]; last.Call != "put" || last.Invoke != 2007*time.Millisecond {
		t.Errorf("the last of them is %+v", last)
	}
	if !bytes.Contains(f.Picture, []byte("<html")) {
		t.Errorf("the picture has %d bytes", len(f.Picture))
	}
}

// world is a register as anybody would write it who has not seen the model.
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

func madeUpRegister(d draw, n int) script {
	w := world{next: 4}
	var s script
	for i, m := range execution(d, n, 8) {
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
		// To delete what is not there is fine, whatever the condition.
		switch condition := d(0, 3); {
		case name == "get":
		case condition == 0 && (name != "delete" || w.there):
			in.IfRevision = is(max(w.rev, 1) - uint64(d(0, 1)))
		case condition == 1 && w.there:
			in.IfIncarnation = w.inc - 3*uint64(d(0, 1))
		}
		var out regOut
		if !m.lost {
			out = w.call(name, in)
		}
		s = append(s, m.op(name, "c1", in, out))
	}
	return s
}

// TestRegisterExecutions: what one register answered is sound, however the
// calls overlap; with any one answer changed it is not.
func TestRegisterExecutions(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		sound := madeUpRegister(drawn(r), rapid.IntRange(1, 40).Draw(r, "calls"))
		if got := check1(newRegister(), sound); got.Verdict != check.OK {
			r.Fatalf("sound, judged %s: %v", got.Verdict, details(got))
		}
		places := answered(sound, func(op history.Op) bool { return op.Call != "delete" })
		if len(places) == 0 {
			return
		}
		wrong := sound.copied()
		at := rapid.SampledFrom(places).Draw(r, "wrong")
		out, err := history.Decode[regOut](wrong[at].Out)
		if err != nil {
			r.Fatal(err)
		}
		wrong[at].Out = raw(spoiled(drawn(r), wrong[at].Call, out))
		got := check1(newRegister(), wrong)
		if got.Verdict != check.Violation {
			r.Fatalf("call %d was answered %s instead of %s, judged %s", at, wrong[at].Out, sound[at].Out, got.Verdict)
		}
		shortest := got.Findings[0]
		if whole := strings.HasSuffix(shortest.Detail, "first call on"); whole && check1(newRegister(), shortest.Ops).Verdict != check.Violation {
			r.Fatalf("the shortest history shows nothing: %+v", shortest)
		}
	})
}

// spoiled is an answer that no register can give.
func spoiled(d draw, call string, out regOut) regOut {
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

// check1 judges a script.
func check1(w Workload, s script) check.Result {
	return w.Check(context.Background(), s.history())
}

// BenchmarkRegisterCheck judges keys of 400 calls, as a run makes them.
func BenchmarkRegisterCheck(b *testing.B) {
	for _, wrong := range []bool{false, true} {
		b.Run(fmt.Sprintf("wrong=%v", wrong), func(b *testing.B) {
			d := thrown(rand.New(rand.NewPCG(1, 2)))
			var keys []*history.History
			for range 20 {
				s := madeUpRegister(d, registerCalls)
				if wrong {
					places := answered(s, func(op history.Op) bool { return op.Call != "delete" })
					at := places[d(0, len(places)-1)]
					out, err := history.Decode[regOut](s[at].Out)
					if err != nil {
						b.Fatal(err)
					}
					s[at].Out = raw(spoiled(d, s[at].Call, out))
				}
				keys = append(keys, s.history())
			}
			worst := time.Duration(0)
			for b.Loop() {
				for _, h := range keys {
					r := newRegister().Check(b.Context(), h)
					if (r.Verdict == check.Violation) != wrong {
						b.Fatalf("judged %s: %s %v", r.Verdict, r.Why, details(r))
					}
					worst = max(worst, r.Took)
				}
			}
			b.ReportMetric(worst.Seconds()*1000, "worst-ms")
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(keys)*registerCalls), "ns/call")
		})
	}
}
