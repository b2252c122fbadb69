package agenttest

import (
	"fmt"
	"strings"

	"dormouse/agent"
)

var entryClaims = []claim{
	{"bytes_are_kept_beside_the_payload", func(k *kit) {
		blob := []byte("\x00\xff{not JSON")
		first := k.appendTo("t", agent.Draft{ID: "b", Bytes: blob}, agent.Draft{ContentType: "image/png", Bytes: blob, Payload: agent.JSON(`{"n":1}`)},
			agent.Draft{ContentType: "text/plain"}, agent.Draft{})
		got := k.entries("t")
		for i, want := range []string{agent.DefaultContentType, "image/png", "text/plain", ""} {
			k.equal("content type", got[i].ContentType, want)
		}
		k.equal("bytes", []string{string(got[0].Bytes), string(got[1].Bytes), string(got[2].Bytes)}, []string{string(blob), string(blob), ""})
		k.equal("payloads", []string{string(got[0].Payload), string(got[1].Payload)}, []string{`{}`, `{"n":1}`})
		k.verified("t")
		// A retry has the same bytes; others are another entry.
		again := k.appendTo("t", agent.Draft{ID: "b", Bytes: blob})
		k.equal("stamp", again.Entries[0], first.Entries[0])
		k.refuse(agent.CodeDuplicateEntry, 0, &agent.AppendThread{Thread: "t", Entries: []agent.Draft{{ID: "b", Bytes: []byte("other")}}})
		k.refuse(agent.CodeDuplicateEntry, 0, &agent.AppendThread{Thread: "t", Entries: []agent.Draft{{ID: "b", ContentType: "text/plain", Bytes: blob}}})
		k.refuseInvalid(agent.CodeInvalid, 0, "entries[0].content_type", &agent.AppendThread{Thread: "t", Entries: []agent.Draft{{ContentType: "a\nb"}}})
		const most = agent.EntryBytesMax - len(agent.DefaultContentType)
		k.appendTo("u", agent.Draft{ContentType: agent.DefaultContentType, Bytes: make([]byte, most)})
		k.refuseInvalid(agent.CodeTooLarge, 0, "entries[0].bytes", &agent.AppendThread{Thread: "u", Entries: []agent.Draft{{ContentType: agent.DefaultContentType, Bytes: make([]byte, most+1)}}})
		k.equal("size", len(k.entries("u")[0].Bytes), most)
		k.commit(&agent.ForkThread{Thread: "t", NewThread: "f"})
		k.equal("bytes of the fork", string(k.entries("f")[0].Bytes), string(blob))
		k.verified("f")
	}},

	{"S-11_the_callers_id_and_time_are_kept", func(k *kit) {
		for i, at := range []int64{1, 1_600_000_000_000, 9_999_999_999_999} {
			k.appendTo("t", agent.Draft{ID: fmt.Sprint("my id/", i), At: &at})
			got := find[*agent.Entry](k, &agent.GetEntry{Thread: "t", Entry: fmt.Sprint("my id/", i)})
			k.equal("time", got.At, at)
			k.equal("seq", got.Seq, uint64(i))
		}
	}},

	{"S-12_default_ids_begin_with_entry_and_are_unique", func(k *kit) {
		seen := map[string]bool{}
		for _, thread := range []string{"t", "u", "t"} {
			for _, stamp := range k.appendTo(thread, make([]agent.Draft, 20)...).Entries {
				if !strings.HasPrefix(stamp.ID, "entry_") || seen[stamp.ID] {
					k.Fatalf("entry %d has the id %q; seen before: %v", stamp.Seq, stamp.ID, seen[stamp.ID])
				}
				seen[stamp.ID] = true
				got := find[*agent.Entry](k, &agent.GetEntry{Thread: thread, Entry: stamp.ID})
				k.equal("entry by its generated id", []uint64{got.Seq}, []uint64{stamp.Seq})
			}
		}
	}},

	{"S-13_default_times_of_one_commit_are_equal", func(k *kit) {
		result := k.commit(&agent.AppendThread{Thread: "t", Entries: make([]agent.Draft, 3)}, &agent.AppendThread{Thread: "u", Entries: make([]agent.Draft, 2)})
		for i := range 2 {
			for _, stamp := range resultOf[*agent.ThreadResult](k, result, i).Entries {
				k.equal("time of an entry", stamp.At, result.Time)
			}
		}
	}},

	{"S-15_null_takes_the_default_and_other_types_are_invalid", func(k *kit) {
		k.appendTo("t", agent.Draft{Payload: agent.JSON("null"), Refs: agent.JSON("null")})
		got := k.entries("t")[0]
		k.equal("kind, payload, refs", []string{got.Kind, string(got.Payload), string(got.Refs)}, []string{"note", "{}", "{}"})
		for _, wrong := range []string{"false", "true", "0", "7", `""`, `"text"`, "[]", "[1]", "{"} {
			k.refuseInvalid(agent.CodeInvalid, 0, "entries[0].payload", &agent.AppendThread{Thread: "t", Entries: []agent.Draft{{Payload: agent.JSON(wrong)}}})
			k.refuseInvalid(agent.CodeInvalid, 0, "entries[1].refs", &agent.AppendThread{Thread: "t", Entries: []agent.Draft{{}, {Refs: agent.JSON(wrong)}}})
		}
		k.equal("rev", k.thread("t").Rev, uint64(1))
	}},

	{"S-21_no_write_leaves_what_cannot_be_read", func(k *kit) {
		k.appendTo("t", agent.Draft{Kind: "a string, and any string"}, agent.Draft{Kind: "Häkchen ✓"})
		for _, poison := range []agent.Draft{
			{Kind: "\xff"},
			{ID: "\xc3\x28"},
			{Payload: agent.JSON("\"\xff\"")},
			{Payload: agent.JSON("{\"a\":\"\xff\"}")},
			{Payload: agent.JSON(`{"a":1,"a":2}`)},
			{Refs: agent.JSON(`{"a":"\ud800"}`)},
			{Payload: agent.JSON(strings.Repeat(`{"a":`, agent.JSONDepthMax+1) + "1" + strings.Repeat("}", agent.JSONDepthMax+1))},
		} {
			_, err := k.send(agent.Commit{Ops: []agent.Op{&agent.AppendThread{Thread: "t", Entries: []agent.Draft{poison}}}})
			k.refused(agent.CodeInvalid, 0, err)
		}
		k.equal("entries", len(k.entries("t")), 2)
	}},

	{"S-21_payloads_come_back_as_they_went_in", func(k *kit) {
		payloads := []string{
			`{}`, `{"z":1,"a":2}`, `{"n":18446744073709551615,"m":-9223372036854775808}`, `{"f":[1.0,1,0.1e-7,1E400]}`,
			`{"html":"<script>&amp;</script>"}`, `{"u":"\u2028\u2029 \u0000 é 😀 \ud83d\ude00"}`, `{"":{"":[[],{},null]}}`,
			strings.Repeat(`{"a":`, agent.JSONDepthMax-1) + "{}" + strings.Repeat("}", agent.JSONDepthMax-1),
		}
		drafts := make([]agent.Draft, len(payloads))
		for i, p := range payloads {
			drafts[i] = agent.Draft{Payload: agent.JSON(p), Refs: agent.JSON(p)}
		}
		k.appendTo("t", drafts...)
		for i, e := range k.entries("t") {
			k.equal("payload", string(e.Payload), payloads[i])
			k.equal("refs", string(e.Refs), payloads[i])
		}
	}},

	{"S-29_thousands_of_entries", func(k *kit) {
		const rounds, each = 3, 1000
		for i := range rounds {
			k.commit(&agent.AppendThread{Thread: "t", Entries: messages("m", i*each, each), ExpectedRev: ptr(uint64(i * each))})
		}
		entries := k.entries("t")
		k.equal("number of entries", len(entries), rounds*each)
		for i, e := range entries {
			if e.Seq != uint64(i) || e.ID != fmt.Sprint("m", i) {
				k.Fatalf("entry %d is %q at seq %d", i, e.ID, e.Seq)
			}
		}
		k.equal("head", k.thread("t").Head, chain(entries...))
	}},

	{"S-29_large_payloads", func(k *kit) {
		body := func(size int) agent.JSON { return agent.JSON(`{"b":"` + strings.Repeat("x", size-8) + `"}`) }
		const room = agent.EntryBytesMax - len("big") - len("message")
		k.appendTo("t", agent.Draft{ID: "big", Kind: "message", Payload: body(room)})
		k.equal("payload", len(find[*agent.Entry](k, &agent.GetEntry{Thread: "t", Entry: "big"}).Payload), room)
		k.refuseInvalid(agent.CodeTooLarge, 0, "entries[0].payload", &agent.AppendThread{Thread: "t", Entries: []agent.Draft{{ID: "big", Kind: "message", Payload: body(room + 1)}}})

		k.commit(&agent.PutCheckpoint{Key: "k", State: body(agent.CheckpointBytesMax - 2)})
		k.equal("state", len(find[*agent.Checkpoint](k, &agent.GetCheckpoint{Key: "k"}).State), agent.CheckpointBytesMax-2)
		k.refuseInvalid(agent.CodeTooLarge, 0, "state", &agent.PutCheckpoint{Key: "k", State: body(agent.CheckpointBytesMax - 1)})

		k.commit(&agent.PutValue{Key: "k", Bytes: make([]byte, agent.ValueBytesMax)})
		k.equal("value", len(find[*agent.Value](k, &agent.GetValue{Key: "k"}).Bytes), agent.ValueBytesMax)
		k.refuseInvalid(agent.CodeTooLarge, 0, "bytes", &agent.PutValue{Key: "k", Bytes: make([]byte, agent.ValueBytesMax+1)})
	}},
}

