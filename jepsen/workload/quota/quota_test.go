package quota

import (
	"testing"

	"dormouse/jepsen/history"
	"dormouse/jepsen/workload"
	"dormouse/jepsen/workload/workloadtest"
)

func adds(p, from, to, n int) history.Op {
	return workloadtest.OK(p, from, to, CallAdd, "q1", In{Threads: n}, struct{}{})
}

func removes(p, from, to int) history.Op {
	return workloadtest.OK(p, from, to, CallRemove, "q1", In{Threads: 1}, struct{}{})
}

func reads(p, from, to, n int) history.Op {
	return workloadtest.OK(p, from, to, workload.CallRead, "q1", struct{}{}, Out{Threads: uint64(n)})
}

func addsNamed(p, from, to int, names ...string) history.Op {
	return workloadtest.OK(p, from, to, CallAdd, "q1", In{Threads: len(names), Names: names}, struct{}{})
}

func finds(p, from, to int, names ...string) history.Op {
	return workloadtest.OK(p, from, to, workload.CallRead, "q1", struct{}{}, Out{Threads: uint64(len(names)), Names: names})
}

// counts is a read whose count is not that of its list.
func counts(p, from, to, n int, names ...string) history.Op {
	return workloadtest.OK(p, from, to, workload.CallRead, "q1", struct{}{}, Out{Threads: uint64(n), Names: names})
}

func full(op history.Op) history.Op { return workloadtest.Refused(op, "quota_exceeded") }

func TestQuotaHistories(t *testing.T) {
	for _, c := range []struct {
		name  string
		calls workloadtest.Script
		rule  string
	}{
		{"up to the quota", workloadtest.Script{adds(1, 0, 1, 3), adds(1, 2, 3, 3), adds(1, 4, 5, 2), reads(1, 6, 7, 8)}, ""},
		{"refused past it", workloadtest.Script{adds(1, 0, 1, 3), adds(1, 2, 3, 3), full(adds(1, 4, 5, 3)), reads(1, 6, 7, 6)}, ""},
		{"room again", workloadtest.Script{adds(1, 0, 1, 8), full(adds(1, 2, 3, 1)), removes(1, 4, 5), adds(1, 6, 7, 1), reads(1, 8, 9, 8)}, ""},
		{"one too many", workloadtest.Script{adds(1, 0, 1, 8), adds(1, 2, 3, 1)}, "over the quota"},
		{"too many are read", workloadtest.Script{adds(1, 0, 9, 8), adds(2, 0, 9, 3), reads(3, 1, 2, 11)}, "over the quota"},
		{"a remove under way may have made room", workloadtest.Script{adds(1, 0, 1, 8), removes(2, 2, 9), adds(1, 3, 4, 1), reads(1, 10, 11, 8)}, ""},
		{"refused below it", workloadtest.Script{adds(1, 0, 1, 3), full(adds(1, 2, 3, 3))}, "refused below the quota"},
		{"an unknown one may have filled it", workloadtest.Script{adds(1, 0, 1, 6), workloadtest.Unknown(adds(2, 0, 1, 2)), full(adds(1, 2, 3, 1)), reads(1, 4, 5, 8)}, ""},
		{"a count that is too small", workloadtest.Script{adds(1, 0, 1, 3), reads(1, 2, 3, 2)}, "wrong count"},
		{"a count that is too large", workloadtest.Script{adds(1, 0, 1, 3), removes(1, 2, 3), reads(1, 4, 5, 3)}, "wrong count"},
		{"a refused commit leaves one", workloadtest.Script{
			addsNamed(1, 0, 1, "a", "b", "c", "d", "e", "f", "g"), full(addsNamed(1, 2, 3, "x", "y")),
			workloadtest.OK(1, 4, 5, workload.CallRead, "q1", struct{}{}, Out{Threads: 7, Names: []string{"a", "b", "c", "d", "e", "f", "g", "x"}}),
		}, "refused but there"},
		{"a list lacks one that is counted", workloadtest.Script{workloadtest.Unknown(addsNamed(1, 0, 1, "a")), addsNamed(1, 2, 3, "b"), counts(1, 4, 5, 2, "b")}, "count and list apart"},
		{"a count lacks one that is listed", workloadtest.Script{workloadtest.Unknown(addsNamed(1, 0, 1, "a")), addsNamed(1, 2, 3, "b"), counts(1, 4, 5, 1, "a", "b")}, "count and list apart"},
		{"an empty list, and a count", workloadtest.Script{workloadtest.Unknown(addsNamed(1, 0, 1, "a")), counts(1, 4, 5, 1)}, "count and list apart"},
		{"a count and a list beside an add and a remove", workloadtest.Script{
			addsNamed(1, 0, 1, "a"), addsNamed(2, 2, 9, "b"), workloadtest.OK(1, 2, 9, CallRemove, "q1", In{Threads: 1, Names: []string{"a"}}, struct{}{}),
			finds(3, 3, 4, "a", "b"), finds(3, 5, 6, "b"), finds(3, 7, 8),
		}, ""},
		{"half a commit", workloadtest.Script{workloadtest.Unknown(addsNamed(1, 0, 1, "a", "b")), finds(1, 2, 3, "a")}, "torn commit"},
		{"a commit of which one is deleted", workloadtest.Script{addsNamed(1, 0, 1, "a", "b"), workloadtest.OK(1, 2, 3, CallRemove, "q1", In{Threads: 1, Names: []string{"b"}}, struct{}{}), finds(1, 4, 5, "a")}, ""},
		{"a refusal for another reason says nothing", workloadtest.Script{adds(1, 0, 1, 3), workloadtest.Refused(adds(1, 2, 3, 3), "unavailable"), reads(1, 4, 5, 3)}, ""},
	} {
		t.Run(c.name, func(t *testing.T) { workloadtest.Expect(t, workloadtest.Judged(t, New(), c.calls.History()), c.rule) })
	}
}

func TestQuotaCheckGivesUp(t *testing.T) {
	workloadtest.GivesUp(t, New(), workloadtest.Script{adds(1, 0, 1, 1), reads(1, 2, 3, 1)}.History())
}
