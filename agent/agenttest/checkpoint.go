package agenttest

import (
	"slices"
	"strings"

	"dormouse/agent"
)

var checkpointClaims = []claim{
	{"S-1_get_of_a_missing_checkpoint_is_absent", func(k *kit) {
		k.lacks(agent.CodeNotFound, &agent.GetCheckpoint{Key: "k"})
		k.lacks(agent.CodeNotFound, &agent.GetCheckpoint{Key: "k", Revision: 1})
		k.lacks(agent.CodeNotFound, &agent.GetValue{Key: "k"})
	}},

	{"S-2_put_then_get_returns_an_equal_value", func(k *kit) {
		const state = `{"z":1,"a":{"n":9007199254740993,"f":1.0,"e":1E+2},"s":"<b>\u0041\/é</b>","l":[null,true,{}],"":0}`
		result := k.commit(&agent.PutCheckpoint{
			Key: "agent/1 é", Version: 3, State: agent.JSON(state), Lifecycle: "completion", Metadata: agent.JSON(`{"m":[1,2]}`),
		})
		put := resultOf[*agent.CheckpointResult](k, result, 0)
		got := find[*agent.Checkpoint](k, &agent.GetCheckpoint{Key: "agent/1 é"})
		k.equal("checkpoint", got, &agent.Checkpoint{
			Key: "agent/1 é", Incarnation: put.Incarnation, Revision: 1, Version: 3, State: agent.JSON(state),
			Lifecycle: "completion", Metadata: agent.JSON(`{"m":[1,2]}`), CreatedAt: result.Time, UpdatedAt: result.Time,
		})
		k.equal("result", put, &agent.CheckpointResult{
			Key: "agent/1 é", Incarnation: put.Incarnation, Revision: 1, CreatedAt: result.Time, UpdatedAt: result.Time,
		})
		if put.Incarnation == 0 {
			k.Fatal("it has no incarnation")
		}
	}},

	{"S-2_white_space_goes_and_defaults_come", func(k *kit) {
		k.commit(&agent.PutCheckpoint{Key: "k", State: agent.JSON(" { \"a\" :\n[ 1 , 2 ] } ")})
		got := find[*agent.Checkpoint](k, &agent.GetCheckpoint{Key: "k"})
		if string(got.State) != `{"a":[1,2]}` || string(got.Metadata) != `{}` || got.Version != 1 || got.Thread != nil {
			k.Fatalf("stored %+v with state %s, metadata %s", got, got.State, got.Metadata)
		}
	}},

	{"S-3_put_overwrites", func(k *kit) {
		first := k.commit(&agent.PutCheckpoint{Key: "k", State: agent.JSON(`{"a":1,"b":2}`), Lifecycle: "idle"})
		second := k.commit(&agent.PutCheckpoint{Key: "k", State: agent.JSON(`{"a":3}`)})
		got := find[*agent.Checkpoint](k, &agent.GetCheckpoint{Key: "k"})
		if string(got.State) != `{"a":3}` || got.Lifecycle != "" || got.Revision != 2 {
			k.Fatalf("stored %+v with state %s", got, got.State)
		}
		if got.CreatedAt != first.Time || got.UpdatedAt != second.Time {
			k.Fatalf("created %d, updated %d; want %d, %d", got.CreatedAt, got.UpdatedAt, first.Time, second.Time)
		}
		if a, b := resultOf[*agent.CheckpointResult](k, first, 0), resultOf[*agent.CheckpointResult](k, second, 0); a.Incarnation != b.Incarnation {
			k.Fatalf("overwriting took it from incarnation %d to %d", a.Incarnation, b.Incarnation)
		}
	}},

	{"S-4_delete_is_fine_where_nothing_is_and_leaves_nothing", func(k *kit) {
		if r := apply[*agent.DeleteResult](k, &agent.DeleteCheckpoint{Key: "k"}); r.Existed {
			k.Fatal("it existed")
		}
		put := apply[*agent.CheckpointResult](k, &agent.PutCheckpoint{Key: "k"})
		if r := apply[*agent.DeleteResult](k, &agent.DeleteCheckpoint{Key: "k"}); !r.Existed || r.Incarnation != put.Incarnation {
			k.Fatalf("deleted %+v, want incarnation %d", r, put.Incarnation)
		}
		k.lacks(agent.CodeNotFound, &agent.GetCheckpoint{Key: "k"})
		if r := apply[*agent.DeleteResult](k, &agent.DeleteCheckpoint{Key: "k"}); r.Existed {
			k.Fatal("it existed after it was deleted")
		}
	}},

	{"S-6_checkpoints_threads_and_values_never_collide", func(k *kit) {
		k.commit(&agent.PutCheckpoint{Key: "x", State: agent.JSON(`{"i":"am a checkpoint"}`)},
			&agent.PutValue{Key: "x", Bytes: []byte("i am a value")})
		k.appendTo("x", message("m", "i am a thread"))
		k.commit(&agent.DeleteValue{Key: "x"})
		k.lacks(agent.CodeNotFound, &agent.GetValue{Key: "x"})
		if got := find[*agent.Checkpoint](k, &agent.GetCheckpoint{Key: "x"}); string(got.State) != `{"i":"am a checkpoint"}` {
			k.Fatalf("the checkpoint became %s", got.State)
		}
		if got := k.thread("x"); got.Rev != 1 {
			k.Fatalf("the thread is at rev %d", got.Rev)
		}
	}},

	{"S-6_keys_are_compared_byte_by_byte", func(k *kit) {
		keys := []string{"a", "A", "a/", "/a", "a\x01", "a ", " a", "é", "e\u0301", "1", "01", "...", "a%2Fb", "a/b", "\U0001F600"}
		for _, key := range keys {
			k.commit(&agent.PutValue{Key: key, Bytes: []byte("of " + key)})
		}
		for _, key := range keys {
			if got := find[*agent.Value](k, &agent.GetValue{Key: key}); got.Key != key || string(got.Bytes) != "of "+key {
				k.Fatalf("%q holds %q of %q", key, got.Bytes, got.Key)
			}
		}
		shown := slices.DeleteFunc(keys, func(key string) bool { return strings.Contains(key, "\x01") }) // ids hold no control characters
		for _, key := range shown {
			k.commit(&agent.AppendThread{Thread: key, Entries: []agent.Draft{message(key, "hi")}})
		}
		for _, key := range shown {
			if got := ids(k.entries(key)); got != key {
				k.Fatalf("thread %q holds the entries %q", key, got)
			}
		}
	}},

	{"S-6_scopes_never_collide", func(k *kit) {
		other := k.in(newName("scope"))
		k.commit(&agent.PutCheckpoint{Key: "k", State: agent.JSON(`{"of":1}`)}, &agent.AppendThread{Thread: "t", Entries: messages("a", 0, 2)})
		other.lacks(agent.CodeNotFound, &agent.GetCheckpoint{Key: "k"})
		other.lacks(agent.CodeNotFound, &agent.GetThread{Thread: "t"})
		other.commit(&agent.PutCheckpoint{Key: "k", State: agent.JSON(`{"of":2}`)}, &agent.AppendThread{Thread: "t", Entries: messages("b", 0, 1)})
		if got := find[*agent.Checkpoint](k, &agent.GetCheckpoint{Key: "k"}); string(got.State) != `{"of":1}` {
			k.Fatalf("the first scope's became %s", got.State)
		}
		if got := ids(k.entries("t")); got != "a0 a1" {
			k.Fatalf("the first scope's thread holds %q", got)
		}
		other.commit(&agent.DeleteThread{Thread: "t"})
		if k.thread("t").Rev != 2 {
			k.Fatal("deleting in one scope reached the other")
		}
	}},

	{"if_revision_of_a_checkpoint", func(k *kit) {
		k.equal("revision of an absent one", k.refuse(agent.CodeRevisionMismatch, 0, &agent.PutCheckpoint{Key: "k", IfRevision: ptr(uint64(1))}).Revision, uint64(0))
		k.commit(&agent.PutCheckpoint{Key: "k", State: agent.JSON(`{"n":1}`), IfRevision: ptr(uint64(0))})
		k.equal("revision", k.refuse(agent.CodeRevisionMismatch, 0, &agent.PutCheckpoint{Key: "k", IfRevision: ptr(uint64(0))}).Revision, uint64(1))
		k.commit(&agent.PutCheckpoint{Key: "k", State: agent.JSON(`{"n":2}`), IfRevision: ptr(uint64(1))})
		k.equal("revision", k.refuse(agent.CodeRevisionMismatch, 0, &agent.PutCheckpoint{Key: "k", IfRevision: ptr(uint64(1))}).Revision, uint64(2))
		k.equal("revision", k.refuse(agent.CodeRevisionMismatch, 0, &agent.DeleteCheckpoint{Key: "k", IfRevision: ptr(uint64(1))}).Revision, uint64(2))
		if got := find[*agent.Checkpoint](k, &agent.GetCheckpoint{Key: "k"}); string(got.State) != `{"n":2}` {
			k.Fatalf("after refusals the state is %s", got.State)
		}
		k.commit(&agent.DeleteCheckpoint{Key: "k", IfRevision: ptr(uint64(2))})
		k.commit(&agent.PutCheckpoint{Key: "k", IfRevision: ptr(uint64(0))})
	}},

	{"a_checkpoint_may_expire", func(k *kit) {
		result := k.commit(&agent.PutCheckpoint{Key: "k", TTL: agent.TTLMax}, &agent.PutValue{Key: "v", TTL: agent.TTLMax})
		checkpoint := find[*agent.Checkpoint](k, &agent.GetCheckpoint{Key: "k"})
		k.equal("checkpoint expires", checkpoint.ExpiresAt, result.Time+agent.TTLMax.Milliseconds())
		value := find[*agent.Value](k, &agent.GetValue{Key: "v"})
		k.equal("value expires", value.ExpiresAt, result.Time+agent.TTLMax.Milliseconds())

		k.commit(&agent.PutCheckpoint{Key: "k"}, &agent.PutValue{Key: "v"})
		k.equal("checkpoint written without a ttl expires", find[*agent.Checkpoint](k, &agent.GetCheckpoint{Key: "k"}).ExpiresAt, int64(0))
		k.equal("R-3 value written without a ttl expires", find[*agent.Value](k, &agent.GetValue{Key: "v"}).ExpiresAt, int64(0))
	}},
}