var duplicateClaims = []claim{
	{"S-30_an_id_that_is_there_with_equal_content_is_skipped", func(k *kit) {
		first := k.appendTo("t", messages("m", 0, 3)...)
		result := k.appendTo("t", message("m1", "m says 1"), message("m3", "m says 3"))
		k.equal("rev", result.Thread.Rev, uint64(4))
		k.equal("stamps", result.Entries, []agent.EntryStamp{first.Entries[1], {ID: "m3", Seq: 3, At: 1_700_000_000_123}})
		k.equal("entries", ids(k.entries("t")), "m0 m1 m2 m3")
	}},

	{"S-30_an_id_that_is_there_with_other_content_is_refused", func(k *kit) {
		k.appendTo("t", messages("m", 0, 3)...)
		before := k.thread("t")
		for _, other := range []agent.Draft{
			message("m1", "something else"),
			{ID: "m1", Kind: "note", Payload: agent.JSON(`{"text":"m says 1"}`)},
			{ID: "m1", At: ptr(int64(5)), Kind: "message", Payload: agent.JSON(`{"text":"m says 1"}`)},
			{ID: "m1", Kind: "message", Payload: agent.JSON(`{"text":"m says 1"}`), Refs: agent.JSON(`{"a":1}`)},
		} {
			e := k.refuse(agent.CodeDuplicateEntry, 0, &agent.AppendThread{Thread: "t", Entries: []agent.Draft{message("new", "new"), other}})
			k.equal("seq told", e.Seq, uint64(1))
		}
		k.equal("the thread after refusals", k.thread("t"), before)
	}},

	{"S-30_ids_are_unique_within_one_commit_too", func(k *kit) {
		result := k.appendTo("t", message("a", "x"), message("b", "y"), message("a", "x"))
		k.equal("rev", result.Thread.Rev, uint64(2))
		k.equal("seq of the second a", result.Entries[2].Seq, uint64(0))
		e := k.refuse(agent.CodeDuplicateEntry, 1,
			&agent.AppendThread{Thread: "t", Entries: []agent.Draft{message("c", "x")}},
			&agent.AppendThread{Thread: "t", Entries: []agent.Draft{message("c", "z")}})
		k.equal("seq told", e.Seq, uint64(2))
		k.equal("rev", k.thread("t").Rev, uint64(2))
	}},

	{"S-30_the_rev_is_checked_before_the_ids", func(k *kit) {
		k.appendTo("t", messages("m", 0, 2)...)
		k.refuse(agent.CodeConflict, 0, &agent.AppendThread{Thread: "t", Entries: messages("m", 0, 2), ExpectedRev: ptr(uint64(0))})
		k.commit(&agent.AppendThread{Thread: "t", Entries: messages("m", 0, 2), ExpectedRev: ptr(uint64(2))})
		k.equal("rev", k.thread("t").Rev, uint64(2))
	}},

	{"S-30_generated_ids_are_known_again", func(k *kit) {
		first := k.appendTo("t", agent.Draft{Payload: agent.JSON(`{"n":1}`)}, agent.Draft{Payload: agent.JSON(`{"n":2}`)})
		id := first.Entries[1].ID
		again := k.appendTo("t", agent.Draft{ID: id, Payload: agent.JSON(`{"n":2}`)})
		k.equal("rev", again.Thread.Rev, uint64(2))
		k.equal("stamp", again.Entries, first.Entries[1:])
		e := k.refuse(agent.CodeDuplicateEntry, 0, &agent.AppendThread{Thread: "t", Entries: []agent.Draft{{ID: id, Payload: agent.JSON(`{"n":3}`)}}})
		k.equal("seq told", e.Seq, uint64(1))
		// In another thread the id has no special meaning.
		k.appendTo("u", agent.Draft{ID: id, Payload: agent.JSON(`{"n":3}`)}, agent.Draft{})
		k.equal("entry in the other thread", find[*agent.Entry](k, &agent.GetEntry{Thread: "u", Entry: id}).Seq, uint64(0))
	}},

	{"entries_are_found_by_their_ids", func(k *kit) {
		k.appendTo("t", messages("m", 0, 5)...)
		all := k.entries("t")
		for _, want := range all {
			k.equal("entry", *find[*agent.Entry](k, &agent.GetEntry{Thread: "t", Entry: want.ID}), want)
		}
		k.lacks(agent.CodeNotFound, &agent.GetEntry{Thread: "t", Entry: "m5"})
		k.lacks(agent.CodeNotFound, &agent.GetEntry{Thread: "t", Entry: "entry_1_2"})
	}},
}
