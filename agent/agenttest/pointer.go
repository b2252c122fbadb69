package agenttest

import (
	"strings"

	"dormouse/agent"
)

// pointTo returns an op that puts a checkpoint with a pointer.
func pointTo(key string, p agent.Pointer) *agent.PutCheckpoint {
	return &agent.PutCheckpoint{Key: key, Thread: &p}
}

var pointerClaims = []claim{
	{"P-3_a_pointer_to_an_earlier_rev", func(k *kit) {
		k.appendTo("t", messages("m", 0, 4)...)
		entries := k.entries("t")
		k.commit(pointTo("a", agent.Pointer{Thread: "t", Rev: 2}))
		pointer := find[*agent.Checkpoint](k, &agent.GetCheckpoint{Key: "a"}).Thread
		k.equal("head at rev 2", pointer.Head, chain(entries[:2]...).String())
		k.commit(pointTo("b", *pointer))
		k.equal("pointer named in full", find[*agent.Checkpoint](k, &agent.GetCheckpoint{Key: "b"}).Thread, pointer)
	}},

	{"P-11_a_pointer_to_no_thread_is_refused", func(k *kit) {
		e := k.refuse(agent.CodeMissingThread, 0, pointTo("a", agent.Pointer{Thread: "t", Rev: 1}))
		k.equal("thread told", e.Thread, "t")
		k.lacks(agent.CodeNotFound, &agent.GetCheckpoint{Key: "a"})
	}},

	{"P-5_a_pointer_at_rev_0_needs_no_thread", func(k *kit) {
		start := agent.Head{}.String()
		for _, head := range []string{"", start} {
			k.commit(pointTo("a", agent.Pointer{Thread: "t", Head: head}))
			want := &agent.Pointer{Thread: "t", Head: start}
			k.equal("pointer", find[*agent.Checkpoint](k, &agent.GetCheckpoint{Key: "a"}).Thread, want)
			thawed := find[*agent.Thawed](k, &agent.Thaw{Key: "a"})
			k.equal("thread, rev, entries", []any{thawed.Thread.ID, thawed.Thread.Rev, len(thawed.Entries)}, []any{"t", uint64(0), 0})
		}
		e := k.refuse(agent.CodeMissingThread, 0, pointTo("b", agent.Pointer{Thread: "t", Incarnation: 7}))
		k.equal("thread, head told", []any{e.Thread, e.Head}, []any{"t", start})
		k.refuse(agent.CodeMissingThread, 0, pointTo("b", agent.Pointer{Thread: "t", Head: strings.Repeat("1", 64)}))
	}},

	{"P-5_a_pointer_at_rev_0_is_also_below_the_floor", func(k *kit) {
		k.appendTo("t", messages("m", 0, 4)...)
		k.commit(&agent.CompactThread{Thread: "t", BeforeSeq: 2})
		k.commit(pointTo("a", agent.Pointer{Thread: "t"}))
		thawed := find[*agent.Thawed](k, &agent.Thaw{Key: "a"})
		k.equal("rev, head, entries, ahead", []any{thawed.Thread.Rev, thawed.Thread.Head, len(thawed.Entries), thawed.Ahead},
			[]any{uint64(0), agent.Head{}, 0, uint64(4)})
		k.refuse(agent.CodeCompacted, 0, pointTo("b", agent.Pointer{Thread: "t", Rev: 1}))
	}},

	{"P-11_a_pointer_past_the_journal_is_refused", func(k *kit) {
		k.appendTo("t", messages("m", 0, 2)...)
		e := k.refuse(agent.CodeThreadMismatch, 0, pointTo("a", agent.Pointer{Thread: "t", Rev: 3}))
		k.equal("thread, rev, head told", []any{e.Thread, e.Rev, e.Head}, []any{"t", uint64(2), k.thread("t").Head.String()})
	}},

	{"P-11_a_pointer_with_another_head_is_refused", func(k *kit) {
		k.appendTo("t", messages("m", 0, 2)...)
		head := k.thread("t").Head.String()
		k.refuse(agent.CodeThreadMismatch, 0, pointTo("a", agent.Pointer{Thread: "t", Rev: 2, Head: strings.Repeat("0", 64)}))
		k.refuse(agent.CodeThreadMismatch, 0, pointTo("a", agent.Pointer{Thread: "t", Rev: 1, Head: head}))
		k.refuse(agent.CodeThreadMismatch, 0, pointTo("a", agent.Pointer{Thread: "t", Rev: 0, Head: head}))
		k.lacks(agent.CodeNotFound, &agent.GetCheckpoint{Key: "a"})
		k.commit(pointTo("a", agent.Pointer{Thread: "t", Rev: 2, Head: head}))
	}},

	{"P-11_a_pointer_into_another_incarnation_is_refused", func(k *kit) {
		old := k.appendTo("t", messages("m", 0, 2)...).Thread
		k.commit(&agent.DeleteThread{Thread: "t"})
		k.appendTo("t", messages("m", 0, 2)...)
		k.equal("head of the same entries", k.thread("t").Head, old.Head)
		k.refuse(agent.CodeThreadMismatch, 0, pointTo("a", agent.Pointer{Thread: "t", Rev: 2, Incarnation: old.Incarnation}))
	}},

	{"P-13_a_state_that_is_no_object_is_refused", func(k *kit) {
		for _, state := range []string{`[]`, `"x"`, `7`, `true`} {
			k.refuseInvalid(agent.CodeInvalid, 0, "state", &agent.PutCheckpoint{Key: "a", State: agent.JSON(state)})
		}
		k.refuseInvalid(agent.CodeInvalid, 0, "metadata", &agent.PutCheckpoint{Key: "a", Metadata: agent.JSON(`[]`)})
		k.lacks(agent.CodeNotFound, &agent.GetCheckpoint{Key: "a"})
	}},

	{"a_pointer_is_judged_as_of_its_commit", func(k *kit) {
		k.commit(
			&agent.AppendThread{Thread: "t", Entries: messages("m", 0, 1)},
			pointTo("a", agent.Pointer{Thread: "t", Rev: 1}),
			&agent.AppendThread{Thread: "t", Entries: messages("m", 1, 1)},
			pointTo("b", agent.Pointer{Thread: "t", Rev: 2}),
		)
		k.equal("ahead of a", find[*agent.Thawed](k, &agent.Thaw{Key: "a"}).Ahead, uint64(1))
		k.equal("ahead of b", find[*agent.Thawed](k, &agent.Thaw{Key: "b"}).Ahead, uint64(0))
		k.refuse(agent.CodeThreadMismatch, 0,
			pointTo("c", agent.Pointer{Thread: "t", Rev: 3}), &agent.AppendThread{Thread: "t", Entries: messages("m", 2, 1)})
	}},

	{"thaw_without_the_thread_is_missing_thread", func(k *kit) {
		k.commit(hibernate("t", `{}`, 0, messages("m", 0, 2)...)...)
		k.commit(&agent.DeleteThread{Thread: "t"})
		k.equal("thread told", k.lacks(agent.CodeMissingThread, &agent.Thaw{Key: "a"}).Thread, "t")
		find[*agent.Checkpoint](k, &agent.GetCheckpoint{Key: "a"}) // the checkpoint itself still exists
	}},

	{"thaw_with_another_thread_of_that_id_is_thread_mismatch", func(k *kit) {
		k.commit(hibernate("t", `{}`, 0, messages("m", 0, 2)...)...)
		k.commit(&agent.DeleteThread{Thread: "t"})
		k.appendTo("t", messages("x", 0, 5)...)
		e := k.lacks(agent.CodeThreadMismatch, &agent.Thaw{Key: "a"})
		k.equal("thread, rev, head told", []any{e.Thread, e.Rev, e.Head}, []any{"t", uint64(5), k.thread("t").Head.String()})
	}},
}
