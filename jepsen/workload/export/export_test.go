package export

import (
	"testing"

	"dormouse/jepsen/check"
	"dormouse/jepsen/history"
	"dormouse/jepsen/workload"
	"dormouse/jepsen/workload/workloadtest"
)

func commits(p, from, to int, name string, rev uint64, head string) history.Op {
	return workloadtest.OK(p, from, to, workload.CallCommit, "x1", commit{name}, state{Rev: rev, Head: head})
}

func shows(p, from, to int, call, head string, names ...string) history.Op {
	out := state{Rev: uint64(len(names)), Head: head, Names: names, Own: names}
	if n := len(names); n > 0 {
		out.Newest = names[n-1]
	}
	return workloadtest.OK(p, from, to, call, "x1", struct{}{}, out)
}

func TestExportHistories(t *testing.T) {
	a, b := commits(1, 0, 1, "a", 1, "h1"), commits(1, 2, 3, "b", 2, "h2")
	spoilt := func(spoil func(*state)) history.Op {
		op := shows(2, 4, 5, callExport, "h2", "a", "b")
		out, err := history.Decode[state](op.Out)
		if err != nil {
			t.Fatal(err)
		}
		spoil(&out)
		op.Out = workloadtest.Raw(out)
		return op
	}
	refused := func(code string) history.Op {
		return workloadtest.Refused(shows(2, 4, 5, callExport, "h1", "a"), code)
	}
	for _, c := range []struct {
		name  string
		calls workloadtest.Script
		rule  string
	}{
		{"exported beside a write", workloadtest.Script{a, b, shows(2, 2, 9, callExport, "h1", "a"), shows(2, 10, 11, workload.CallRead, "h2", "a", "b")}, ""},
		{"exported before", workloadtest.Script{a, b, shows(2, 4, 5, callExport, "h1", "a")}, "lost or stale"},
		{"an entry without its value", workloadtest.Script{a, b, spoilt(func(s *state) { s.Own = s.Own[:1] })}, "not of one index"},
		{"a value of later", workloadtest.Script{a, b, spoilt(func(s *state) { s.Newest = "a" })}, "not of one index"},
		{"fewer entries than its rev", workloadtest.Script{a, b, spoilt(func(s *state) { s.Rev = 3 })}, "not of one index"},
		{"other content", workloadtest.Script{a, b, spoilt(func(s *state) { s.Head = "h9" })}, "another head"},
		{"an entry of no commit", workloadtest.Script{a, shows(2, 4, 5, callExport, "h2", "a", "z")}, "written by no call"},
		{"refused and exported", workloadtest.Script{workloadtest.Refused(a, "conflict"), shows(2, 4, 5, callExport, "h1", "a")}, "refused but applied"},
		{"a refused import", workloadtest.Script{a, refused("conflict")}, "import refused"},
		{"a row that is refused", workloadtest.Script{a, refused("invalid")}, "import refused"},
		{"a chunk that is too large", workloadtest.Script{a, refused("too_large")}, "import refused"},
		{"unavailable says nothing", workloadtest.Script{a, refused("unavailable"), refused("internal"), refused("corrupt"), shows(2, 10, 11, callExport, "h1", "a")}, ""},
		{"not found before a commit is answered", workloadtest.Script{commits(1, 0, 9, "a", 1, "h1"), refused("not_found"), shows(2, 10, 11, callExport, "h1", "a")}, ""},
		{"not found beside an unknown commit", workloadtest.Script{workloadtest.Unknown(a), refused("not_found"), shows(2, 10, 11, callExport, "h1", "a")}, ""},
		{"not found after a commit", workloadtest.Script{a, refused("not_found")}, "scope not found"},
	} {
		t.Run(c.name, func(t *testing.T) { workloadtest.Expect(t, workloadtest.Judged(t, New(), c.calls.History()), c.rule) })
	}
}

func TestExportCheckGivesUp(t *testing.T) {
	workloadtest.GivesUp(t, New(), workloadtest.Script{commits(1, 0, 1, "a", 1, "h1"), shows(2, 2, 3, workload.CallRead, "h1", "a")}.History())
}

func TestExportsWithoutACopyAreUnknown(t *testing.T) {
	tried := workloadtest.Script{commits(1, 0, 1, "a", 1, "h1"), workloadtest.Refused(shows(2, 4, 5, callExport, "h1", "a"), "unavailable")}
	if r := workloadtest.Judged(t, New(), tried.History()); r.Verdict != check.Unknown || r.Why == "" {
		t.Errorf("the verdict is %s (%s)", r.Verdict, r.Why)
	}
	workloadtest.Expect(t, workloadtest.Judged(t, New(), tried[:1].History()), "") // no export was tried
}
