package vectors

import (
	"testing"

	"dormouse/agent"
	"dormouse/jepsen/history"
	"dormouse/jepsen/workload/workloadtest"
)

const key = "v1"

func writes(from, to int, id string, version uint64) history.Op {
	return workloadtest.OK(1, from, to, callWrite, key, call{ID: id, Version: version}, struct{}{})
}

func deletes(from, to int, id string) history.Op {
	return workloadtest.OK(1, from, to, callDelete, key, call{ID: id}, struct{}{})
}

func finds(from, to int, id string, version uint64, items ...item) history.Op {
	return workloadtest.OK(2, from, to, callFind, key, call{ID: id, Version: version, Mode: agent.ModeVector}, found{items})
}

func lists(from, to int, items ...item) history.Op {
	return workloadtest.OK(2, from, to, callFind, key, call{ID: "none", Version: 1, Mode: agent.ModeQuery}, found{items})
}

func TestVectorHistories(t *testing.T) {
	a, far := item{"a", 1}, item{"a", 0.1}
	one := writes(0, 1, "a", 1)
	for _, c := range []struct {
		name  string
		calls workloadtest.Script
		rule  string
	}{
		{"found", workloadtest.Script{one, finds(2, 3, "a", 1, a), lists(2, 3, item{"a", 0})}, ""},
		{"found while it is written", workloadtest.Script{writes(0, 9, "a", 1), finds(2, 3, "a", 1, a)}, ""},
		{"not found while it is written", workloadtest.Script{writes(0, 9, "a", 1), finds(2, 3, "a", 1)}, ""},
		{"not found", workloadtest.Script{one, finds(2, 3, "a", 1)}, "not found by its own vector"},
		{"found far away", workloadtest.Script{one, finds(2, 3, "a", 1, far)}, "not found by its own vector"},
		{"written again", workloadtest.Script{one, writes(2, 3, "a", 2), finds(4, 5, "a", 2, a), finds(4, 5, "a", 1, far)}, ""},
		{"by an earlier vector", workloadtest.Script{one, writes(2, 3, "a", 2), finds(4, 5, "a", 1, a)}, "found by an earlier vector"},
		{"while it is written again", workloadtest.Script{one, writes(2, 9, "a", 2), finds(4, 5, "a", 1, a), finds(6, 7, "a", 1)}, ""},
		{"an unknown rewrite", workloadtest.Script{one, workloadtest.Unknown(writes(2, 3, "a", 2)), finds(4, 5, "a", 1, far), finds(6, 7, "a", 2)}, ""},
		{"a refused rewrite", workloadtest.Script{one, workloadtest.Refused(writes(2, 3, "a", 2), "unavailable"), finds(4, 5, "a", 1, far)}, "not found by its own vector"},
		{"deleted", workloadtest.Script{one, deletes(2, 3, "a"), finds(4, 5, "a", 1), lists(4, 5)}, ""},
		{"deleted and found", workloadtest.Script{one, deletes(2, 3, "a"), finds(4, 5, "a", 1, a)}, "deleted and found"},
		{"deleted and listed", workloadtest.Script{one, deletes(2, 3, "a"), lists(4, 5, item{"a", 0})}, "deleted and found"},
		{"found beside a delete", workloadtest.Script{one, deletes(2, 9, "a"), finds(4, 5, "a", 1, a), finds(6, 7, "a", 1)}, ""},
		{"an unknown delete", workloadtest.Script{one, workloadtest.Unknown(deletes(2, 3, "a")), finds(4, 5, "a", 1, a), finds(6, 7, "a", 1)}, ""},
		{"from nowhere", workloadtest.Script{lists(0, 1, item{"a", 0})}, "memory from nowhere"},
		{"from the future", workloadtest.Script{lists(0, 1, item{"a", 0}), writes(2, 3, "a", 1)}, "memory from nowhere"},
		{"refused but found", workloadtest.Script{workloadtest.Refused(one, "unavailable"), lists(2, 3, item{"a", 0})}, "refused but found"},
		{"found twice", workloadtest.Script{one, lists(2, 3, item{"a", 0}, item{"a", 0})}, "found twice"},
	} {
		t.Run(c.name, func(t *testing.T) { workloadtest.Expect(t, workloadtest.Judged(t, New(), c.calls.History()), c.rule) })
	}
}

func TestVectorsCheckGivesUp(t *testing.T) {
	workloadtest.GivesUp(t, New(), workloadtest.Script{writes(0, 1, "a", 1), finds(2, 3, "a", 1, item{"a", 1})}.History())
}

// The judge takes a near vector for the same one, so no two may be near.
func TestNoTwoVectorsAreNear(t *testing.T) {
	var all [][]float32
	for _, id := range []string{"1.1", "1.2", "2.1", "10.3", "11.30", "none"} {
		for version := range uint64(40) {
			all = append(all, vectorOf(id, version))
		}
	}
	for i, a := range all {
		for _, b := range all[:i] {
			var ab, aa, bb float64
			for k := range a {
				ab, aa, bb = ab+float64(a[k])*float64(b[k]), aa+float64(a[k])*float64(a[k]), bb+float64(b[k])*float64(b[k])
			}
			if ab*ab > 0.9*0.9*aa*bb {
				t.Fatalf("two vectors are near: %v and %v", a, b)
			}
		}
	}
}
