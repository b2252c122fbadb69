package agenttest

import (
	"fmt"
	"time"

	"dormouse/agent"
)

// kinds appends entries e0, e1, … of the given kinds.
func (k *kit) kinds(thread string, kinds ...string) {
	k.Helper()
	drafts := messages("e", 0, len(kinds))
	for i, kind := range kinds {
		drafts[i].Kind = kind
	}
	k.appendTo(thread, drafts...)
}

// invalidRead makes a read that Validate must refuse.
func (k *kit) invalidRead(field string, read agent.Read) {
	k.Helper()
	_, err := k.service.Read(k.ctx, agent.Reads{Scope: k.scope, Reads: []agent.Read{read}})
	if e := k.failure(agent.CodeInvalid, err); e.Field != field {
		k.Fatalf("the wrong field of %+v is %q, want %q: %+v", read, e.Field, field, e)
	}
}

// commitAt commits ops at a later log time than any in before, and returns it.
func (k *kit) commitAt(before []int64, ops ...agent.Op) int64 {
	k.Helper()
	for {
		at := k.commit(ops...).Time
		if len(before) == 0 || at > before[len(before)-1] {
			return at
		}
		time.Sleep(time.Millisecond)
	}
}

var readClaims = []claim{
	{"T-3_slices_include_both_bounds", func(k *kit) {
		k.appendTo("t", messages("m", 0, 6)...)
		for _, c := range []struct {
			from, to uint64
			want     string
		}{{1, 3, "m1 m2 m3"}, {0, 5, "m0 m1 m2 m3 m4 m5"}, {2, 2, "m2"}, {4, 100, "m4 m5"}, {6, 9, ""}, {3, 2, ""}} {
			got := ids(k.load(agent.LoadEntries{Thread: "t", From: c.from, To: &c.to}))
			if got != c.want {
				k.Fatalf("from %d to %d: %q, want %q", c.from, c.to, got, c.want)
			}
		}
		k.equal("from 4", ids(k.load(agent.LoadEntries{Thread: "t", From: 4})), "m4 m5")
	}},

	{"T-4_a_filter_keeps_the_order", func(k *kit) {
		k.kinds("t", "message", "tool_call", "tool_result", "message", "note", "tool_call")
		for _, c := range []struct {
			kinds []string
			want  string
		}{
			{[]string{"message"}, "e0 e3"},
			{[]string{"tool_result", "tool_call"}, "e1 e2 e5"},
			{[]string{"error"}, ""},
			{nil, "e0 e1 e2 e3 e4 e5"},
		} {
			k.equal("entries", ids(k.load(agent.LoadEntries{Thread: "t", Kinds: c.kinds})), c.want)
		}
		k.equal("filtered and sliced", ids(k.load(agent.LoadEntries{Thread: "t", Kinds: []string{"message", "tool_call"}, From: 1, To: ptr(uint64(4))})), "e1 e3")
	}},

	{"T-4_a_filter_pages", func(k *kit) {
		k.kinds("t", "x", "y", "x", "y", "x", "y", "x", "y")
		k.equal("two a page", ids(k.load(agent.LoadEntries{Thread: "t", Kinds: []string{"y"}, Limit: 2})), "e1 e3 e5 e7")
	}},

	{"entries_are_read_backwards", func(k *kit) {
		k.kinds("t", "x", "y", "x", "y", "x", "y", "x", "y")
		for _, limit := range []uint64{0, 1, 3} {
			k.equal("all", ids(k.load(agent.LoadEntries{Thread: "t", Order: agent.Descending, Limit: limit})), "e7 e6 e5 e4 e3 e2 e1 e0")
			k.equal("of a kind", ids(k.load(agent.LoadEntries{Thread: "t", Order: agent.Descending, Limit: limit, Kinds: []string{"x"}})), "e6 e4 e2 e0")
			k.equal("from and to", ids(k.load(agent.LoadEntries{Thread: "t", Order: agent.Descending, Limit: limit, From: 2, To: ptr(uint64(5))})), "e5 e4 e3 e2")
			k.equal("at a rev", ids(k.load(agent.LoadEntries{Thread: "t", Order: agent.Descending, Limit: limit, AtRev: ptr(uint64(3))})), "e2 e1 e0")
		}
		k.commit(&agent.ForkThread{Thread: "t", NewThread: "u", AtRev: ptr(uint64(3))}, &agent.AppendThread{Thread: "u", Entries: messages("u", 0, 2)})
		k.equal("of a fork", ids(k.load(agent.LoadEntries{Thread: "u", Order: agent.Descending, Limit: 2})), "u1 u0 e2 e1 e0")
		k.kinds("c", "x", "y", "x", "y")
		k.commit(&agent.CompactThread{Thread: "c", BeforeSeq: 2})
		k.equal("of a compacted one", ids(k.load(agent.LoadEntries{Thread: "c", Order: agent.Descending, Limit: 1})), "e3 e2")
		k.equal("…of a kind", ids(k.load(agent.LoadEntries{Thread: "c", Order: agent.Descending, Kinds: []string{"x"}})), "e2")
		k.invalidRead("tail", &agent.LoadEntries{Thread: "t", Order: agent.Descending, Tail: 1})
		k.invalidRead("order", &agent.LoadEntries{Thread: "t", Order: "up"})
	}},

	{"entries_are_selected_by_time", func(k *kit) {
		var entries []agent.Draft
		for i, at := range []int64{10, 30, 20, 40, -10} {
			entries = append(entries, agent.Draft{ID: fmt.Sprintf("e%d", i), At: &at, Kind: []string{"x", "y"}[i%2]})
		}
		k.appendTo("t", entries...)
		for _, c := range []struct {
			times agent.Times
			want  string
		}{
			{agent.Times{}, "e0 e1 e2 e3 e4"},
			{agent.Times{Since: 20}, "e1 e2 e3"},
			{agent.Times{Until: 30}, "e0 e2 e4"},
			{agent.Times{Since: 20, Until: 40}, "e1 e2"},
			{agent.Times{Since: 41}, ""},
		} {
			for _, limit := range []uint64{0, 1} {
				k.equal("entries", ids(k.load(agent.LoadEntries{Thread: "t", Times: c.times, Limit: limit})), c.want)
			}
		}
		k.equal("of a kind", ids(k.load(agent.LoadEntries{Thread: "t", Times: agent.Times{Since: 20}, Kinds: []string{"y"}})), "e1 e3")
		k.equal("backwards", ids(k.load(agent.LoadEntries{Thread: "t", Times: agent.Times{Since: 20}, Order: agent.Descending, Limit: 2})), "e3 e2 e1")
		k.invalidRead("since", &agent.LoadEntries{Thread: "t", Times: agent.Times{Since: -1}})
	}},

	{"T-7_a_tail_is_the_last_entries", func(k *kit) {
		k.appendTo("t", messages("m", 0, 5)...)
		for _, c := range []struct {
			tail uint64
			want string
		}{{1, "m4"}, {3, "m2 m3 m4"}, {5, "m0 m1 m2 m3 m4"}, {99, "m0 m1 m2 m3 m4"}} {
			k.equal("tail", ids(k.load(agent.LoadEntries{Thread: "t", Tail: c.tail})), c.want)
		}
		k.kinds("u", "x", "y", "x", "y", "y")
		k.equal("tail of a kind", ids(k.load(agent.LoadEntries{Thread: "u", Tail: 2, Kinds: []string{"x"}})), "e0 e2")
		k.equal("tail as of rev 3", ids(k.load(agent.LoadEntries{Thread: "t", Tail: 2, AtRev: ptr(uint64(3))})), "m1 m2")
	}},

	{"T-7_pages_say_where_to_go_on", func(k *kit) {
		k.appendTo("t", messages("m", 0, 5)...)
		page := find[*agent.Entries](k, &agent.LoadEntries{Thread: "t", Limit: 2})
		k.equal("first page", ids(page.Items), "m0 m1")
		if page.Next == nil || *page.Next != 2 {
			k.Fatalf("the next page begins at %v, want 2", page.Next)
		}
		k.equal("rev told with the page", page.Thread.Rev, uint64(5))
		page = find[*agent.Entries](k, &agent.LoadEntries{Thread: "t", From: 4, Limit: 2})
		k.equal("last page", ids(page.Items), "m4")
		if page.Next != nil {
			k.Fatalf("after the end comes seq %d", *page.Next)
		}
		k.equal("all pages", ids(k.load(agent.LoadEntries{Thread: "t", Limit: 2})), "m0 m1 m2 m3 m4")
	}},

	{"several_reads_are_answered_at_one_index", func(k *kit) {
		result := k.commit(
			&agent.PutCheckpoint{Key: "k", State: agent.JSON(`{"n":1}`)},
			&agent.AppendThread{Thread: "t", Entries: messages("m", 0, 2)},
		)
		answers := k.read(&agent.GetCheckpoint{Key: "k"}, &agent.GetThread{Thread: "nope"}, &agent.LoadEntries{Thread: "t"}, &agent.GetScope{})
		if answers.Index < result.Index {
			k.Fatalf("read at index %d, after %d", answers.Index, result.Index)
		}
		k.equal("state", string(foundIn[*agent.Checkpoint](k, answers, 0).State), `{"n":1}`)
		k.failure(agent.CodeNotFound, answers.Answers[1].Err)
		k.equal("entries", ids(foundIn[*agent.Entries](k, answers, 2).Items), "m0 m1")
		k.equal("scope", foundIn[*agent.Scope](k, answers, 3).Name, k.scope)
	}},

	{"a_read_is_refused_whole_when_it_is_wrong", func(k *kit) {
		_, err := k.service.Read(k.ctx, agent.Reads{Scope: k.scope, Reads: []agent.Read{&agent.GetScope{}, &agent.GetThread{}}})
		k.equal("field", k.refused(agent.CodeInvalid, 1, err).Field, "thread")
		_, err = k.service.Read(k.ctx, agent.Reads{Scope: k.scope})
		k.equal("field", k.refused(agent.CodeInvalid, -1, err).Field, "reads")
	}},

	{"a_stale_read_is_no_older_than_the_index_that_it_names", func(k *kit) {
		result := k.commit(&agent.PutValue{Key: "k", Bytes: []byte("v")})
		answers, err := k.service.Read(k.ctx, agent.Reads{Scope: k.scope, Stale: true, MinIndex: result.Index, Reads: []agent.Read{&agent.GetValue{Key: "k"}}})
		if err != nil {
			k.Fatalf("stale read: %v", err)
		}
		if answers.Index < result.Index {
			k.Fatalf("read at index %d, before %d", answers.Index, result.Index)
		}
		k.equal("value", string(foundIn[*agent.Value](k, answers, 0).Bytes), "v")
	}},

	{"a_thread_verifies", func(k *kit) {
		k.commit(&agent.AppendThread{Thread: "empty"})
		if got := find[*agent.Verified](k, &agent.VerifyThread{Thread: "empty"}); !got.OK || got.Rev != 0 || got.Head != (agent.Head{}) {
			k.Fatalf("an empty thread verifies as %+v", got)
		}
		k.appendTo("t", messages("m", 0, 7)...)
		head := k.appendTo("t", make([]agent.Draft, 3)...).Thread.Head
		if got := find[*agent.Verified](k, &agent.VerifyThread{Thread: "t"}); !got.OK || got.Rev != 10 || got.Head != head {
			k.Fatalf("verified %+v, want head %s", got, head)
		}
	}},
}
