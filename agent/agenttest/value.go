package agenttest

import (
	"bytes"

	"dormouse/agent"
)

var valueClaims = []claim{
	{"values_are_opaque_bytes", func(k *kit) {
		all := make([]byte, 256)
		for i := range all {
			all[i] = byte(i)
		}
		for _, content := range [][]byte{{}, {0}, all, []byte(`{"not": "compacted"}`), bytes.Repeat(all, 1000)} {
			result := k.commit(&agent.PutValue{Key: "v", ContentType: "application/x-thing; a=b", Bytes: content})
			got := find[*agent.Value](k, &agent.GetValue{Key: "v"})
			if !bytes.Equal(got.Bytes, content) {
				k.Fatalf("%d bytes came back as %d others", len(content), len(got.Bytes))
			}
			k.equal("type, updated", []any{got.ContentType, got.UpdatedAt}, []any{"application/x-thing; a=b", result.Time})
		}
	}},

	{"values_count_their_revisions", func(k *kit) {
		first := k.commit(&agent.PutValue{Key: "v", Bytes: []byte("1")})
		second := k.commit(&agent.PutValue{Key: "v", Bytes: []byte("2")})
		got := find[*agent.Value](k, &agent.GetValue{Key: "v"})
		k.equal("value", got, &agent.Value{
			Key: "v", Incarnation: got.Incarnation, Revision: 2, Bytes: []byte("2"), CreatedAt: first.Time, UpdatedAt: second.Time,
		})
		k.equal("result", resultOf[*agent.ValueResult](k, second, 0), &agent.ValueResult{
			Key: "v", Incarnation: got.Incarnation, Revision: 2, CreatedAt: first.Time, UpdatedAt: second.Time,
		})
	}},

	{"deleting_a_value", func(k *kit) {
		if r := apply[*agent.DeleteResult](k, &agent.DeleteValue{Key: "v"}); r.Existed {
			k.Fatal("it existed")
		}
		put := apply[*agent.ValueResult](k, &agent.PutValue{Key: "v"})
		if r := apply[*agent.DeleteResult](k, &agent.DeleteValue{Key: "v"}); !r.Existed || r.Incarnation != put.Incarnation {
			k.Fatalf("deleted %+v, want incarnation %d", r, put.Incarnation)
		}
		k.lacks(agent.CodeNotFound, &agent.GetValue{Key: "v"})
	}},

	{"if_revision_of_a_value", func(k *kit) {
		k.equal("revision told", k.refuse(agent.CodeRevisionMismatch, 0, &agent.PutValue{Key: "v", IfRevision: ptr(uint64(1))}).Revision, uint64(0))
		k.commit(&agent.PutValue{Key: "v", Bytes: []byte("1"), IfRevision: ptr(uint64(0))})
		k.equal("revision told", k.refuse(agent.CodeRevisionMismatch, 0, &agent.PutValue{Key: "v", IfRevision: ptr(uint64(0))}).Revision, uint64(1))
		k.commit(&agent.PutValue{Key: "v", Bytes: []byte("2"), IfRevision: ptr(uint64(1))})
		k.equal("revision told", k.refuse(agent.CodeRevisionMismatch, 0, &agent.DeleteValue{Key: "v", IfRevision: ptr(uint64(1))}).Revision, uint64(2))
		k.commit(&agent.DeleteValue{Key: "v", IfRevision: ptr(uint64(2))})
	}},

	{"V-1_compare_with_absent", func(k *kit) {
		var absent []byte
		k.commit(&agent.PutValue{Key: "v", Bytes: []byte("1"), IfBytes: &absent})
		k.refuse(agent.CodeRevisionMismatch, 0, &agent.PutValue{Key: "v", Bytes: []byte("2"), IfBytes: &absent})
		k.equal("value", string(find[*agent.Value](k, &agent.GetValue{Key: "v"}).Bytes), "1")
	}},

	{"V-2_compare_byte_by_byte", func(k *kit) {
		k.commit(&agent.PutValue{Key: "v", Bytes: []byte("a\x00b")})
		for _, other := range []string{"a\x00", "a\x00c", "a\x00b ", "", "A\x00B"} {
			k.refuse(agent.CodeRevisionMismatch, 0, &agent.PutValue{Key: "v", Bytes: []byte("new"), IfBytes: ptr([]byte(other))})
			k.refuse(agent.CodeRevisionMismatch, 0, &agent.DeleteValue{Key: "v", IfBytes: ptr([]byte(other))})
		}
		k.commit(&agent.PutValue{Key: "v", Bytes: []byte{}, IfBytes: ptr([]byte("a\x00b"))})
		k.refuse(agent.CodeRevisionMismatch, 0, &agent.PutValue{Key: "w", IfBytes: ptr([]byte{})}) // empty differs from absent
		k.commit(&agent.PutValue{Key: "v", Bytes: []byte("x"), IfBytes: ptr([]byte{})})
		k.commit(&agent.DeleteValue{Key: "v", IfBytes: ptr([]byte("x"))})
		k.lacks(agent.CodeNotFound, &agent.GetValue{Key: "v"})
	}},

	{"V-3_a_mismatch_leaves_value_and_ttl", func(k *kit) {
		k.commit(&agent.PutValue{Key: "v", Bytes: []byte("1"), TTL: agent.TTLMax})
		before := find[*agent.Value](k, &agent.GetValue{Key: "v"})
		k.refuse(agent.CodeRevisionMismatch, 0, &agent.PutValue{Key: "v", Bytes: []byte("2"), IfBytes: ptr([]byte("other"))})
		k.refuse(agent.CodeRevisionMismatch, 0, &agent.PutValue{Key: "v", Bytes: []byte("2"), IfRevision: ptr(uint64(7))})
		k.equal("value", find[*agent.Value](k, &agent.GetValue{Key: "v"}), before)
	}},
}
