package recall

import (
	"testing"

	"dormouse/jepsen/workload"
	"dormouse/jepsen/workload/set"
	"dormouse/jepsen/workload/workloadtest"
)

// The rules are set's and tried there; here, that recall's calls meet them.
func TestRecallHistories(t *testing.T) {
	remembered := func(p, from, to int, member int64) workloadtest.Script {
		return workloadtest.Script{workloadtest.OK(p, from, to, set.CallAdd, "a1", set.In{Member: member}, struct{}{})}
	}
	found := func(p, from, to int, mode string, all ...int64) workloadtest.Script {
		return workloadtest.Script{workloadtest.OK(p, from, to, workload.CallRead, "a1", recallIn{Mode: mode}, set.Out{Members: all})}
	}
	churned := workloadtest.Script{workloadtest.Unknown(workloadtest.OK(3, 0, 1, callChurn, "a1", struct{}{}, struct{}{}))}
	join := func(parts ...workloadtest.Script) (all workloadtest.Script) {
		for _, part := range parts {
			all = append(all, part...)
		}
		return all
	}
	for _, c := range []struct {
		name  string
		calls workloadtest.Script
		rule  string
	}{
		{"written and recalled", join(churned, remembered(1, 0, 1, 1), remembered(2, 0, 3, 2), found(1, 2, 3, "text", 1), found(1, 4, 5, "vector", 2, 1)), ""},
		{"an index that lags", join(remembered(1, 0, 1, 1), found(1, 2, 3, "text"), found(1, 4, 5, "text", 1)), "stale read"},
		{"one mode sees what the other does not", join(remembered(1, 0, 1, 1), found(1, 2, 3, "recent", 1), found(1, 4, 5, "hybrid")), "lost member"},
		{"one that was never written", join(found(1, 0, 1, "query", 7)), "member from nowhere"},
	} {
		t.Run(c.name, func(t *testing.T) { workloadtest.Expect(t, workloadtest.Judged(t, New(), c.calls.History()), c.rule) })
	}
}
