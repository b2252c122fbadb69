package agenttest

import (
	"dormouse/agent"
)

var compactClaims = []claim{
	{"T-7_compaction_forgets_and_keeps_rev_and_head", func(k *kit) {
		k.appendTo("t", messages("m", 0, 6)...)
		before := k.thread("t")
		result := apply[*agent.ThreadResult](k, &agent.CompactThread{Thread: "t", BeforeSeq: 4, Summary: agent.JSON(`{"so":"far"}`)})
		k.equal("returned rev, floor", []uint64{result.Thread.Rev, result.Thread.Floor}, []uint64{6, 4})
		after := k.thread("t")
		k.equal("updated_at, which is that of the last append", after.UpdatedAt, before.UpdatedAt)
		k.equal("incarnation, rev, head, floor", []any{after.Incarnation, after.Rev, after.Head, after.Floor}, []any{before.Incarnation, before.Rev, before.Head, uint64(4)})
		k.equal("summary", string(after.Summary), `{"so":"far"}`)
		k.equal("entries", ids(k.entries("t")), "m4 m5")
		k.equal("tail", ids(k.load(agent.LoadEntries{Thread: "t", Tail: 5})), "m4 m5")
		if got := find[*agent.Verified](k, &agent.VerifyThread{Thread: "t"}); !got.OK || got.Head != before.Head || got.Rev != 6 {
			k.Fatalf("verified %+v", got)
		}
	}},

	{"what_is_below_the_floor_is_compacted", func(k *kit) {
		generated := k.appendTo("t", agent.Draft{}, agent.Draft{}).Entries[0].ID
		k.appendTo("t", messages("m", 2, 3)...)
		k.commit(&agent.CompactThread{Thread: "t", BeforeSeq: 3})
		k.equal("floor told", k.lacks(agent.CodeCompacted, &agent.LoadEntries{Thread: "t", From: 2}).Floor, uint64(3))
		k.equal("from the floor where no seq is named", ids(k.load(agent.LoadEntries{Thread: "t"})), "m3 m4")
		k.lacks(agent.CodeCompacted, &agent.GetEntry{Thread: "t", Entry: generated})
		k.equal("entry above", find[*agent.Entry](k, &agent.GetEntry{Thread: "t", Entry: "m3"}).Seq, uint64(3))
	}},

	{"a_thread_goes_on_after_compaction", func(k *kit) {
		k.appendTo("t", messages("m", 0, 3)...)
		all := k.entries("t")
		k.commit(&agent.CompactThread{Thread: "t", BeforeSeq: 3})
		k.equal("entries", len(k.entries("t")), 0)
		result := k.commit(&agent.AppendThread{Thread: "t", Entries: messages("m", 3, 2), ExpectedRev: ptr(uint64(3)), ExpectedHead: chain(all...).String()})
		k.equal("seq", resultOf[*agent.ThreadResult](k, result, 0).Entries[0].Seq, uint64(3))
		all = append(all, k.entries("t")...)
		k.equal("head", k.thread("t").Head, chain(all...))
		if got := find[*agent.Verified](k, &agent.VerifyThread{Thread: "t"}); !got.OK {
			k.Fatalf("verified %+v", got)
		}
		k.commit(&agent.HibernateThread{Thread: "t", FromSeq: 3, Rev: 6, Entries: messages("m", 3, 3)})
		k.equal("entries", ids(k.entries("t")), "m3 m4 m5")
	}},

	{"compacting_again", func(k *kit) {
		k.appendTo("t", messages("m", 0, 6)...)
		k.commit(&agent.CompactThread{Thread: "t", BeforeSeq: 2, Summary: agent.JSON(`{"v":1}`)})
		k.commit(&agent.CompactThread{Thread: "t", BeforeSeq: 4})
		k.equal("summary kept", string(k.thread("t").Summary), `{"v":1}`)
		k.commit(&agent.CompactThread{Thread: "t", BeforeSeq: 5, Summary: agent.JSON(`{"v":2}`)})
		k.equal("summary", string(k.thread("t").Summary), `{"v":2}`)
		k.commit(&agent.CompactThread{Thread: "t", BeforeSeq: 5})
		k.commit(&agent.CompactThread{Thread: "t", BeforeSeq: 1})
		k.commit(&agent.CompactThread{Thread: "t", BeforeSeq: 1, Summary: agent.JSON(`{"v":0}`)}) // of less than is gone
		k.equal("floor", k.thread("t").Floor, uint64(5))
		k.equal("summary kept", string(k.thread("t").Summary), `{"v":2}`)
		k.refuse(agent.CodeNotFound, 0, &agent.CompactThread{Thread: "none", BeforeSeq: 1})
	}},

	{"compaction_stops_at_a_live_pointer", func(k *kit) {
		k.appendTo("t", messages("m", 0, 6)...)
		k.commit(pointTo("a", agent.Pointer{Thread: "t", Rev: 3}))
		k.refuse(agent.CodeConflict, 0, &agent.CompactThread{Thread: "t", BeforeSeq: 4})
		k.equal("floor", k.thread("t").Floor, uint64(0))
		k.commit(&agent.CompactThread{Thread: "t", BeforeSeq: 2})
		thawed := find[*agent.Thawed](k, &agent.Thaw{Key: "a"})
		k.equal("thawed entries", ids(thawed.Entries), "m2")
		k.equal("rev, floor", []uint64{thawed.Thread.Rev, thawed.Thread.Floor}, []uint64{3, 2})

		k.commit(pointTo("a", agent.Pointer{Thread: "t", Rev: 6})) // the pointer moves on
		k.commit(&agent.CompactThread{Thread: "t", BeforeSeq: 5})
		k.refuse(agent.CodeCompacted, 0, pointTo("b", agent.Pointer{Thread: "t", Rev: 4}))
		k.commit(&agent.DeleteCheckpoint{Key: "a"}) // and the pointer is deleted
		k.commit(&agent.CompactThread{Thread: "t", BeforeSeq: 6})
	}},

	{"a_pointer_at_the_floor_thaws_to_no_entries", func(k *kit) {
		k.appendTo("t", messages("m", 0, 4)...)
		head := k.thread("t").Head
		k.commit(pointTo("a", agent.Pointer{Thread: "t", Rev: 4}))
		k.commit(&agent.CompactThread{Thread: "t", BeforeSeq: 4, Summary: agent.JSON(`{"s":1}`)})
		thawed := find[*agent.Thawed](k, &agent.Thaw{Key: "a"})
		k.equal("rev, head, entries", []any{thawed.Thread.Rev, thawed.Thread.Head, len(thawed.Entries)}, []any{uint64(4), head, 0})
		k.equal("summary", string(thawed.Thread.Summary), `{"s":1}`)
		k.commit(pointTo("b", agent.Pointer{Thread: "t", Rev: 4, Head: head.String()}))
	}},
}
