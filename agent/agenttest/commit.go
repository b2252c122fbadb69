package agenttest

import (
	"fmt"
	"strings"

	"dormouse/agent"
)

var commitClaims = []claim{
	{"a_commit_applies_whole_or_not_at_all", func(k *kit) {
		k.commit(&agent.AppendThread{Thread: "t", Entries: messages("m", 0, 1)}, &agent.PutValue{Key: "v", Bytes: []byte("1")}, &agent.PutCheckpoint{Key: "a", State: agent.JSON(`{"n":1}`)})
		before := k.read(&agent.GetThread{Thread: "t"}, &agent.GetValue{Key: "v"}, &agent.GetCheckpoint{Key: "a"}, &agent.GetScope{})
		k.refuse(agent.CodeConflict, 6,
			&agent.AppendThread{Thread: "t", Entries: messages("m", 1, 1)},
			&agent.AppendThread{Thread: "new", Entries: messages("m", 0, 1)},
			&agent.PutValue{Key: "v", Bytes: []byte("2")},
			&agent.PutCheckpoint{Key: "a", State: agent.JSON(`{"n":2}`)},
			&agent.DeleteThread{Thread: "t"},
			&agent.PutScope{Policy: agent.Policy{History: 9}},
			&agent.AppendThread{Thread: "new", ExpectedRev: ptr(uint64(7))},
			&agent.PutValue{Key: "w", Bytes: []byte("1")},
		)
		after := k.read(&agent.GetThread{Thread: "t"}, &agent.GetValue{Key: "v"}, &agent.GetCheckpoint{Key: "a"}, &agent.GetScope{})
		k.equal("answers after the refusal", after.Answers, before.Answers)
		k.lacks(agent.CodeNotFound, &agent.GetThread{Thread: "new"})
		k.lacks(agent.CodeNotFound, &agent.GetValue{Key: "w"})
		k.equal("entries", ids(k.entries("t")), "m0")
	}},

	{"ops_see_the_ops_before_them", func(k *kit) {
		result := k.commit(
			&agent.AppendThread{Thread: "t", Entries: messages("m", 0, 2)},
			&agent.AppendThread{Thread: "t", Entries: messages("m", 2, 1), ExpectedRev: ptr(uint64(2))},
			&agent.PutCheckpoint{Key: "a", State: agent.JSON(`{"n":1}`), Thread: &agent.Pointer{Thread: "t", Rev: 3}},
			&agent.PatchCheckpoint{Key: "a", Patch: agent.JSON(`{"m":2}`), IfRevision: ptr(uint64(1))},
			&agent.PutValue{Key: "v", Bytes: []byte("1")},
			&agent.DeleteValue{Key: "v", IfRevision: ptr(uint64(1))},
			&agent.PutValue{Key: "v", Bytes: []byte("2"), IfRevision: ptr(uint64(0))},
		)
		k.equal("results", len(result.Results), 7)
		k.equal("rev", resultOf[*agent.ThreadResult](k, result, 1).Thread.Rev, uint64(3))
		k.equal("deleted", resultOf[*agent.DeleteResult](k, result, 5).Existed, true)
		first, last := resultOf[*agent.ValueResult](k, result, 4), resultOf[*agent.ValueResult](k, result, 6)
		if last.Incarnation <= first.Incarnation || last.Revision != 1 {
			k.Fatalf("created again in one commit: %+v, then %+v", first, last)
		}
		k.equal("state", string(find[*agent.Checkpoint](k, &agent.GetCheckpoint{Key: "a"}).State), `{"n":1,"m":2}`)
		k.equal("value", string(find[*agent.Value](k, &agent.GetValue{Key: "v"}).Bytes), "2")
	}},

	{"results_are_in_log_order", func(k *kit) {
		var last agent.Result
		for i := range 5 {
			result := k.commit(&agent.AppendThread{Thread: "t", Entries: messages("m", i, 1)})
			if result.Index <= last.Index || result.Time < last.Time {
				k.Fatalf("index %d, time %d came after %d, %d", result.Index, result.Time, last.Index, last.Time)
			}
			last = result
		}
	}},

	{"a_commit_that_is_wrong_names_op_and_field", func(k *kit) {
		good := &agent.PutValue{Key: "v"}
		k.refuseInvalid(agent.CodeInvalid, -1, "ops")
		k.refuseInvalid(agent.CodeInvalid, 1, "key", good, &agent.PutValue{})
		k.refuseInvalid(agent.CodeInvalid, 1, "thread", good, &agent.AppendThread{Thread: ".."})
		k.refuseInvalid(agent.CodeInvalid, 2, "ttl", good, good, &agent.PutValue{Key: "w", TTL: -1})
		k.refuseInvalid(agent.CodeInvalid, 1, "seal", good, &agent.DeleteThread{Thread: "t", Seal: agent.SealMax + 1})
		k.refuseInvalid(agent.CodeTooLarge, 1, "key", good, &agent.DeleteValue{Key: strings.Repeat("k", agent.IDBytesMax+1)})
		k.refuseInvalid(agent.CodeInvalid, 1, "op", good, &agent.DeleteScope{})
		k.refuseInvalid(agent.CodeInvalid, 0, "rev", &agent.HibernateThread{Thread: "t", Rev: 2, Entries: messages("m", 0, 1)})
		k.lacks(agent.CodeNotFound, &agent.GetValue{Key: "v"})
		if _, err := k.send(agent.Commit{Scope: "..", Ops: []agent.Op{good}}); agent.CodeOf(err) != agent.CodeInvalid {
			k.Fatalf("scope ..: %v", err)
		}
	}},

	{"commits_of_many_ops_and_entries", func(k *kit) {
		ops := make([]agent.Op, agent.CommitOpsMax)
		for i := range ops {
			ops[i] = &agent.AppendThread{Thread: "t", Entries: messages("m", i, 1)}
		}
		k.commit(ops...)
		k.equal("rev", k.thread("t").Rev, uint64(agent.CommitOpsMax))
		k.refuseInvalid(agent.CodeTooLarge, -1, "ops", append(ops, ops[0])...)
		k.commit(&agent.AppendThread{Thread: "u", Entries: messages("m", 0, agent.CommitEntriesMax)})
		k.refuseInvalid(agent.CodeTooLarge, 0, "entries", &agent.AppendThread{Thread: "u", Entries: messages("m", 0, agent.CommitEntriesMax+1)})
	}},

	{"results_that_are_too_large_are_refused", func(k *kit) {
		metadata := agent.JSON(`{"x":"` + strings.Repeat("x", agent.MetadataBytesMax-10) + `"}`)
		k.commit(&agent.AppendThread{Thread: "t", Metadata: metadata})
		var forks []agent.Op // their results have the metadata
		for i := range agent.OutcomeBytesMax/agent.MetadataBytesMax + 1 {
			forks = append(forks, &agent.ForkThread{Thread: "t", NewThread: fmt.Sprint("fork", i)})
		}
		e := k.refuse(agent.CodeTooLarge, -1, forks...)
		k.equal("limit", e.Limit, fmt.Sprintf("outcome_bytes_max=%d", agent.OutcomeBytesMax))
		k.lacks(agent.CodeNotFound, &agent.GetThread{Thread: "fork0"})
		k.commit(forks[:len(forks)-2]...)
	}},

	{"a_fence_on_a_claim_without_a_holder_is_fenced", func(k *kit) {
		_, err := k.send(agent.Commit{Fence: &agent.Fence{Claim: "c", Epoch: 1}, Ops: []agent.Op{&agent.PutValue{Key: "v"}}})
		k.refused(agent.CodeFenced, -1, err)
		k.lacks(agent.CodeNotFound, &agent.GetValue{Key: "v"})
	}},

	{"the_scope_left_out_is_the_default", func(k *kit) {
		thread := newName("thread")
		commit := agent.Commit{Ops: []agent.Op{&agent.AppendThread{Thread: thread, Entries: messages("m", 0, 1)}}}
		k.applied(k.service.Commit(k.ctx, commit))
		k.in(agent.DefaultScope).thread(thread)
		answers, err := k.service.Read(k.ctx, agent.Reads{Reads: []agent.Read{&agent.GetThread{Thread: thread}}})
		if err != nil || answers.Answers[0].Err != nil {
			k.Fatalf("read %+v, %v", answers, err)
		}
		k.in(agent.DefaultScope).commit(&agent.DeleteThread{Thread: thread})
	}},
}
