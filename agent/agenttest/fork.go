package agenttest

import (
	"dormouse/agent"
)

var forkClaims = []claim{
	{"a_fork_shares_the_prefix_and_goes_its_own_way", func(k *kit) {
		k.appendTo("t", messages("m", 0, 4)...)
		parent := k.thread("t")
		result := apply[*agent.ThreadResult](k, &agent.ForkThread{Thread: "t", NewThread: "u", AtRev: ptr(uint64(2))})
		fork := k.thread("u")
		k.equal("forked from", fork.ForkedFrom, &agent.ForkPoint{Thread: "t", Incarnation: parent.Incarnation, Rev: 2})
		k.equal("returned", []any{result.Thread.ID, result.Thread.Rev, result.Thread.Head, result.Thread.ForkedFrom}, []any{"u", uint64(2), fork.Head, fork.ForkedFrom})
		prefix := k.entries("u")
		k.equal("prefix", prefix, k.entries("t")[:2])
		k.equal("rev and head", []any{fork.Rev, fork.Head}, []any{uint64(2), chain(prefix...)})

		k.appendTo("u", messages("u", 2, 2)...)
		k.appendTo("t", messages("m", 4, 1)...)
		k.equal("fork", ids(k.entries("u")), "m0 m1 u2 u3")
		k.equal("parent", ids(k.entries("t")), "m0 m1 m2 m3 m4")
		k.equal("a slice over the fork point", ids(k.load(agent.LoadEntries{Thread: "u", From: 1, To: ptr(uint64(2))})), "m1 u2")
		k.equal("a tail over it", ids(k.load(agent.LoadEntries{Thread: "u", Tail: 3})), "m1 u2 u3")
		if got := find[*agent.Verified](k, &agent.VerifyThread{Thread: "u"}); !got.OK || got.Rev != 4 || got.Head != k.thread("u").Head {
			k.Fatalf("verified %+v", got)
		}
	}},

	{"a_fork_of_all_and_a_fork_of_none", func(k *kit) {
		k.appendTo("t", messages("m", 0, 3)...)
		k.commit(&agent.ForkThread{Thread: "t", NewThread: "all"}, &agent.ForkThread{Thread: "t", NewThread: "none", AtRev: ptr(uint64(0))})
		k.equal("all", ids(k.entries("all")), "m0 m1 m2")
		k.equal("none", ids(k.entries("none")), "")
		k.equal("head of none", k.thread("none").Head, agent.Head{})
		k.appendTo("none", messages("n", 0, 1)...)
		k.equal("none, later", ids(k.entries("none")), "n0")
	}},

	{"forks_that_cannot_be_are_refused", func(k *kit) {
		k.refuse(agent.CodeNotFound, 0, &agent.ForkThread{Thread: "t", NewThread: "u"})
		k.appendTo("t", messages("m", 0, 2)...)
		k.appendTo("u", messages("u", 0, 1)...)
		k.refuse(agent.CodeAlreadyExists, 0, &agent.ForkThread{Thread: "t", NewThread: "u"})
		e := k.refuse(agent.CodeConflict, 0, &agent.ForkThread{Thread: "t", NewThread: "v", AtRev: ptr(uint64(3))})
		k.equal("rev told", e.Rev, uint64(2))
		k.commit(&agent.CompactThread{Thread: "t", BeforeSeq: 2})
		e = k.refuse(agent.CodeCompacted, 0, &agent.ForkThread{Thread: "t", NewThread: "v", AtRev: ptr(uint64(1))})
		k.equal("floor told", e.Floor, uint64(2))
		k.equal("u", ids(k.entries("u")), "u0")
		k.lacks(agent.CodeNotFound, &agent.GetThread{Thread: "v"})
	}},

	{"a_fork_of_a_fork_keeps_the_entries_that_it_reads", func(k *kit) {
		k.appendTo("t", messages("t", 0, 3)...)
		k.commit(&agent.ForkThread{Thread: "t", NewThread: "u", AtRev: ptr(uint64(2))}, &agent.ForkThread{Thread: "t", NewThread: "none", AtRev: ptr(uint64(0))})
		k.commit(&agent.ForkThread{Thread: "u", NewThread: "v", AtRev: ptr(uint64(1))})
		k.refuse(agent.CodeConflict, 0, &agent.CompactThread{Thread: "t", BeforeSeq: 2})
		k.commit(&agent.CompactThread{Thread: "t", BeforeSeq: 1})
		k.commit(&agent.CompactThread{Thread: "v", BeforeSeq: 1})
		k.commit(&agent.CompactThread{Thread: "t", BeforeSeq: 2})
		k.equal("u", ids(k.entries("u")), "t0 t1")
	}},

	{"a_fork_of_a_fork", func(k *kit) {
		k.appendTo("t", messages("t", 0, 3)...)
		k.commit(&agent.ForkThread{Thread: "t", NewThread: "u", AtRev: ptr(uint64(2))})
		k.appendTo("u", messages("u", 2, 2)...)
		k.commit(&agent.ForkThread{Thread: "u", NewThread: "v", AtRev: ptr(uint64(3))}, &agent.ForkThread{Thread: "u", NewThread: "w", AtRev: ptr(uint64(1))})
		k.appendTo("v", messages("v", 3, 1)...)
		k.appendTo("w", messages("w", 1, 1)...)
		k.commit(&agent.DeleteThread{Thread: "u"})
		k.equal("v", ids(k.entries("v")), "t0 t1 u2 v3")
		k.equal("w", ids(k.entries("w")), "t0 w1")
		k.equal("head of v", k.thread("v").Head, chain(k.entries("v")...))
	}},

	{"a_fork_survives_its_parent", func(k *kit) {
		generated := k.appendTo("t", agent.Draft{}, message("m1", "m says 1"), agent.Draft{}).Entries
		k.commit(&agent.ForkThread{Thread: "t", NewThread: "u", AtRev: ptr(uint64(2))})
		before := k.entries("u")
		k.commit(&agent.DeleteThread{Thread: "t"})
		k.equal("entries", k.entries("u"), before)
		k.appendTo("t", messages("new", 0, 3)...)
		k.equal("entries once the parent's id is used again", k.entries("u"), before)
		k.equal("seq of a generated id", find[*agent.Entry](k, &agent.GetEntry{Thread: "u", Entry: generated[0].ID}).Seq, uint64(0))
		k.equal("seq of a chosen id", find[*agent.Entry](k, &agent.GetEntry{Thread: "u", Entry: "m1"}).Seq, uint64(1))
		k.lacks(agent.CodeNotFound, &agent.GetEntry{Thread: "u", Entry: generated[2].ID})
		k.commit(pointTo("a", agent.Pointer{Thread: "u", Rev: 1}))
		k.equal("thawed", len(find[*agent.Thawed](k, &agent.Thaw{Key: "a"}).Entries), 1)
	}},

	{"ids_of_the_prefix_are_unique_in_the_fork", func(k *kit) {
		generated := k.appendTo("t", message("m0", "m says 0"), agent.Draft{}, message("m2", "m says 2")).Entries[1]
		k.commit(&agent.ForkThread{Thread: "t", NewThread: "u", AtRev: ptr(uint64(2))})
		result := k.appendTo("u", message("m0", "m says 0"), agent.Draft{ID: generated.ID}, message("m2", "of the fork"))
		k.equal("rev", result.Thread.Rev, uint64(3))
		k.equal("seqs", []uint64{result.Entries[0].Seq, result.Entries[1].Seq, result.Entries[2].Seq}, []uint64{0, 1, 2})
		k.refuse(agent.CodeDuplicateEntry, 0, &agent.AppendThread{Thread: "u", Entries: []agent.Draft{message("m0", "other")}})
		k.equal("the parent's", string(find[*agent.Entry](k, &agent.GetEntry{Thread: "t", Entry: "m2"}).Payload), `{"text":"m says 2"}`)
	}},

	{"compaction_leaves_a_fork_whole", func(k *kit) {
		k.appendTo("t", messages("m", 0, 6)...)
		k.commit(&agent.ForkThread{Thread: "t", NewThread: "u", AtRev: ptr(uint64(3))})
		before := k.entries("u")
		k.refuse(agent.CodeConflict, 0, &agent.CompactThread{Thread: "t", BeforeSeq: 4})
		// Within the shared prefix it may be refused or not: the fork stays complete.
		if _, err := k.send(agent.Commit{Ops: []agent.Op{&agent.CompactThread{Thread: "t", BeforeSeq: 2}}}); err != nil {
			k.refused(agent.CodeConflict, 0, err)
		}
		k.equal("the fork's entries", k.entries("u"), before)
		if got := find[*agent.Verified](k, &agent.VerifyThread{Thread: "u"}); !got.OK {
			k.Fatalf("verified %+v", got)
		}
	}},

	{"compaction_of_a_fork_leaves_its_parent_whole", func(k *kit) {
		k.appendTo("t", messages("m", 0, 4)...)
		k.commit(&agent.ForkThread{Thread: "t", NewThread: "u", AtRev: ptr(uint64(3))})
		k.appendTo("u", messages("u", 3, 2)...)
		head := k.thread("u").Head
		k.commit(&agent.CompactThread{Thread: "u", BeforeSeq: 2})
		k.equal("fork", ids(k.entries("u")), "m2 u3 u4")
		k.commit(&agent.CompactThread{Thread: "u", BeforeSeq: 4})
		k.equal("fork", ids(k.entries("u")), "u4")
		k.equal("head", k.thread("u").Head, head)
		k.equal("parent", ids(k.entries("t")), "m0 m1 m2 m3")
		k.commit(&agent.DeleteThread{Thread: "u"})
		k.commit(&agent.CompactThread{Thread: "t", BeforeSeq: 4})
		k.equal("parent's floor once the fork is gone", k.thread("t").Floor, uint64(4))
	}},
}
