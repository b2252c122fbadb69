package kv_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"dormouse/fsm/kv"
)

// entryAt is the encoding of the entry at a seq in these tests. It counts for seq bytes.
func entryAt(seq uint64) string { return fmt.Sprintf("[%d%s]", seq, strings.Repeat("x", int(seq%5))) }

// wantSlice checks that a slice of a tail has the entries between two seqs.
func wantSlice(t *rapid.T, tail kv.Tail, from, to uint64) {
	var want string
	var bytes int
	for seq := from; seq < to; seq++ {
		want += entryAt(seq)
		bytes += int(seq)
	}
	if got, counted := tail.Slice(from, to); string(got) != want || counted != bytes {
		t.Fatalf("entries %d to %d are %q and count for %d bytes, want %q and %d", from, to, got, counted, want, bytes)
	}
}

// Each slice of a tail has the entries that were written, also after the tail was copied from a seq on
// and continued.
func TestATailHasTheEntriesThatWereWritten(t *testing.T) {
	var w kv.TailWriter // is used again
	rapid.Check(t, func(t *rapid.T) {
		from := rapid.Uint64Range(0, 100).Draw(t, "from")
		write := func(from, to uint64) {
			for seq := from; seq < to; seq++ {
				w.Entries = append(w.Entries, entryAt(seq)...)
				w.Mark(int(seq))
			}
		}
		to := from + rapid.Uint64Range(0, 20).Draw(t, "entries")
		w.Begin(7, from)
		write(from, to)
		for range 3 {
			const key = "thread"
			piece := w.End(key)
			if !bytes.HasPrefix(piece, []byte(key)) {
				t.Fatalf("%q does not begin with the key", piece)
			}
			tail := kv.DecodeTail(piece[len(key):])
			if tail.Incarnation != 7 || tail.From != from || tail.To != to {
				t.Fatalf("the tail has entries %d to %d of incarnation %d, want %d to %d", tail.From, tail.To, tail.Incarnation, from, to)
			}
			begin := rapid.Uint64Range(from, to).Draw(t, "begin")
			wantSlice(t, tail, begin, rapid.Uint64Range(begin, to).Draw(t, "end"))

			w.Begin(7, begin)
			w.Copy(tail, begin)
			from, to = begin, to+rapid.Uint64Range(0, 5).Draw(t, "more")
			write(tail.To, to)
		}
	})
}

// tailOf returns a tail of one entry, as a cache takes it.
func tailOf(key, entry string) []byte {
	var w kv.TailWriter
	w.Begin(1, 0)
	w.Entries = append(w.Entries, entry...)
	w.Mark(len(entry))
	return w.End(key)
}

// A tail is cached up to TailMax, and replaces an older one. It is not added if an entry was applied meanwhile.
func TestAReadCacheHoldsTails(t *testing.T) {
	c := kv.NewReadCache(32 << 20)
	key := kv.IDKey(kv.KindThread, "s", "t")
	overhead := len(tailOf(key, ""))
	for _, want := range []struct {
		entry  string
		cached bool
	}{
		{strings.Repeat("a", kv.TailMax-overhead), true},
		{"b", true},
		{strings.Repeat("c", kv.TailMax-overhead+1), false},
	} {
		c.KeepTail(key, tailOf(key, want.entry), c.Epoch())
		tail, ok := c.Tail(key)
		if !ok {
			t.Fatal("the tail is not there")
		}
		if got, _ := tail.Slice(0, 1); string(got) == want.entry != want.cached {
			t.Errorf("the tail has %d bytes; a tail of %d is cached: %v", len(got), len(want.entry), want.cached)
		}
	}
	before := c.Epoch()
	c.Begin(kv.NewOverlay(nil), false)
	c.KeepTail(key, tailOf(key, "d"), c.Epoch())
	c.End()
	c.KeepTail(key, tailOf(key, "d"), before)
	tail, _ := c.Tail(key)
	if got, _ := tail.Slice(0, 1); string(got) != "b" {
		t.Errorf("a tail that was read before an entry is cached after it: %q", got)
	}
}

// Tails have a quarter of a cache's bytes, so that they do not displace its rows.
func TestTailsHaveAPartOfAReadCache(t *testing.T) {
	const bytesMax = 1 << 20
	c := kv.NewReadCache(bytesMax)
	for i := range 1000 {
		key := kv.IDKey(kv.KindThread, "s", fmt.Sprint(i))
		c.KeepTail(key, tailOf(key, strings.Repeat("x", 4<<10)), c.Epoch())
	}
	if got := c.Bytes(); got > bytesMax/4 || got < bytesMax/8 {
		t.Errorf("tails have %d bytes of %d", got, bytesMax)
	}
}
