package agenttest

import (
	"context"
	"fmt"
	"slices"

	"dormouse/agent"
)

// deletePrefix deletes by prefix, and waits until the receipt is complete.
func (k *kit) deletePrefix(op *agent.DeletePrefix) *agent.PrefixDeletion {
	k.Helper()
	began := apply[*agent.PrefixDeletion](k, op)
	ended, err := agent.AwaitDeletion(k.ctx, began, func(context.Context) (*agent.PrefixDeletion, error) {
		return find[*agent.PrefixDeletion](k, &agent.GetDeletion{ID: began.ID}), nil
	})
	if err != nil {
		k.Fatal(err)
	}
	k.equal("receipt", []any{ended.ID, ended.Kind, ended.Prefix, ended.Index, ended.DeletedAt}, []any{began.ID, op.Kind, op.Prefix, began.Index, began.DeletedAt})
	return ended
}

// keyed writes a value, a checkpoint and a thread under each key.
func (k *kit) keyed(keys ...string) {
	k.Helper()
	var ops []agent.Op
	for _, key := range keys {
		ops = append(ops, &agent.PutValue{Key: key}, &agent.PutCheckpoint{Key: key, State: agent.JSON(`{}`)}, &agent.AppendThread{Thread: key})
	}
	k.commit(ops...)
}

// keysOf returns the keys of a kind.
func (k *kit) keysOf(kind agent.ChangeKind) (keys []string) {
	k.Helper()
	switch kind {
	case agent.ChangedValue:
		for _, row := range find[*agent.ValueList](k, &agent.ListValues{}).Items {
			keys = append(keys, row.Key)
		}
	case agent.ChangedCheckpoint:
		for _, row := range find[*agent.CheckpointList](k, &agent.ListCheckpoints{}).Items {
			keys = append(keys, row.Key)
		}
	default:
		for _, row := range find[*agent.ThreadList](k, &agent.ListThreads{}).Items {
			keys = append(keys, row.ID)
		}
	}
	return keys
}

var deletedKinds = []agent.ChangeKind{agent.ChangedValue, agent.ChangedCheckpoint, agent.ChangedThread}

