package thread

import (
	"bytes"
	"strings"
	"testing"

	"pgregory.net/rapid"

	apipb "dormouse/proto/api"
	logpb "dormouse/proto/log"
)

// entryRow draws a row with any fields, among them those that rows of older versions lack.
func entryRow(t *rapid.T) *logpb.EntryRow {
	payload := rapid.SampledFrom([][]byte{nil, []byte("{}"), []byte("null"), []byte(" null "), []byte(`{"a":1}`), bytes.Repeat([]byte("x"), 200), bytes.Repeat([]byte("y"), 20_000)})
	text := rapid.SampledFrom([]string{"", "a", "message", "k\u00e9y", strings.Repeat("k", 130)})
	row := &logpb.EntryRow{
		Id: text.Draw(t, "id"), At: rapid.Int64().Draw(t, "at"), Kind: text.Draw(t, "kind"),
		Payload: payload.Draw(t, "payload"), Refs: payload.Draw(t, "refs"),
		Head: make([]byte, 32), Offset: rapid.Uint64().Draw(t, "offset"),
		ContentType: text.Draw(t, "content type"), Bytes: payload.Draw(t, "bytes"),
	}
	return row
}

// What is encoded from a row equals what is encoded from the entry in it, byte by byte.
func TestAnEncodedRowIsItsEntryEncoded(t *testing.T) {
	var e encodedEntry // is used again, as for the rows of a thread
	rapid.Check(t, func(t *rapid.T) {
		raw := entryRow(t).Encode()
		for range rapid.SampledFrom([]int{0, 0, 1, 2}).Draw(t, "changes") { // damage, and fields of newer versions
			raw[rapid.IntRange(0, len(raw)-1).Draw(t, "changed")] = rapid.Byte().Draw(t, "to")
		}
		incarnation, seq := rapid.Uint64().Draw(t, "incarnation"), rapid.Uint64().Draw(t, "seq")
		row := &logpb.EntryRow{}
		want := decodeEntryRow(seq, raw, row)
		err := e.read(raw, incarnation, seq)
		if (err == nil) != (want == nil) {
			t.Fatalf("%x: %v, want %v", raw, err, want)
		}
		if err != nil {
			return
		}
		entry := entryOf(row, incarnation, seq)
		message := &apipb.Thawed{Entries: []*apipb.Entry{{
			Id: entry.ID, Seq: entry.Seq, At: entry.At, Kind: entry.Kind, Payload: entry.Payload, Refs: entry.Refs,
			ContentType: entry.ContentType, Bytes: entry.Bytes,
		}}}
		before := []byte("what is before it")
		got := e.appendTo(bytes.Clone(before))
		if !bytes.Equal(got, append(before, message.Encode()...)) {
			t.Fatalf("%x is encoded as %x, want %x", raw, got, message.Encode())
		}
		if e.bytes() != entry.Size() {
			t.Errorf("%d bytes are counted, want %d", e.bytes(), entry.Size())
		}
	})
}

func BenchmarkEncodeEntry(b *testing.B) {
	raw := (&logpb.EntryRow{
		At: 1764165600000, Kind: "message", Payload: []byte(`{"x":"` + strings.Repeat("x", 292) + `"}`), Refs: []byte("{}"), Head: make([]byte, 32), Offset: 15000,
	}).Encode()
	var e encodedEntry
	var buffer []byte
	b.ReportAllocs()
	for b.Loop() {
		if err := e.read(raw, 12<<16, 49); err != nil {
			b.Fatal(err)
		}
		buffer = e.appendTo(buffer[:0])
	}
}
