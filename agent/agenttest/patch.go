package agenttest

import (
	"fmt"
	"strings"

	"dormouse/agent"
)

var patchClaims = []claim{
	{"P-14_a_patch_keeps_all_else_as_stored", func(k *kit) {
		k.appendTo("t", messages("m", 0, 2)...)
		put := k.commit(&agent.PutCheckpoint{
			Key: "a", Version: 7, State: agent.JSON(`{"name":"Alice","__cron_specs__":{"j":1},"n":18446744073709551615,"f":1.0}`),
			Thread: &agent.Pointer{Thread: "t", Rev: 1}, Lifecycle: "idle", Metadata: agent.JSON(`{"m":1}`), TTL: agent.TTLMax,
		})
		before := find[*agent.Checkpoint](k, &agent.GetCheckpoint{Key: "a"})
		patched := k.commit(&agent.PatchCheckpoint{Key: "a", Patch: agent.JSON(`{"__cron_specs__":{"k":2}}`)})
		want := *before
		want.Revision, want.UpdatedAt = 2, patched.Time
		want.State = agent.JSON(`{"name":"Alice","__cron_specs__":{"j":1,"k":2},"n":18446744073709551615,"f":1.0}`)
		got := find[*agent.Checkpoint](k, &agent.GetCheckpoint{Key: "a"})
		k.equal("checkpoint", got, &want)
		k.equal("result", resultOf[*agent.CheckpointResult](k, patched, 0), &agent.CheckpointResult{
			Key: "a", Incarnation: want.Incarnation, Revision: 2, CreatedAt: put.Time, UpdatedAt: patched.Time, Thread: want.Thread,
		})
	}},

	{"P-14_a_null_removes_a_member", func(k *kit) {
		k.commit(&agent.PutCheckpoint{Key: "a", State: agent.JSON(`{"a":1,"__cron_specs__":{"j":1},"b":{"c":1,"d":2}}`)})
		k.commit(&agent.PatchCheckpoint{Key: "a", Patch: agent.JSON(`{"__cron_specs__":null,"b":{"c":null,"e":[null]},"none":null}`)})
		k.equal("state", string(find[*agent.Checkpoint](k, &agent.GetCheckpoint{Key: "a"}).State), `{"a":1,"b":{"d":2,"e":[null]}}`)
	}},

	// The caller then makes a full hibernation.
	{"P-15_a_patch_of_a_missing_checkpoint_is_not_found", func(k *kit) {
		k.refuse(agent.CodeNotFound, 0, &agent.PatchCheckpoint{Key: "a", Patch: agent.JSON(`{"a":1}`)})
		k.lacks(agent.CodeNotFound, &agent.GetCheckpoint{Key: "a"})
	}},

	{"if_revision_of_a_patch", func(k *kit) {
		k.commit(&agent.PutCheckpoint{Key: "a", State: agent.JSON(`{"n":1}`)})
		k.commit(&agent.PatchCheckpoint{Key: "a", Patch: agent.JSON(`{"n":2}`), IfRevision: ptr(uint64(1))})
		e := k.refuse(agent.CodeRevisionMismatch, 0, &agent.PatchCheckpoint{Key: "a", Patch: agent.JSON(`{"n":3}`), IfRevision: ptr(uint64(1))})
		k.equal("revision told", e.Revision, uint64(2))
		k.equal("state", string(find[*agent.Checkpoint](k, &agent.GetCheckpoint{Key: "a"}).State), `{"n":2}`)
	}},

	{"a_patch_that_is_no_object_is_refused", func(k *kit) {
		k.commit(&agent.PutCheckpoint{Key: "a", State: agent.JSON(`{"n":1}`)})
		for _, patch := range []string{`null`, `[]`, `"x"`, `{"a":1,"a":2}`} {
			k.refuseInvalid(agent.CodeInvalid, 0, "patch", &agent.PatchCheckpoint{Key: "a", Patch: agent.JSON(patch)})
		}
	}},

	{"a_patch_may_not_make_a_checkpoint_too_large", func(k *kit) {
		half := func(member string) agent.JSON {
			return agent.JSON(`{"` + member + `":"` + strings.Repeat("x", agent.CheckpointBytesMax*5/8) + `"}`)
		}
		k.commit(&agent.PutCheckpoint{Key: "a", State: half("a")})
		k.refuse(agent.CodeTooLarge, 0, &agent.PatchCheckpoint{Key: "a", Patch: half("b")})
		k.equal("revision", find[*agent.Checkpoint](k, &agent.GetCheckpoint{Key: "a"}).Revision, uint64(1))
		k.commit(&agent.PatchCheckpoint{Key: "a", Patch: half("a")})
	}},
}

var historyClaims = []claim{
	{"history_keeps_as_many_as_the_policy_says", func(k *kit) {
		k.commit(&agent.PutScope{Policy: agent.Policy{History: 3}})
		for n := range 5 {
			k.commit(&agent.PutCheckpoint{Key: "a", State: agent.JSON(fmt.Sprintf(`{"n":%d}`, n+1))})
		}
		rows := find[*agent.CheckpointList](k, &agent.CheckpointHistory{Key: "a"}).Items
		var revisions []uint64
		for _, row := range rows {
			revisions = append(revisions, row.Revision)
		}
		k.equal("revisions, newest first", revisions, []uint64{5, 4, 3})
		old := find[*agent.Checkpoint](k, &agent.GetCheckpoint{Key: "a", Revision: 3})
		k.equal("state of revision 3", string(old.State), `{"n":3}`)
		k.equal("state of the current one by its number", string(find[*agent.Checkpoint](k, &agent.GetCheckpoint{Key: "a", Revision: 5}).State), `{"n":5}`)
		k.lacks(agent.CodeNotFound, &agent.GetCheckpoint{Key: "a", Revision: 2})
		k.lacks(agent.CodeNotFound, &agent.GetCheckpoint{Key: "a", Revision: 6})
	}},

	{"history_without_a_policy", func(k *kit) {
		for range agent.HistoryDefault + 2 {
			k.commit(&agent.PutCheckpoint{Key: "a"})
		}
		rows := find[*agent.CheckpointList](k, &agent.CheckpointHistory{Key: "a"}).Items
		k.equal("revisions kept", len(rows), agent.HistoryDefault)
		k.equal("newest and its key", []any{rows[0].Revision, rows[0].Key}, []any{uint64(agent.HistoryDefault + 2), "a"})
	}},

	{"history_goes_with_its_checkpoint", func(k *kit) {
		k.commit(&agent.PutCheckpoint{Key: "a", State: agent.JSON(`{"n":1}`)})
		k.commit(&agent.PutCheckpoint{Key: "a", State: agent.JSON(`{"n":2}`)})
		k.commit(&agent.DeleteCheckpoint{Key: "a"})
		k.lacks(agent.CodeNotFound, &agent.CheckpointHistory{Key: "a"})
		k.lacks(agent.CodeNotFound, &agent.GetCheckpoint{Key: "a", Revision: 1})
		k.commit(&agent.PutCheckpoint{Key: "a", State: agent.JSON(`{"n":3}`)})
		rows := find[*agent.CheckpointList](k, &agent.CheckpointHistory{Key: "a"}).Items
		k.equal("revisions after it came back", []any{len(rows), rows[0].Revision}, []any{1, uint64(1)})
	}},
}
