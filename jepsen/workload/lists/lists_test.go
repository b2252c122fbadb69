package lists

import (
	"fmt"
	"math/rand/v2"
	"slices"
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
		{"half a commit without an answer", workloadtest.Script{
			workloadtest.Unknown(commits(1, 0, 1, "a", at("x", 0), at("y", 0))), reads(3, 4, 5, at("x", 1, "a"), at("y", 0)),
		}, "half a commit"},
		{"half a commit without an answer, among others", workloadtest.Script{
			workloadtest.Unknown(commits(1, 0, 1, "a", at("x", 0), at("y", 0))), commits(2, 2, 3, "b", at("x", 2), at("y", 1)),
			reads(3, 4, 5, at("x", 2, "a", "b"), at("y", 1, "b")),
		}, "half a commit"},
		{"half a commit without an answer, as another commit shows", workloadtest.Script{
			workloadtest.Unknown(commits(1, 0, 1, "a", at("x", 0), at("y", 0))), commits(2, 2, 3, "b", at("x", 2), at("y", 1)), reads(3, 4, 5, at("x", 2, "a", "b")),
		}, "half a commit"},
		{"a commit without an answer that is there later", workloadtest.Script{
			workloadtest.Unknown(commits(1, 0, 1, "a", at("x", 0), at("y", 0))), reads(3, 4, 5, at("x", 0), at("y", 0)), reads(3, 6, 7, at("x", 1, "a")), reads(3, 8, 9, at("y", 1, "a")),
		}, ""},
		{"a commit without an answer, a part of which nothing shows", workloadtest.Script{
			workloadtest.Unknown(commits(1, 0, 1, "a", at("x", 0), at("y", 0))), reads(3, 4, 5, at("y", 0)), reads(3, 6, 7, at("x", 1, "a")),
		}, ""},
		{"a commit without an answer that is beyond the tail of the read", workloadtest.Script{
			workloadtest.Unknown(commits(1, 0, 1, "a", at("x", 0), at("y", 0))), commits(2, 2, 3, "b", at("y", 2)), commits(2, 4, 5, "c", at("y", 3)),
			commits(2, 6, 7, "d", at("y", 4)), commits(2, 8, 9, "e", at("y", 5)), reads(3, 10, 11, at("x", 1, "a"), at("y", 5, "b", "c", "d", "e")),
		}, ""},
		{"a commit without an answer after the read", workloadtest.Script{
			workloadtest.Unknown(commits(1, 0, 1, "a", at("x", 0), at("y", 0))), commits(2, 2, 3, "b", at("x", 1), at("y", 1)),
			reads(3, 4, 5, at("x", 1, "b"), at("y", 1, "b")), reads(3, 6, 7, at("x", 2, "b", "a")),
		}, ""},
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

// store is a correct store of one group, :: thread → its entries.
type store map[string][]string

func (s store) do(call string, in any) any {
	var out answer
	if call == workload.CallRead {
		for _, thread := range in.([]string) {
			rev := len(s[thread])
			out.Threads = append(out.Threads, seen{thread, uint64(rev), slices.Clone(s[thread][rev-min(rev, tail):])})
		}
		return out
	}
	c := in.(commit)
	if c.Rev != nil && *c.Rev != uint64(len(s[c.Threads[0]])) {
		return nil
	}
	for _, thread := range c.Threads {
		s[thread] = append(s[thread], c.Name)
		out.Threads = append(out.Threads, seen{Thread: thread, Rev: uint64(len(s[thread]))})
	}
	return out
}

func storeHistory(seed uint64) *history.History {
	s, r, n := store{}, rand.New(rand.NewPCG(seed, 23)), 0
	run := workloadtest.SoundRun{R: r, Processes: 1 + int(seed%9), Calls: 100, Apply: s.do}
	run.Begin = func(int) (string, any) {
		n++
		var some []string
		for _, thread := range r.Perm(threads)[:1+r.IntN(threads)] {
			some = append(some, fmt.Sprint("t", thread))
		}
		if r.IntN(3) == 0 {
			return workload.CallRead, some
		}
		c := commit{Name: fmt.Sprint("n", n), Threads: some}
		if r.IntN(3) == 0 {
			rev := uint64(len(s[some[0]]))
			c.Rev = &rev
		}
		return workload.CallCommit, c
	}
	return run.History("l1")
}

func TestListsPassesSoundRuns(t *testing.T) {
	for seed := range uint64(60) {
		workloadtest.Expect(t, workloadtest.Judged(t, New(), storeHistory(seed)), "")
	}
}