var deletionClaims = []claim{
	{"all_keys_with_a_prefix_are_deleted", func(k *kit) {
		all := []string{"a", "ab", "ab/c", "abc", "b"}
		for _, kind := range deletedKinds {
			k.keyed(all...)
			if d := k.deletePrefix(&agent.DeletePrefix{Kind: kind, Prefix: "ab"}); d.Removed != 3 || d.CompletedAt < d.DeletedAt {
				k.Errorf("%s: the receipt is %+v", kind, d)
			}
			k.equal("left", k.keysOf(kind), []string{"a", "b"})
			if d := k.deletePrefix(&agent.DeletePrefix{Kind: kind, Prefix: "ab"}); d.Removed != 0 {
				k.Errorf("%s, again: the receipt is %+v", kind, d)
			}
		}
		k.keyed(all...)
		k.equal("all", k.deletePrefix(&agent.DeletePrefix{Kind: agent.ChangedThread, All: true}).Removed, uint64(5))
		k.equal("values", k.keysOf(agent.ChangedValue), all)
		k.equal("threads", len(k.keysOf(agent.ChangedThread)), 0)
	}},

	{"a_deletion_of_many_keys_is_one_index", func(k *kit) {
		const keys = 600
		var ops []agent.Op
		for i := range keys {
			ops = append(ops, &agent.PutValue{Key: fmt.Sprintf("x%03d", i), Bytes: []byte("v")})
		}
		k.commit(append(ops, &agent.PutValue{Key: "y"})...)
		began := apply[*agent.PrefixDeletion](k, &agent.DeletePrefix{Kind: agent.ChangedValue, Prefix: "x"})
		k.equal("left at once", k.keysOf(agent.ChangedValue), []string{"y"})
		k.lacks(agent.CodeNotFound, &agent.GetValue{Key: fmt.Sprintf("x%03d", keys-1)})
		again := apply[*agent.ValueResult](k, &agent.PutValue{Key: "x500", IfRevision: ptr(uint64(0))})
		k.equal("the revision of one that is written again", again.Revision, uint64(1))
		ended, err := agent.AwaitDeletion(k.ctx, began, func(context.Context) (*agent.PrefixDeletion, error) {
			return find[*agent.PrefixDeletion](k, &agent.GetDeletion{ID: began.ID}), nil
		})
		if err != nil {
			k.Fatal(err)
		}
		k.equal("removed", ended.Removed, uint64(keys))
		k.equal("left", k.keysOf(agent.ChangedValue), []string{"x500", "y"})
		k.equal("counted", find[*agent.Scope](k, &agent.GetScope{}).Keys, uint64(2))
	}},

	{"an_incarnation_that_was_deleted_by_prefix_is_gone", func(k *kit) {
		put := apply[*agent.ValueResult](k, &agent.PutValue{Key: "v"})
		k.commit(&agent.AppendThread{Thread: "t", Entries: messages("m", 0, 2)}, &agent.PutCheckpoint{Key: "c", Thread: &agent.Pointer{Thread: "t", Rev: 2}})
		k.deletePrefix(&agent.DeletePrefix{Kind: agent.ChangedValue, Prefix: "v"})
		k.refuse(agent.CodeDeleted, 0, &agent.PutValue{Key: "v", IfIncarnation: put.Incarnation})
		k.deletePrefix(&agent.DeletePrefix{Kind: agent.ChangedThread, All: true})
		k.lacks(agent.CodeMissingThread, &agent.Thaw{Key: "c"})
		k.commit(&agent.AppendThread{Thread: "t", Entries: messages("m", 0, 2)})
		k.lacks(agent.CodeThreadMismatch, &agent.Thaw{Key: "c"})
	}},

	{"a_deletion_by_prefix_is_one_op_of_a_commit", func(k *kit) {
		k.keyed("x1", "x2")
		result := k.commit(&agent.PutValue{Key: "x3"}, &agent.DeletePrefix{Kind: agent.ChangedValue, Prefix: "x"}, &agent.PutValue{Key: "x1", Bytes: []byte("new")})
		d := resultOf[*agent.PrefixDeletion](k, result, 1)
		k.equal("index", d.Index, result.Index)
		k.equal("left", k.keysOf(agent.ChangedValue), []string{"x1"})
		k.refuse(agent.CodeRevisionMismatch, 1, &agent.DeletePrefix{Kind: agent.ChangedValue, All: true}, &agent.PutValue{Key: "x1", IfRevision: ptr(uint64(7))})
		k.equal("left by a refused commit", k.keysOf(agent.ChangedValue), []string{"x1"})
	}},

	{"receipts_of_deletions_are_listed", func(k *kit) {
		k.lacks(agent.CodeNotFound, &agent.GetDeletion{ID: "none"})
		var made []string
		for _, prefix := range []string{"a", "b", "c"} {
			made = append(made, k.deletePrefix(&agent.DeletePrefix{Kind: agent.ChangedValue, Prefix: prefix}).ID)
		}
		idsOf := func(list *agent.DeletionList) (ids []string) {
			for _, d := range list.Items {
				ids = append(ids, d.ID)
			}
			return ids
		}
		first := find[*agent.DeletionList](k, &agent.ListDeletions{Page: agent.Page{Limit: 2}})
		rest := find[*agent.DeletionList](k, &agent.ListDeletions{Page: agent.Page{Limit: 2, After: first.Next}})
		k.equal("listed", slices.Concat(idsOf(first), idsOf(rest)), made)
		k.equal("next", rest.Next, "")
		newest := find[*agent.DeletionList](k, &agent.ListDeletions{Page: agent.Page{Limit: 1, Order: agent.Descending}})
		k.equal("the newest", idsOf(newest), made[2:])
	}},

	{"what_to_delete_must_be_said", func(k *kit) {
		k.refuseInvalid(agent.CodeInvalid, 0, "prefix", &agent.DeletePrefix{Kind: agent.ChangedValue})
		k.refuseInvalid(agent.CodeInvalid, 0, "all", &agent.DeletePrefix{Kind: agent.ChangedValue, Prefix: "x", All: true})
		k.refuseInvalid(agent.CodeInvalid, 0, "kind", &agent.DeletePrefix{Kind: agent.ChangedMemory, Prefix: "x"})
		k.refuseInvalid(agent.CodeInvalid, 0, "prefix", &agent.DeletePrefix{Kind: agent.ChangedValue, Prefix: "x\x00"})
	}},
}
