package convert_test

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"dormouse/agent"
	"dormouse/api/convert"
	apipb "dormouse/proto/api"
	"dormouse/proto/codec"
)

// received returns the answer that a client gets for a thaw, over frames or gRPC.
func received(raw []byte) (*agent.Thawed, error) {
	m := &apipb.ReadResponse{}
	if err := codec.Decode(m, raw); err != nil {
		return nil, err
	}
	answers, err := convert.AnswersFromProto(m)
	if err != nil {
		return nil, err
	}
	return answers.Answers[0].Found.(*agent.Thawed), nil
}

// A client gets the same entries, whether the server encodes them from messages or has them encoded.
func TestEncodedEntriesAreThoseOfTheMessages(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		decoded := &agent.Thawed{
			Checkpoint: checkpoint(t), Thread: make1[agent.Thread](t), Ahead: rapid.Uint64().Draw(t, "ahead"),
			Entries: rapid.Make[[]agent.Entry]().Draw(t, "entries"),
		}
		for i := range decoded.Entries {
			if rapid.Bool().Draw(t, "same kind") {
				decoded.Entries[i].Kind = agent.KindMessage
			}
			if rapid.Bool().Draw(t, "long") {
				decoded.Entries[i].Payload = bytes.Repeat([]byte("x"), rapid.IntRange(1, 40_000).Draw(t, "length"))
			}
		}
		encoded := *decoded
		entries := &apipb.Thawed{}
		for _, e := range decoded.Entries {
			entries.Entries = append(entries.Entries, &apipb.Entry{
				Id: e.ID, Seq: e.Seq, At: e.At, Kind: e.Kind, Payload: e.Payload, Refs: e.Refs, ContentType: e.ContentType, Bytes: e.Bytes,
			})
		}
		encoded.Entries, encoded.Encoded = nil, entries.Encode()
		var got [2]*agent.Thawed
		for i, thawed := range []*agent.Thawed{decoded, &encoded} {
			raw := convert.AnswersToProto(&agent.Answers{Answers: []agent.Answer{{Found: thawed}}}).Encode()
			var err error
			if got[i], err = received(raw); err != nil {
				t.Fatal(err)
			}
			clear(raw) // a frame's buffer is used again
		}
		if !reflect.DeepEqual(got[0], got[1]) {
			t.Fatalf("decoded %+v, encoded %+v", got[0], got[1])
		}
		if n := len(got[0].Entries); n != len(decoded.Entries) {
			t.Fatalf("%d entries, want %d", n, len(decoded.Entries))
		}
		for i, e := range got[0].Entries {
			want := decoded.Entries[i]
			if e.ID != want.ID || e.Seq != want.Seq || e.At != want.At || e.Kind != want.Kind || !bytes.Equal(e.Payload, want.Payload) ||
				!bytes.Equal(e.Refs, want.Refs) || e.ContentType != want.ContentType || !bytes.Equal(e.Bytes, want.Bytes) {
				t.Fatalf("entry %d is %+v, want %+v", i, e, want)
			}
		}
	})
}

// Entries that are malformed, or have strings that are not UTF-8, are no answer. Fields of newer
// versions are ignored.
func TestEntriesFromANodeAreChecked(t *testing.T) {
	good := (&apipb.Thawed{Entries: []*apipb.Entry{{Id: "a", Kind: "note", Payload: []byte("{}")}}}).Encode()
	for name, c := range map[string]struct {
		encoded []byte
		want    string // "" means that it is good
	}{
		"good":               {good, ""},
		"a newer field":      {append([]byte{0x7a, 1, 'x'}, good...), ""},
		"of an entry":        {[]byte{0x1a, 3, 0x7a, 1, 'x'}, ""},
		"a bad id":           {(&apipb.Thawed{Entries: []*apipb.Entry{{Id: "\xff"}}}).Encode(), "not UTF-8"},
		"a bad kind":         {(&apipb.Thawed{Entries: []*apipb.Entry{{Kind: "\xff"}}}).Encode(), "not UTF-8"},
		"a bad content type": {(&apipb.Thawed{Entries: []*apipb.Entry{{ContentType: "\xff"}}}).Encode(), "not UTF-8"},
		"a cut entry":        {[]byte{0x1a, 2, 0x0a, 5}, "unexpected EOF"},
		"a seq that is text": {[]byte{0x1a, 3, 0x12, 1, 'x'}, "field 2 has the wire type 2"},
		"an id that is one":  {[]byte{0x1a, 2, 0x08, 1}, "field 1 has the wire type 0"},
		"an entry as number": {append(bytes.Clone(good), 0x18, 1), "field 3 has the wire type 0"},
		"cut between":        {append(bytes.Clone(good), 0x1a, 5), "unexpected EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			thawed := &agent.Thawed{Encoded: c.encoded}
			_, err := received(convert.AnswersToProto(&agent.Answers{Answers: []agent.Answer{{Found: thawed}}}).Encode())
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func BenchmarkReceiveThaw(b *testing.B) {
	entries := make([]agent.Entry, 50)
	for i := range entries {
		entries[i] = agent.Entry{ID: "entry_gw8w_1d", Seq: uint64(i), At: 1764165600000, Kind: agent.KindMessage, Payload: bytes.Repeat([]byte("x"), 300), Refs: agent.JSON("{}")}
	}
	raw := convert.AnswersToProto(&agent.Answers{Answers: []agent.Answer{{Found: &agent.Thawed{Entries: entries}}}}).Encode()
	b.ReportAllocs()
	for b.Loop() {
		if thawed, err := received(raw); err != nil || len(thawed.Entries) != len(entries) {
			b.Fatal(err)
		}
	}
}
