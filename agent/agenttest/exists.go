package agenttest

import "dormouse/agent"

var existsClaims = []claim{
	{"skip_keeps_a_value_that_exists", func(k *kit) {
		first := k.commit(&agent.PutValue{Key: "v", Bytes: []byte("1"), SkipExisting: true})
		stored := resultOf[*agent.ValueResult](k, first, 0)
		k.equal("skipped", stored.Skipped, false)
		again := resultOf[*agent.ValueResult](k, k.commit(&agent.PutValue{Key: "v", Bytes: []byte("2"), SkipExisting: true}), 0)
		want := *stored
		want.Skipped = true
		k.equal("result", again, &want)
		k.equal("bytes", string(find[*agent.Value](k, &agent.GetValue{Key: "v"}).Bytes), "1")
		k.commit(&agent.DeleteValue{Key: "v", Seal: agent.SealMax})
		k.refuse(agent.CodeDeleted, 0, &agent.PutValue{Key: "v", Bytes: []byte("3"), SkipExisting: true})
		k.refuseInvalid(agent.CodeInvalid, 0, "on_exists", &agent.PutValue{Key: "w", SkipExisting: true, IfRevision: ptr(uint64(0))})
		k.refuseInvalid(agent.CodeInvalid, 0, "on_exists", &agent.PutValue{Key: "w", SkipExisting: true, IfBytes: new([]byte)})
	}},

	{"skip_keeps_a_checkpoint_that_exists", func(k *kit) {
		k.appendTo("t", messages("m", 0, 2)...)
		put := func(state string) *agent.PutCheckpoint {
			return &agent.PutCheckpoint{Key: "a", State: agent.JSON(state), Thread: &agent.Pointer{Thread: "t", Rev: 1}, SkipExisting: true}
		}
		stored := resultOf[*agent.CheckpointResult](k, k.commit(put(`{"n":1}`)), 0)
		k.equal("skipped", stored.Skipped, false)
		again := resultOf[*agent.CheckpointResult](k, k.commit(put(`{"n":2}`)), 0)
		want := *stored
		want.Skipped = true
		k.equal("result", again, &want)
		k.equal("state", string(find[*agent.Checkpoint](k, &agent.GetCheckpoint{Key: "a"}).State), `{"n":1}`)
		k.refuseInvalid(agent.CodeInvalid, 0, "on_exists", &agent.PutCheckpoint{Key: "a", State: agent.JSON(`{}`), SkipExisting: true, IfIncarnation: 1})
	}},

	{"skip_keeps_an_entry_of_the_id_with_other_content", func(k *kit) {
		first := k.appendTo("t", agent.Draft{ID: "m1", Payload: agent.JSON(`{"n":1}`)})
		next := k.commit(&agent.AppendThread{Thread: "t", SkipExisting: true, Entries: []agent.Draft{
			{ID: "m1", Payload: agent.JSON(`{"n":7}`)}, {ID: "m2", Payload: agent.JSON(`{"n":2}`)}, {ID: "m2", Payload: agent.JSON(`{"n":3}`)}, {},
		}})
		stamps := resultOf[*agent.ThreadResult](k, next, 0).Entries
		kept := first.Entries[0]
		kept.Skipped = true
		k.equal("stamp of the entry that was there", stamps[0], kept)
		k.equal("skipped", []bool{stamps[1].Skipped, stamps[2].Skipped, stamps[3].Skipped}, []bool{false, true, false})
		k.equal("seqs", []uint64{stamps[1].Seq, stamps[2].Seq, stamps[3].Seq}, []uint64{1, 1, 2})
		k.equal("rev", k.thread("t").Rev, uint64(3))
		k.equal("payload", string(k.entries("t")[0].Payload), `{"n":1}`)
		k.equal("payload of the second", string(k.entries("t")[1].Payload), `{"n":2}`)
		// The condition on the rev still counts.
		k.refuse(agent.CodeConflict, 0, &agent.AppendThread{Thread: "t", SkipExisting: true, ExpectedRev: ptr(uint64(1)), Entries: []agent.Draft{{ID: "m1"}}})
	}},

	{"create_only_creates_a_thread_once", func(k *kit) {
		create := &agent.AppendThread{Thread: "t", Metadata: agent.JSON(`{"a":1}`), CreateOnly: true}
		made := resultOf[*agent.ThreadResult](k, k.commit(create), 0)
		k.equal("rev", made.Thread.Rev, uint64(0))
		e := k.refuse(agent.CodeAlreadyExists, 0, create) // also at rev 0
		k.equal("rev told", e.Rev, uint64(0))
		k.appendTo("t", agent.Draft{})
		e = k.refuse(agent.CodeAlreadyExists, 0, &agent.AppendThread{Thread: "t", CreateOnly: true, Entries: []agent.Draft{{}}})
		k.equal("rev told", e.Rev, uint64(1))
		k.equal("rev", k.thread("t").Rev, uint64(1))
		k.commit(&agent.DeleteThread{Thread: "t"})
		k.commit(create)
		k.refuseInvalid(agent.CodeInvalid, 0, "create_only", &agent.AppendThread{Thread: "u", CreateOnly: true, ExpectedRev: ptr(uint64(1))})
		k.refuseInvalid(agent.CodeInvalid, 0, "create_only", &agent.AppendThread{Thread: "u", CreateOnly: true, IfIncarnation: 1})
	}},

	{"an_upsert_patches_a_missing_checkpoint", func(k *kit) {
		upsert := &agent.PatchCheckpoint{Key: "a", Patch: agent.JSON(`{"n":1,"none":null}`), Upsert: true}
		made := k.commit(upsert)
		k.equal("revision", resultOf[*agent.CheckpointResult](k, made, 0).Revision, uint64(1))
		got := find[*agent.Checkpoint](k, &agent.GetCheckpoint{Key: "a"})
		k.equal("checkpoint", []string{string(got.State), string(got.Metadata)}, []string{`{"n":1}`, `{}`})
		k.equal("version", got.Version, uint64(1))
		k.commit(&agent.PatchCheckpoint{Key: "a", Patch: agent.JSON(`{"m":2}`), Upsert: true})
		k.equal("state", string(find[*agent.Checkpoint](k, &agent.GetCheckpoint{Key: "a"}).State), `{"n":1,"m":2}`)
		k.refuse(agent.CodeRevisionMismatch, 0, &agent.PatchCheckpoint{Key: "b", Patch: agent.JSON(`{}`), Upsert: true, IfRevision: ptr(uint64(2))})
		k.commit(&agent.PatchCheckpoint{Key: "b", Patch: agent.JSON(`{}`), Upsert: true, IfRevision: ptr(uint64(0))})
		k.commit(&agent.DeleteCheckpoint{Key: "a", Seal: agent.SealMax})
		k.refuse(agent.CodeDeleted, 0, upsert)
		k.refuseInvalid(agent.CodeInvalid, 0, "upsert", &agent.PatchCheckpoint{Key: "c", Patch: agent.JSON(`{}`), Upsert: true, IfIncarnation: 1})
	}},

	{"a_shallow_patch_replaces_members_whole", func(k *kit) {
		k.commit(&agent.PutCheckpoint{Key: "a", State: agent.JSON(`{"a":{"x":1,"y":2},"b":1,"c":2}`)})
		k.commit(&agent.PatchCheckpoint{Key: "a", Patch: agent.JSON(`{"a":{"z":null},"b":null,"d":[null]}`), Shallow: true})
		k.equal("state", string(find[*agent.Checkpoint](k, &agent.GetCheckpoint{Key: "a"}).State), `{"a":{"z":null},"c":2,"d":[null]}`)
	}},
}
