package changes

import (
	"testing"

	"dormouse/jepsen/history"
	"dormouse/jepsen/workload"
	"dormouse/jepsen/workload/workloadtest"
)

func puts(from, to int, index uint64, keys ...string) history.Op {
	return workloadtest.OK(1, from, to, workload.CallCommit, "c1", commit{Puts: keys}, committed{index})
}

func deletes(from, to int, index uint64, key string) history.Op {
	return workloadtest.OK(1, from, to, workload.CallCommit, "c1", commit{Deletes: []string{key}}, committed{index})
}

func polls(from, to int, at, skip, through uint64, changes ...told) history.Op {
	return workloadtest.OK(2, from, to, callPoll, "c1", poll{From: at, Skip: skip}, polled{Changes: changes, Through: through})
}

// wholes is a poll of the final reads.
func wholes(from, to int, at, skip, through, until uint64, changes ...told) history.Op {
	return workloadtest.OK(2, from, to, callPoll, "c1", poll{From: at, Skip: skip, Until: until}, polled{Changes: changes, Through: through})
}

func lists(from, to int, index uint64, keys ...string) history.Op {
	return workloadtest.OK(3, from, to, callList, "c1", "g0", listed{index, keys})
}

func TestChangesHistories(t *testing.T) {
	put := puts(0, 1, 10, "g0-a", "g0-b")
	a, b := told{10, 0, "g0-a", false}, told{10, 1, "g0-b", false}
	gone := told{12, 0, "g0-a", true}
	refused := workloadtest.Refused(puts(0, 1, 0, "g0-r"), "conflict")
	maybe := workloadtest.Unknown(puts(0, 1, 0, "g0-u"))
	unsure := workloadtest.Unknown(deletes(2, 3, 0, "g0-a"))
	doomed := workloadtest.Unknown(workloadtest.OK(1, 0, 1, workload.CallCommit, "c1", commit{Puts: []string{"g0-d"}, Doomed: true}, committed{}))
	doomedDelete := workloadtest.Unknown(workloadtest.OK(1, 2, 3, workload.CallCommit, "c1", commit{Deletes: []string{"g0-a"}, Doomed: true}, committed{}))
	torn := workloadtest.Unknown(puts(0, 1, 0, "g0-a", "g0-b"))
	bare := puts(0, 1, 0, "g0-a") // its answer has no index
	for _, c := range []struct {
		name  string
		calls workloadtest.Script
		rule  string
	}{
		{"each once and in order", workloadtest.Script{put, deletes(2, 3, 12, "g0-a"), refused, polls(4, 5, 1, 0, 12, a, b, gone), lists(6, 7, 12, "g0-b"), lists(6, 7, 11, "g0-a", "g0-b")}, ""},
		{"a part of an index, and the rest", workloadtest.Script{put, polls(4, 5, 1, 0, 0, a), polls(6, 7, 10, 1, 10, b)}, ""},
		{"told while the commit is under way", workloadtest.Script{puts(0, 9, 10, "g0-a", "g0-b"), polls(1, 2, 1, 0, 10, a, b)}, ""},
		{"an unknown commit was applied", workloadtest.Script{maybe, polls(2, 3, 1, 0, 10, told{10, 0, "g0-u", false}), lists(4, 5, 10, "g0-u")}, ""},
		{"an unknown delete", workloadtest.Script{puts(0, 1, 10, "g0-a"), unsure, lists(4, 5, 12), lists(4, 5, 12, "g0-a")}, ""},
		{"a poll behind the commit", workloadtest.Script{put, polls(2, 3, 1, 0, 9)}, ""},
		{"a refused commit", workloadtest.Script{refused, polls(2, 3, 1, 0, 10, told{10, 0, "g0-r", false})}, "refused commit told"},
		{"a commit that must fail", workloadtest.Script{workloadtest.OK(1, 0, 1, workload.CallCommit, "c1", commit{Puts: []string{"g0-a"}, Doomed: true}, committed{9})}, "accepted although an op must fail"},
		{"one left out", workloadtest.Script{put, polls(2, 3, 1, 0, 10, a)}, "change left out"},
		{"all left out, within an index", workloadtest.Script{put, polls(2, 3, 1, 0, 11)}, "change left out"},
		{"left out by one of two followers", workloadtest.Script{maybe, polls(2, 3, 1, 0, 10, told{10, 0, "g0-u", false}), polls(2, 3, 1, 0, 10)}, "change left out"},
		{"twice", workloadtest.Script{put, polls(2, 3, 1, 0, 10, a, b), polls(4, 5, 11, 0, 11, told{11, 0, "g0-a", false})}, "told twice"},
		{"backwards", workloadtest.Script{put, polls(2, 3, 1, 0, 10, b, a)}, "out of order"},
		{"before the position", workloadtest.Script{put, polls(2, 3, 10, 1, 10, a, b)}, "out of order"},
		{"at another index", workloadtest.Script{puts(0, 1, 9, "g0-a"), polls(2, 3, 1, 0, 10, a)}, "another index"},
		{"of no commit", workloadtest.Script{polls(2, 3, 1, 0, 10, a)}, "change from nowhere"},
		{"too early", workloadtest.Script{polls(0, 1, 1, 0, 10, a, b), puts(2, 3, 10, "g0-a", "g0-b")}, "told before it was made"},
		{"it ends", workloadtest.Script{put, workloadtest.OK(2, 2, 3, callPoll, "c1", poll{From: 1}, polled{End: "deleted"})}, "feed ended"},
		{"its first part is gone", workloadtest.Script{put, workloadtest.OK(2, 2, 3, callPoll, "c1", poll{From: 1}, polled{End: "compacted", Floor: 11})}, "feed too short"},
		{"it begins later", workloadtest.Script{put, workloadtest.OK(2, 2, 3, callPoll, "c1", poll{From: 1}, polled{End: "compacted", Floor: 10}), polls(4, 5, 10, 0, 10, a, b)}, ""},
		{"a doomed commit that was not applied", workloadtest.Script{doomed, polls(2, 3, 1, 0, 10), lists(4, 5, 10)}, ""},
		{"a doomed commit told", workloadtest.Script{doomed, polls(2, 3, 1, 0, 10, told{10, 0, "g0-d", false})}, "refused commit told"},
		{"a doomed commit listed", workloadtest.Script{doomed, lists(4, 5, 10, "g0-d")}, "refused value listed"},
		{"a doomed delete that took place", workloadtest.Script{puts(0, 1, 10, "g0-a"), doomedDelete, lists(4, 5, 12)}, "value not listed"},
		{"a doomed delete that did not", workloadtest.Script{puts(0, 1, 10, "g0-a"), doomedDelete, lists(4, 5, 12, "g0-a")}, ""},
		{"half of an unknown commit told", workloadtest.Script{torn, polls(2, 3, 1, 0, 10, a)}, "change left out"},
		{"half of an unknown commit listed", workloadtest.Script{torn, polls(2, 3, 1, 0, 0, a), lists(4, 5, 10, "g0-a")}, "value not listed"},
		{"an unknown commit in two polls", workloadtest.Script{torn, polls(2, 3, 1, 0, 0, a), polls(4, 5, 10, 1, 10, b), lists(4, 5, 10, "g0-a", "g0-b"), lists(4, 5, 9)}, ""},
		{"an unknown commit at two indexes", workloadtest.Script{torn, polls(2, 3, 1, 0, 0, a), polls(4, 5, 10, 1, 11, told{11, 0, "g0-b", false})}, "another index"},
		{"no index, and told", workloadtest.Script{bare, lists(2, 3, 12, "g0-a"), wholes(4, 5, 1, 0, 12, 12, told{10, 0, "g0-a", false})}, ""},
		{"no index, and not told", workloadtest.Script{bare, lists(2, 3, 12, "g0-a"), wholes(4, 5, 1, 0, 12, 12)}, "change left out"},
		{"no index, and not told by two polls", workloadtest.Script{bare, lists(2, 3, 12, "g0-a"), wholes(4, 5, 1, 0, 9, 12), wholes(6, 7, 10, 0, 12, 12)}, "change left out"},
		{"no index, and a part of the feed", workloadtest.Script{bare, lists(2, 3, 12, "g0-a"), wholes(4, 5, 1, 0, 9, 12)}, ""},
		{"no index, and a gap", workloadtest.Script{bare, lists(2, 3, 12, "g0-a"), wholes(4, 5, 1, 0, 9, 12), wholes(6, 7, 11, 0, 12, 12)}, ""},
		{"no index, and beside the list", workloadtest.Script{puts(0, 9, 0, "g0-a"), lists(2, 3, 12), wholes(4, 5, 1, 0, 12, 12)}, ""},
		{"no index, and no final poll", workloadtest.Script{bare, lists(2, 3, 12, "g0-a"), polls(4, 5, 1, 0, 12)}, ""},
		{"no index, and the feed is compacted", workloadtest.Script{
			bare, lists(2, 3, 12, "g0-a"), workloadtest.OK(2, 4, 5, callPoll, "c1", poll{From: 1, Until: 12}, polled{End: "compacted", Floor: 11}), wholes(6, 7, 11, 0, 12, 12),
		}, ""},
		{"unknown without an index, and not told", workloadtest.Script{workloadtest.Unknown(bare), lists(2, 3, 12), wholes(4, 5, 1, 0, 12, 12)}, ""},
		{"no index, and not listed", workloadtest.Script{bare, lists(2, 3, 12)}, "value not listed"},
		{"no index, and listed beside it", workloadtest.Script{puts(0, 9, 0, "g0-a"), lists(2, 3, 12), lists(2, 3, 12, "g0-a")}, ""},
		{"no index, and deleted meanwhile", workloadtest.Script{bare, unsure, lists(4, 5, 12)}, ""},
		{"a delete without an index", workloadtest.Script{puts(0, 1, 10, "g0-a"), deletes(2, 3, 0, "g0-a"), lists(4, 5, 12)}, ""},
		{"a delete without an index that did nothing", workloadtest.Script{puts(0, 1, 10, "g0-a"), deletes(2, 3, 0, "g0-a"), lists(4, 5, 12, "g0-a")}, "deleted value listed"},
		{"a delete without an index beside a list", workloadtest.Script{puts(0, 1, 10, "g0-a"), deletes(2, 9, 0, "g0-a"), lists(4, 5, 12, "g0-a"), lists(4, 5, 12)}, ""},
		{"gone before its delete began", workloadtest.Script{puts(0, 1, 10, "g0-a"), lists(2, 3, 12), workloadtest.Unknown(deletes(4, 5, 0, "g0-a"))}, "value not listed"},
		{"listed before its put began", workloadtest.Script{lists(0, 1, 12, "g0-u"), workloadtest.Unknown(puts(2, 3, 0, "g0-u"))}, "listed early"},
		{"a list lacks one", workloadtest.Script{put, lists(2, 3, 10, "g0-a")}, "value not listed"},
		{"a list has a deleted one", workloadtest.Script{put, deletes(2, 3, 12, "g0-a"), lists(4, 5, 12, "g0-a", "g0-b")}, "deleted value listed"},
		{"a list has a refused one", workloadtest.Script{refused, lists(4, 5, 12, "g0-r")}, "refused value listed"},
		{"a list has one of later", workloadtest.Script{put, lists(4, 5, 9, "g0-a")}, "listed early"},
		{"a list of another group", workloadtest.Script{puts(0, 1, 10, "g1-a"), lists(4, 5, 12, "g1-a")}, "value from nowhere"},
	} {
		t.Run(c.name, func(t *testing.T) { workloadtest.Expect(t, workloadtest.Judged(t, New(), c.calls.History()), c.rule) })
	}
}

func TestChangesCheckGivesUp(t *testing.T) {
	workloadtest.GivesUp(t, New(), workloadtest.Script{puts(0, 1, 10, "g0-a"), lists(4, 5, 12, "g0-a")}.History())
}
