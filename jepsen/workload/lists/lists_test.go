package lists

import (
	"testing"

	"dormouse/jepsen/history"
	"dormouse/jepsen/workload"
	"dormouse/jepsen/workload/workloadtest"
)

func commits(p, from, to int, name string, threads ...seen) history.Op {
	in := commit{Name: name}
	for _, s := range threads {
		in.Threads = append(in.Threads, s.Thread)
	}
	return workloadtest.OK(p, from, to, workload.CallCommit, "l1", in, answer{Threads: threads})
}

func reads(p, from, to int, threads ...seen) history.Op {
	var in []string
	for _, s := range threads {
		in = append(in, s.Thread)
	}
	return workloadtest.OK(p, from, to, workload.CallRead, "l1", in, answer{Threads: threads})
}

func at(thread string, rev uint64, names ...string) seen { return seen{thread, rev, names} }

func TestListsHistories(t *testing.T) {
	two := uint64(2)
	wrong := commits(1, 4, 5, "c", at("x", 2))
	wrong.In = workloadtest.Raw(commit{Name: "c", Threads: []string{"x"}, Rev: &two})
	for _, c := range []struct {
		name  string
		calls workloadtest.Script
		rule  string
	}{
		{"one after the other", workloadtest.Script{
			commits(1, 0, 1, "a", at("x", 1), at("y", 1)), commits(2, 2, 3, "b", at("y", 2)), reads(3, 4, 5, at("x", 1, "a"), at("y", 2, "a", "b")),
		}, ""},
		{"an unknown commit that is there", workloadtest.Script{
			workloadtest.Unknown(commits(1, 0, 1, "a", at("x", 0), at("y", 0))), reads(3, 4, 5, at("x", 1, "a"), at("y", 1, "a")),
		}, ""},
		{"half a commit", workloadtest.Script{
			commits(1, 0, 9, "a", at("x", 1), at("y", 1)), reads(3, 2, 3, at("x", 1, "a"), at("y", 0)),
		}, "no order explains it"},
		{"two orders", workloadtest.Script{
			commits(1, 0, 9, "a", at("x", 1), at("y", 2)), commits(2, 0, 9, "b", at("x", 2), at("y", 1)),
		}, "no order explains it"},
		{"a stale read", workloadtest.Script{commits(1, 0, 1, "a", at("x", 1)), reads(3, 2, 3, at("x", 0))}, "lost or stale"},
		{"each read misses what the other found", workloadtest.Script{
			commits(1, 0, 9, "a", at("x", 1)), commits(2, 0, 9, "b", at("y", 1)), reads(3, 1, 8, at("x", 1, "a"), at("y", 0)), reads(4, 1, 8, at("x", 0), at("y", 1, "b")),
		}, "no order explains it"},
		{"an entry is lost", workloadtest.Script{commits(1, 0, 1, "a", at("x", 1)), reads(3, 2, 3, at("x", 1))}, "entries missing"},
		{"refused and there", workloadtest.Script{workloadtest.Refused(commits(1, 0, 1, "a", at("x", 1)), "conflict"), reads(3, 2, 3, at("x", 1, "a"))}, "refused but applied"},
		{"another rev than expected", workloadtest.Script{commits(1, 0, 1, "a", at("x", 1)), wrong}, "unexpected rev accepted"},
	} {
		t.Run(c.name, func(t *testing.T) { workloadtest.Expect(t, workloadtest.Judged(t, New(), c.calls.History()), c.rule) })
	}
}

func TestListsCheckGivesUp(t *testing.T) {
	workloadtest.GivesUp(t, New(), workloadtest.Script{commits(1, 0, 1, "a", at("x", 1)), reads(3, 2, 3, at("x", 1, "a"))}.History())
}
