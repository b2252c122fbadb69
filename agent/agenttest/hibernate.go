package agenttest

import (
	"dormouse/agent"
)

// hibernate returns the ops of a hibernation of agent a: its entries from fromSeq on,
// then the checkpoint that points to their end.
func hibernate(thread, state string, fromSeq uint64, drafts ...agent.Draft) []agent.Op {
	rev := fromSeq + uint64(len(drafts))
	return []agent.Op{
		&agent.HibernateThread{Thread: thread, Rev: rev, FromSeq: fromSeq, Entries: drafts},
		&agent.PutCheckpoint{Key: "a", State: agent.JSON(state), Thread: &agent.Pointer{Thread: thread, Rev: rev}, Lifecycle: "idle"},
	}
}

var hibernateClaims = []claim{
	{"P-1_thaw_gives_back_what_hibernated", func(k *kit) {
		k.commit(hibernate("t", `{"name":"Alice","n":12345678901234567890}`, 0, messages("m", 0, 3)...)...)
		thawed := find[*agent.Thawed](k, &agent.Thaw{Key: "a"})
		k.equal("state", string(thawed.Checkpoint.State), `{"name":"Alice","n":12345678901234567890}`)
		k.equal("lifecycle", thawed.Checkpoint.Lifecycle, "idle")
		k.equal("thread", *thawed.Thread, k.thread("t"))
		k.equal("entries", thawed.Entries, k.entries("t"))
		k.equal("ids", ids(thawed.Entries), "m0 m1 m2")
		k.equal("ahead", thawed.Ahead, uint64(0))
	}},

	{"P-1_an_agent_without_a_thread", func(k *kit) {
		k.commit(&agent.PutCheckpoint{Key: "a", State: agent.JSON(`{"n":1}`)})
		thawed := find[*agent.Thawed](k, &agent.Thaw{Key: "a"})
		if thawed.Thread != nil || len(thawed.Entries) != 0 || thawed.Checkpoint.Thread != nil {
			k.Fatalf("thawed %+v", thawed)
		}
	}},

	{"P-2_the_threads_body_never_enters_a_checkpoint", func(k *kit) {
		k.commit(&agent.PutCheckpoint{Key: "a", State: agent.JSON(`{"x":1,"__thread__":{"entries":[1,2]},"y":2}`)})
		k.equal("state", string(find[*agent.Checkpoint](k, &agent.GetCheckpoint{Key: "a"}).State), `{"x":1,"y":2}`)
		k.commit(&agent.PatchCheckpoint{Key: "a", Patch: agent.JSON(`{"__thread__":{"entries":[]},"z":3}`)})
		k.equal("state", string(find[*agent.Checkpoint](k, &agent.GetCheckpoint{Key: "a"}).State), `{"x":1,"y":2,"z":3}`)
		k.commit(&agent.PutCheckpoint{Key: "a", State: agent.JSON(`{"\u005f_thread__":[]}`)})
		k.equal("state", string(find[*agent.Checkpoint](k, &agent.GetCheckpoint{Key: "a"}).State), `{}`)
	}},

	{"P-3_the_pointer_is_the_threads_id_and_rev", func(k *kit) {
		result := k.commit(hibernate("t", `{}`, 0, messages("m", 0, 2)...)...)
		thread := k.thread("t")
		want := &agent.Pointer{Thread: "t", Rev: 2, Head: thread.Head.String(), Incarnation: thread.Incarnation}
		k.equal("pointer stored", find[*agent.Checkpoint](k, &agent.GetCheckpoint{Key: "a"}).Thread, want)
		k.equal("pointer returned", resultOf[*agent.CheckpointResult](k, result, 1).Thread, want)
	}},

	{"P-4_hibernating_again_adds_no_entries", func(k *kit) {
		k.commit(hibernate("t", `{"n":1}`, 0, messages("m", 0, 3)...)...)
		before := k.thread("t")
		for range 2 {
			k.commit(hibernate("t", `{"n":2}`, 0, messages("m", 0, 3)...)...)
			k.commit(hibernate("t", `{"n":2}`, 2, messages("m", 2, 1)...)...)
			k.commit(hibernate("t", `{"n":2}`, 3)...)
		}
		after := k.thread("t")
		k.equal("rev and head", []any{after.Rev, after.Head}, []any{before.Rev, before.Head})
		k.equal("revision", find[*agent.Checkpoint](k, &agent.GetCheckpoint{Key: "a"}).Revision, uint64(7))
	}},

	{"P-5_a_pointer_at_rev_0_thaws_to_an_empty_thread", func(k *kit) {
		k.commit(hibernate("t", `{"n":1}`, 0)...)
		for _, ahead := range []uint64{0, 2} {
			thawed := find[*agent.Thawed](k, &agent.Thaw{Key: "a"})
			if thawed.Thread == nil || thawed.Thread.Rev != 0 || thawed.Thread.Head != (agent.Head{}) || len(thawed.Entries) != 0 {
				k.Fatalf("thawed %+v with thread %+v", thawed, thawed.Thread)
			}
			k.equal("ahead", thawed.Ahead, ahead)
			if ahead == 0 {
				k.appendTo("t", messages("m", 0, 2)...)
			}
		}
	}},

	{"P-6_a_longer_journal_of_the_callers_appends_its_tail", func(k *kit) {
		first := k.appendTo("t", messages("m", 0, 2)...)
		k.commit(hibernate("t", `{}`, 0, messages("m", 0, 5)...)...)
		entries := k.entries("t")
		k.equal("entries", ids(entries), "m0 m1 m2 m3 m4")
		k.equal("time of a new one", entries[4].At, *message("", "").At)
		k.equal("created", k.thread("t").CreatedAt, first.Thread.CreatedAt)
		// Only the tail, as sent by a caller that knows what is stored.
		result := k.commit(hibernate("t", `{}`, 4, messages("m", 4, 3)...)...)
		k.equal("entries", ids(k.entries("t")), "m0 m1 m2 m3 m4 m5 m6")
		stamps := resultOf[*agent.ThreadResult](k, result, 0).Entries
		k.equal("stamps", []uint64{stamps[0].Seq, stamps[1].Seq, stamps[2].Seq}, []uint64{4, 5, 6})
	}},

	{"P-6_what_was_generated_overlaps", func(k *kit) {
		k.commit(hibernate("t", `{}`, 0, agent.Draft{Payload: agent.JSON(`{"n":1}`)}, agent.Draft{})...)
		k.commit(hibernate("t", `{}`, 0, agent.Draft{Payload: agent.JSON(`{"n":1}`)}, agent.Draft{}, agent.Draft{})...)
		k.equal("rev", k.thread("t").Rev, uint64(3))
	}},

	{"P-7_a_shorter_journal_of_the_callers_is_a_regression", func(k *kit) {
		k.appendTo("t", messages("m", 0, 3)...)
		thread := k.thread("t")
		for _, ops := range [][]agent.Op{
			hibernate("t", `{}`, 0, messages("m", 0, 2)...), hibernate("t", `{}`, 2), hibernate("t", `{}`, 0),
		} {
			e := k.refuse(agent.CodeRevRegression, 0, ops...)
			k.equal("rev and head told", []any{e.Rev, e.Head}, []any{uint64(3), thread.Head.String()})
		}
		k.lacks(agent.CodeNotFound, &agent.GetCheckpoint{Key: "a"})
		k.equal("thread", k.thread("t"), thread)
	}},

	{"P-8_equal_length_with_other_content_is_refused", func(k *kit) {
		k.commit(hibernate("t", `{"by":"A"}`, 0, messages("a", 0, 3)...)...)
		thread := k.thread("t")
		for _, ops := range [][]agent.Op{
			hibernate("t", `{"by":"B"}`, 0, messages("b", 0, 3)...),
			hibernate("t", `{"by":"B"}`, 2, messages("b", 2, 1)...),
			hibernate("t", `{"by":"B"}`, 0, message("a0", "a says 0"), message("a1", "changed"), message("a2", "a says 2")),
			hibernate("t", `{"by":"B"}`, 2, messages("b", 2, 2)...),
		} {
			e := k.refuse(agent.CodeConflict, 0, ops...)
			k.equal("rev and head told", []any{e.Rev, e.Head}, []any{uint64(3), thread.Head.String()})
		}
		k.equal("state", string(find[*agent.Checkpoint](k, &agent.GetCheckpoint{Key: "a"}).State), `{"by":"A"}`)
		k.equal("thread", k.thread("t"), thread)
	}},

	{"P-9_a_gap_before_the_callers_entries_is_a_conflict", func(k *kit) {
		k.appendTo("t", messages("m", 0, 2)...)
		e := k.refuse(agent.CodeConflict, 0, hibernate("t", `{}`, 3, messages("m", 3, 1)...)...)
		k.equal("rev told", e.Rev, uint64(2))
		k.refuse(agent.CodeConflict, 0, hibernate("none", `{}`, 1, messages("m", 1, 1)...)...)
		k.lacks(agent.CodeNotFound, &agent.GetThread{Thread: "none"})
	}},

	{"P-10_a_later_checkpoint_without_a_thread_leaves_the_journal", func(k *kit) {
		k.commit(hibernate("t", `{}`, 0, messages("m", 0, 2)...)...)
		k.commit(&agent.PutCheckpoint{Key: "a", State: agent.JSON(`{"n":1}`)})
		if thawed := find[*agent.Thawed](k, &agent.Thaw{Key: "a"}); thawed.Thread != nil || len(thawed.Entries) != 0 {
			k.Fatalf("thawed %+v", thawed)
		}
		k.equal("entries", ids(k.entries("t")), "m0 m1")
	}},

	{"P-16_thaw_of_a_missing_agent_is_not_found", func(k *kit) {
		k.lacks(agent.CodeNotFound, &agent.Thaw{Key: "a"})
	}},

	{"P-17_a_journal_ahead_thaws_at_the_pointers_rev", func(k *kit) {
		k.commit(hibernate("t", `{"n":1}`, 0, messages("m", 0, 3)...)...)
		head := k.thread("t").Head
		k.appendTo("t", messages("m", 3, 4)...)
		thawed := find[*agent.Thawed](k, &agent.Thaw{Key: "a"})
		k.equal("entries", ids(thawed.Entries), "m0 m1 m2")
		k.equal("rev and head", []any{thawed.Thread.Rev, thawed.Thread.Head}, []any{uint64(3), head})
		k.equal("ahead", thawed.Ahead, uint64(4))
		k.equal("head of what was thawed", chain(thawed.Entries...), head)
	}},

	{"thaw_of_a_tail", func(k *kit) {
		k.commit(hibernate("t", `{}`, 0, messages("m", 0, 5)...)...)
		k.appendTo("t", messages("m", 5, 2)...)
		for tail, want := range []string{"", "m4", "m3 m4"} {
			thawed := find[*agent.Thawed](k, &agent.Thaw{Key: "a", Tail: ptr(uint64(tail))})
			k.equal("entries", ids(thawed.Entries), want)
			k.equal("rev, ahead", []uint64{thawed.Thread.Rev, thawed.Ahead}, []uint64{5, 2})
		}
	}},

	{"thaw_of_an_older_revision", func(k *kit) {
		k.commit(hibernate("t", `{"n":1}`, 0, messages("m", 0, 2)...)...)
		k.commit(hibernate("t", `{"n":2}`, 2, messages("m", 2, 2)...)...)
		thawed := find[*agent.Thawed](k, &agent.Thaw{Key: "a", Revision: 1})
		k.equal("state", string(thawed.Checkpoint.State), `{"n":1}`)
		k.equal("entries", ids(thawed.Entries), "m0 m1")
		k.equal("ahead", thawed.Ahead, uint64(2))
		k.lacks(agent.CodeNotFound, &agent.Thaw{Key: "a", Revision: 3})
	}},
}
