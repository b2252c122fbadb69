package register

import (
	"bytes"
	"testing"
	"time"

	"dormouse/jepsen/history"
	"dormouse/jepsen/model"
	"dormouse/jepsen/workload/workloadtest"
)

type (
	regIn  = model.RegisterIn
	regOut = model.RegisterOut
)

func holding(a uint64) model.Content { return model.Content{A: a} }

// regPut and the functions below build calls: process, invocation, return.
func regPut(p, from, to int, a uint64, inc, rev uint64) history.Op {
	return workloadtest.OK(p, from, to, "put", "c1", regIn{Content: holding(a)}, regOut{Incarnation: inc, Revision: rev})
}

func regCAS(p, from, to int, a, expected uint64, inc, rev uint64) history.Op {
	return workloadtest.OK(p, from, to, "put", "c1", regIn{Content: holding(a), IfRevision: &expected}, regOut{Incarnation: inc, Revision: rev})
}

func regMismatch(p, from, to int, a, expected uint64, rev uint64) history.Op {
	return workloadtest.OK(p, from, to, "put", "c1", regIn{Content: holding(a), IfRevision: &expected}, regOut{Refused: "revision_mismatch", Revision: rev})
}

func regGet(p, from, to int, a uint64, inc, rev uint64) history.Op {
	return workloadtest.OK(p, from, to, "get", "c1", regIn{}, regOut{Incarnation: inc, Revision: rev, Content: holding(a)})
}

func regGone(p, from, to int) history.Op {
	return workloadtest.OK(p, from, to, "get", "c1", regIn{}, regOut{Refused: "not_found"})
}

func regDelete(p, from, to int, inc uint64) history.Op {
	return workloadtest.OK(p, from, to, "delete", "c1", regIn{}, regOut{Existed: inc != 0, Incarnation: inc})
}

func regPatch(p, from, to int, b uint64, out regOut) history.Op {
	return workloadtest.OK(p, from, to, "patch", "c1", regIn{Content: model.Content{B: b}}, out)
}

