package agenttest

import (
	"dormouse/agent"
)

var threadClaims = []claim{
	{"S-7_load_of_a_missing_thread_is_absent", func(k *kit) {
		k.lacks(agent.CodeNotFound, &agent.GetThread{Thread: "t"})
		k.lacks(agent.CodeNotFound, &agent.LoadEntries{Thread: "t"})
		k.lacks(agent.CodeNotFound, &agent.GetEntry{Thread: "t", Entry: "e"})
		k.lacks(agent.CodeNotFound, &agent.VerifyThread{Thread: "t"})
	}},

	{"S-8_first_append_numbers_from_0", func(k *kit) {
		result := k.appendTo("t", messages("m", 0, 3)...)
		k.equal("rev", result.Thread.Rev, uint64(3))
		for i, e := range k.entries("t") {
			k.equal("seq", e.Seq, uint64(i))
			k.equal("stamp", result.Entries[i], agent.EntryStamp{ID: e.ID, Seq: e.Seq, At: e.At})
		}
	}},

	{"S-9_later_appends_number_from_the_old_rev", func(k *kit) {
		k.appendTo("t", messages("m", 0, 2)...)
		result := k.appendTo("t", messages("m", 2, 2)...)
		k.equal("rev", result.Thread.Rev, uint64(4))
		k.equal("first new seq", result.Entries[0].Seq, uint64(2))
		entries := k.entries("t")
		k.equal("entries", ids(entries), "m0 m1 m2 m3")
		for i, e := range entries {
			k.equal("seq", e.Seq, uint64(i))
		}
	}},

	{"S-16_expected_rev_equal", func(k *kit) {
		k.appendTo("t", messages("m", 0, 2)...)
		result := apply[*agent.ThreadResult](k, &agent.AppendThread{Thread: "t", Entries: messages("m", 2, 1), ExpectedRev: ptr(uint64(2))})
		k.equal("rev", result.Thread.Rev, uint64(3))
	}},

	{"S-17_expected_rev_unequal", func(k *kit) {
		k.appendTo("t", messages("m", 0, 2)...)
		before := k.thread("t")
		for _, rev := range []uint64{0, 1, 3, 1<<64 - 1} {
			e := k.refuse(agent.CodeConflict, 0, &agent.AppendThread{Thread: "t", Entries: messages("x", 0, 1), ExpectedRev: ptr(rev)})
			if e.Rev != 2 || e.Head != before.Head.String() {
				k.Fatalf("the conflict tells rev %d, head %s; want %d, %s", e.Rev, e.Head, 2, before.Head)
			}
		}
		k.equal("the thread after conflicts", k.thread("t"), before)
	}},

	{"S-18_expected_rev_on_a_missing_thread", func(k *kit) {
		k.equal("rev told", k.refuse(agent.CodeConflict, 0, &agent.AppendThread{Thread: "t", Entries: messages("m", 0, 1), ExpectedRev: ptr(uint64(1))}).Rev, uint64(0))
		k.lacks(agent.CodeNotFound, &agent.GetThread{Thread: "t"})
		k.commit(&agent.AppendThread{Thread: "t", Entries: messages("m", 0, 1), ExpectedRev: ptr(uint64(0))})
		k.equal("rev", k.thread("t").Rev, uint64(1))
		k.commit(&agent.AppendThread{Thread: "empty", ExpectedRev: ptr(uint64(0))})
		k.commit(&agent.AppendThread{Thread: "empty", Entries: messages("m", 0, 1), ExpectedRev: ptr(uint64(0))})
	}},

	{"S-19_append_without_an_expected_rev_always_appends", func(k *kit) {
		for i := range 5 {
			k.equal("rev", k.appendTo("t", messages("m", i, 1)...).Thread.Rev, uint64(i+1))
		}
	}},

	{"expected_head_equal_and_unequal", func(k *kit) {
		k.commit(&agent.AppendThread{Thread: "t", Entries: messages("m", 0, 1), ExpectedHead: agent.Head{}.String()})
		head := k.thread("t").Head
		e := k.refuse(agent.CodeConflict, 0, &agent.AppendThread{Thread: "t", Entries: messages("x", 0, 1), ExpectedHead: agent.Head{}.String()})
		k.equal("head told", e.Head, head.String())
		k.commit(&agent.AppendThread{Thread: "t", Entries: messages("m", 1, 1), ExpectedHead: head.String(), ExpectedRev: ptr(uint64(1))})
		k.equal("rev", k.thread("t").Rev, uint64(2))
	}},

	{"S-22_empty_append_records_a_thread_at_rev_0", func(k *kit) {
		result := k.commit(&agent.AppendThread{Thread: "t", Metadata: agent.JSON(`{"user":"u1"}`)})
		got := k.thread("t")
		k.equal("thread", got, agent.Thread{
			ID: "t", Incarnation: got.Incarnation, CreatedAt: result.Time, UpdatedAt: result.Time, Metadata: agent.JSON(`{"user":"u1"}`),
		})
		k.equal("entries", len(k.entries("t")), 0)
		k.refuse(agent.CodeConflict, 0, &agent.AppendThread{Thread: "t", ExpectedRev: ptr(uint64(1))})
	}},

	{"S-23_metadata_is_honoured_while_rev_is_0", func(k *kit) {
		k.commit(&agent.AppendThread{Thread: "t", Metadata: agent.JSON(`{"v":1}`)})
		k.commit(&agent.AppendThread{Thread: "t", Metadata: agent.JSON(`{"v":2}`), Entries: messages("m", 0, 1)})
		k.equal("metadata", string(k.thread("t").Metadata), `{"v":2}`)
		k.commit(&agent.AppendThread{Thread: "t", Metadata: agent.JSON(`{"v":3}`), Entries: messages("m", 1, 1)})
		k.equal("metadata", string(k.thread("t").Metadata), `{"v":2}`)
		k.appendTo("plain", messages("m", 0, 1)...)
		k.equal("metadata where none was given", string(k.thread("plain").Metadata), `{}`)
	}},

	{"S-24_created_at_is_frozen_and_updated_at_follows", func(k *kit) {
		first := k.commit(&agent.AppendThread{Thread: "t", Entries: messages("m", 0, 1)})
		second := k.commit(&agent.AppendThread{Thread: "t", Entries: messages("m", 1, 1)})
		got := k.thread("t")
		k.equal("created, updated", []int64{got.CreatedAt, got.UpdatedAt}, []int64{first.Time, second.Time})
		third := k.commit(&agent.AppendThread{Thread: "t"})
		got = k.thread("t")
		k.equal("created, updated by an empty append", []int64{got.CreatedAt, got.UpdatedAt}, []int64{first.Time, third.Time})
		k.equal("rev", got.Rev, uint64(2))
		if second.Time < first.Time || third.Time < second.Time {
			k.Fatalf("time runs back: %d, %d, %d", first.Time, second.Time, third.Time)
		}
	}},

	{"S-25_append_returns_rev_head_and_what_is_new", func(k *kit) {
		k.appendTo("t", messages("m", 0, 2)...)
		result := k.appendTo("t", messages("m", 2, 2)...)
		k.equal("new ids", []string{result.Entries[0].ID, result.Entries[1].ID}, []string{"m2", "m3"})
		entries := k.entries("t")
		k.equal("number of entries", uint64(len(entries)), result.Thread.Rev)
		k.equal("head", result.Thread.Head, chain(entries...))
		stored := k.thread("t")
		k.equal("meta as returned", []uint64{result.Thread.Rev, result.Thread.Incarnation, result.Thread.Floor}, []uint64{stored.Rev, stored.Incarnation, stored.Floor})
		k.equal("head as stored", stored.Head, result.Thread.Head)
		k.equal("times as returned", []int64{result.Thread.CreatedAt, result.Thread.UpdatedAt}, []int64{stored.CreatedAt, stored.UpdatedAt})
	}},

	{"S-26_delete_of_nothing_succeeds_and_the_next_append_starts_at_0", func(k *kit) {
		if r := apply[*agent.DeleteResult](k, &agent.DeleteThread{Thread: "t"}); r.Existed {
			k.Fatal("it existed")
		}
		k.appendTo("t", messages("m", 0, 3)...)
		before := k.thread("t")
		if r := apply[*agent.DeleteResult](k, &agent.DeleteThread{Thread: "t"}); !r.Existed || r.Incarnation != before.Incarnation {
			k.Fatalf("deleted %+v, want incarnation %d", r, before.Incarnation)
		}
		k.lacks(agent.CodeNotFound, &agent.GetThread{Thread: "t"})
		k.lacks(agent.CodeNotFound, &agent.LoadEntries{Thread: "t"})
		k.lacks(agent.CodeNotFound, &agent.GetEntry{Thread: "t", Entry: "m0"})

		result := k.commit(&agent.AppendThread{Thread: "t", Entries: messages("m", 1, 1)})
		after := k.thread("t")
		k.equal("rev", after.Rev, uint64(1))
		k.equal("created", after.CreatedAt, result.Time)
		if after.Incarnation <= before.Incarnation {
			k.Fatalf("incarnation %d came after %d", after.Incarnation, before.Incarnation)
		}
		entries := k.entries("t")
		k.equal("entries", ids(entries), "m1")
		k.equal("head", after.Head, chain(entries...))
		k.lacks(agent.CodeNotFound, &agent.GetEntry{Thread: "t", Entry: "m0"})
	}},

	{"T-1_append_leaves_earlier_values_as_they_were", func(k *kit) {
		first := k.appendTo("t", messages("m", 0, 3)...)
		before := k.entries("t")
		k.appendTo("t", messages("m", 3, 4)...)
		page := find[*agent.Entries](k, &agent.LoadEntries{Thread: "t", AtRev: ptr(uint64(3))})
		k.equal("entries as of rev 3", page.Items, before)
		k.equal("rev and head as of rev 3", []any{page.Thread.Rev, page.Thread.Head}, []any{uint64(3), first.Thread.Head})
	}},

	{"T-2_rev_is_the_number_of_entries_always", func(k *kit) {
		want := 0
		for _, n := range []int{0, 1, 0, 5, 2} {
			result := k.appendTo("t", messages("m", want, n)...)
			want += n
			k.equal("rev returned", result.Thread.Rev, uint64(want))
			k.equal("rev stored", k.thread("t").Rev, uint64(want))
			k.equal("entries", len(k.entries("t")), want)
		}
	}},
}