func TestRegisterHistories(t *testing.T) {
	const broken = "not linearizable"
	late := regIn{Content: holding(9), IfIncarnation: 5}
	for _, c := range []struct {
		name  string
		calls workloadtest.Script
		rule  string
	}{
		{"writes and reads in turn", workloadtest.Script{regGone(1, 0, 1), regPut(1, 2, 3, 1, 5, 1), regGet(2, 4, 5, 1, 5, 1), regPut(2, 6, 7, 2, 5, 2), regGet(1, 8, 9, 2, 5, 2)}, ""},
		{"a read may see a write under way", workloadtest.Script{regPut(1, 0, 9, 1, 5, 1), regGet(2, 2, 3, 1, 5, 1), regGet(2, 4, 5, 1, 5, 1)}, ""},
		{"or not", workloadtest.Script{regPut(1, 0, 9, 1, 5, 1), regGone(2, 2, 3)}, ""},
		{"a stale read", workloadtest.Script{regPut(1, 0, 1, 1, 5, 1), regPut(1, 2, 3, 2, 5, 2), regGet(2, 4, 5, 1, 5, 1)}, "lost write"},
		{"a stale read of what is there later", workloadtest.Script{regPut(1, 0, 1, 1, 5, 1), regPut(1, 2, 3, 2, 5, 2), regGet(2, 4, 5, 1, 5, 1), regGet(2, 6, 7, 2, 5, 2)}, "stale read"},
		{"a read of what is not there yet", workloadtest.Script{regGet(2, 0, 1, 1, 5, 1), regPut(1, 2, 3, 1, 5, 1)}, "lost write"},
		{"reads go back", workloadtest.Script{regPut(1, 0, 9, 1, 5, 1), regGet(2, 1, 2, 1, 5, 1), regGone(3, 3, 4)}, broken},
		{"a lost write", workloadtest.Script{regPut(1, 0, 1, 1, 5, 1), regGone(2, 4, 5)}, broken},
		{"a value nobody wrote", workloadtest.Script{regPut(1, 0, 1, 1, 5, 1), regGet(2, 4, 5, 7, 5, 1)}, "another content"},
		{"a refused write is seen", workloadtest.Script{workloadtest.Refused(regPut(1, 0, 1, 1, 5, 1), "unavailable"), regGet(2, 4, 5, 1, 5, 1)}, broken},
		{"an unknown write is seen much later", workloadtest.Script{workloadtest.Unknown(regPut(1, 0, 1, 1, 5, 1)), regGone(2, 4, 5), regGet(2, 6, 7, 1, 5, 1)}, ""},
		{"an unknown write is never seen", workloadtest.Script{workloadtest.Unknown(regPut(1, 0, 1, 1, 5, 1)), regPut(2, 2, 3, 2, 5, 1), regGet(2, 4, 5, 2, 5, 1)}, ""},
		{"an unknown write counts only once", workloadtest.Script{workloadtest.Unknown(regPut(1, 0, 1, 1, 5, 1)), regPut(2, 2, 3, 2, 5, 2), regPut(2, 4, 5, 3, 5, 4)}, broken},
		{"an unknown write that was undone returns", workloadtest.Script{workloadtest.Unknown(regPut(1, 0, 1, 1, 5, 1)), regGet(2, 2, 3, 1, 5, 1), regPut(2, 4, 5, 2, 5, 2), regGet(3, 6, 7, 1, 5, 3)}, broken},
		{"an unknown write before it was invoked", workloadtest.Script{regGet(2, 0, 1, 1, 5, 1), workloadtest.Unknown(regPut(1, 2, 3, 1, 5, 1))}, broken},
		{"two writes get one revision", workloadtest.Script{regPut(1, 0, 9, 1, 5, 1), regPut(2, 0, 9, 2, 5, 1)}, "two writes at one revision"},
		{"a revision is skipped", workloadtest.Script{regPut(1, 0, 1, 1, 5, 1), regPut(2, 2, 3, 2, 5, 3)}, broken},
		{"compare and swap", workloadtest.Script{regCAS(1, 0, 1, 1, 0, 5, 1), regCAS(2, 2, 3, 2, 1, 5, 2), regMismatch(1, 4, 5, 3, 1, 2), regGet(1, 6, 7, 2, 5, 2)}, ""},
		{"two of one revision", workloadtest.Script{regPut(1, 0, 1, 1, 5, 1), regCAS(2, 2, 9, 2, 1, 5, 2), regCAS(3, 2, 9, 3, 1, 5, 3)}, broken},
		{"created twice", workloadtest.Script{regCAS(2, 2, 9, 2, 0, 5, 1), regCAS(3, 2, 9, 3, 0, 6, 1)}, broken},
		{"refused, though it fits", workloadtest.Script{regPut(1, 0, 1, 1, 5, 1), regMismatch(2, 2, 3, 2, 1, 1)}, broken},
		{"refused with a stale revision", workloadtest.Script{regPut(1, 0, 1, 1, 5, 1), regPut(1, 2, 3, 2, 5, 2), regMismatch(2, 4, 5, 2, 7, 1)}, broken},
		{"a swap that was refused is seen", workloadtest.Script{regPut(1, 0, 1, 1, 5, 1), regMismatch(2, 2, 3, 2, 7, 1), regGet(1, 4, 5, 2, 5, 2)}, broken},
		{"deleted and made anew", workloadtest.Script{regPut(1, 0, 1, 1, 5, 1), regDelete(1, 2, 3, 5), regGone(2, 4, 5), regDelete(1, 6, 7, 0), regPut(1, 8, 9, 2, 6, 1), regGet(2, 10, 11, 2, 6, 1)}, ""},
		{"a delete is undone", workloadtest.Script{regPut(1, 0, 1, 1, 5, 1), regDelete(1, 2, 3, 5), regGet(2, 4, 5, 1, 5, 1)}, "lost write"},
		{"a deleted key keeps its revision", workloadtest.Script{regPut(1, 0, 1, 1, 5, 1), regDelete(1, 2, 3, 5), regPut(2, 4, 5, 2, 6, 2)}, broken},
		{"a deleted key keeps its incarnation", workloadtest.Script{regPut(1, 0, 1, 1, 5, 1), regDelete(1, 2, 3, 5), regPut(2, 4, 5, 2, 5, 1)}, "two writes at one revision"},
		{"an incarnation changes by itself", workloadtest.Script{regPut(1, 0, 1, 1, 5, 1), regPut(2, 4, 5, 2, 6, 2)}, broken},
		{"an incarnation nobody was told", workloadtest.Script{workloadtest.Unknown(regPut(1, 0, 1, 1, 5, 1)), regGet(2, 2, 3, 1, 7, 1), regGet(2, 4, 5, 1, 7, 1)}, ""},
		{"and it changes", workloadtest.Script{workloadtest.Unknown(regPut(1, 0, 1, 1, 5, 1)), regGet(2, 2, 3, 1, 7, 1), regGet(2, 4, 5, 1, 8, 1)}, broken},
		{"a delete that found something finds nothing", workloadtest.Script{regPut(1, 0, 1, 1, 5, 1), regDelete(1, 2, 3, 0)}, broken},
		{"an unknown delete", workloadtest.Script{regPut(1, 0, 1, 1, 5, 1), workloadtest.Unknown(regDelete(1, 2, 3, 5)), regGet(2, 4, 5, 1, 5, 1), regGone(2, 6, 7), regPut(2, 8, 9, 2, 6, 1)}, ""},
		{"patches", workloadtest.Script{
			regPatch(1, 0, 1, 7, regOut{Refused: "not_found"}), regPut(1, 2, 3, 1, 5, 1), regPatch(1, 4, 5, 7, regOut{Incarnation: 5, Revision: 2}),
			workloadtest.OK(2, 6, 7, "get", "c1", regIn{}, regOut{Incarnation: 5, Revision: 2, Content: model.Content{A: 1, B: 7}}),
			workloadtest.OK(2, 8, 9, "patch", "c1", regIn{Drop: true}, regOut{Incarnation: 5, Revision: 3}), regGet(1, 10, 11, 1, 5, 3),
		}, ""},
		{"a patch forgets the rest", workloadtest.Script{
			regPut(1, 2, 3, 1, 5, 1), regPatch(1, 4, 5, 7, regOut{Incarnation: 5, Revision: 2}),
			workloadtest.OK(2, 6, 7, "get", "c1", regIn{}, regOut{Incarnation: 5, Revision: 2, Content: model.Content{B: 7}}),
		}, broken},
		{"a patch makes what is not there", workloadtest.Script{regPatch(1, 4, 5, 7, regOut{Incarnation: 5, Revision: 1})}, broken},
		{"a late write is refused", workloadtest.Script{
			regPut(1, 0, 1, 1, 5, 1), regDelete(1, 2, 3, 5), workloadtest.OK(2, 4, 5, "put", "c1", late, regOut{Refused: "deleted", Incarnation: 5}),
			regPut(1, 6, 7, 1, 6, 1), workloadtest.OK(2, 8, 9, "put", "c1", late, regOut{Refused: "deleted", Incarnation: 6}),
		}, ""},
		{"a late write resurrects", workloadtest.Script{regPut(1, 0, 1, 1, 5, 1), regDelete(1, 2, 3, 5), workloadtest.OK(2, 4, 5, "put", "c1", late, regOut{Incarnation: 6, Revision: 1})}, broken},
		{"a late write applies to the next one", workloadtest.Script{regPut(1, 0, 1, 1, 5, 1), regDelete(1, 2, 3, 5), regPut(1, 4, 5, 2, 6, 1), workloadtest.OK(2, 6, 7, "put", "c1", late, regOut{Incarnation: 6, Revision: 2})}, broken},
		{"a timely write is refused as late", workloadtest.Script{regPut(1, 0, 1, 1, 5, 1), workloadtest.OK(2, 4, 5, "put", "c1", late, regOut{Refused: "deleted", Incarnation: 5})}, broken},
		{"compare bytes", workloadtest.Script{
			workloadtest.OK(1, 0, 1, "put", "c1", regIn{Content: holding(1), IfAbsent: true}, regOut{Incarnation: 5, Revision: 1}),
			workloadtest.OK(1, 2, 3, "put", "c1", regIn{Content: holding(2), IfContent: &model.Content{A: 1}}, regOut{Incarnation: 5, Revision: 2}),
			workloadtest.OK(1, 4, 5, "put", "c1", regIn{Content: holding(3), IfContent: &model.Content{A: 1}}, regOut{Refused: "revision_mismatch", Revision: 2}),
		}, ""},
		{"bytes differ, and yet", workloadtest.Script{regPut(1, 0, 1, 1, 5, 1), workloadtest.OK(1, 2, 3, "put", "c1", regIn{Content: holding(2), IfContent: &model.Content{A: 3}}, regOut{Incarnation: 5, Revision: 2})}, broken},
		{"created where there is something", workloadtest.Script{regPut(1, 0, 1, 1, 5, 1), workloadtest.OK(1, 2, 3, "put", "c1", regIn{Content: holding(2), IfAbsent: true}, regOut{Incarnation: 5, Revision: 2})}, broken},
		{"bytes that nobody wrote", workloadtest.Script{regPut(1, 0, 1, 1, 5, 1), workloadtest.OK(1, 2, 3, "get", "c1", regIn{}, regOut{Incarnation: 5, Revision: 1, Content: model.Content{Odd: "{}"}})}, "another content"},
		{"a failed read and one that never returned say nothing", workloadtest.Script{workloadtest.Refused(regGone(1, 0, 1), "unavailable"), workloadtest.Unknown(regGone(2, 0, 1)), regPut(1, 2, 3, 1, 5, 1)}, ""},
	} {
		t.Run(c.name, func(t *testing.T) { workloadtest.Expect(t, workloadtest.Judged(t, New(), c.calls.History()), c.rule) })
	}
}

func TestRegisterCheckGivesUp(t *testing.T) {
	workloadtest.GivesUp(t, New(), workloadtest.Script{regPut(1, 0, 1, 1, 5, 1)}.History())
}

// TestTheShortestFailingHistory checks that a long history with one stale refusal is
// reduced to the few calls that show it, with a picture.
func TestTheShortestFailingHistory(t *testing.T) {
	var calls workloadtest.Script
	for i := range 300 {
		n := uint64(i + 1)
		calls = append(calls, regPut(1, 10*i, 10*i+5, n, 5, n), regGet(2, 10*i+6, 10*i+8, n, 5, n), regMismatch(3, 10*i+7, 10*i+9, 1, 999, n))
	}
	calls[602] = regMismatch(3, 10*200+7, 10*200+9, 1, 999, 200) // the right revision is 201
	r := workloadtest.Judged(t, New(), calls.History())
	workloadtest.Expect(t, r, "not linearizable")
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
