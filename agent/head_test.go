package agent_test

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"dormouse/agent"
)

// chainByTheBook computes the chain as docs/design.md defines it, independently of the
// code.
func chainByTheBook(h agent.Head, id string, at int64, kind, payload, refs string) agent.Head {
	var in []byte
	part := func(s string) {
		in = binary.BigEndian.AppendUint64(in, uint64(len(s)))
		in = append(in, s...)
	}
	in = append(in, h[:]...)
	part(id)
	in = binary.BigEndian.AppendUint64(in, uint64(at))
	part(kind)
	part(payload)
	part(refs)
	return sha256.Sum256(in)
}

func TestHeadIsTheHashOfTheOneBeforeAndTheEntry(t *testing.T) {
	var h agent.Head
	if h.String() != strings.Repeat("0", 64) {
		t.Fatalf("the head of an empty thread is %s", h)
	}
	for _, c := range []struct {
		id            string
		at            int64
		kind          string
		payload, refs string
	}{
		{"e1", 1700000000000, "message", `{"a":1}`, `{}`},
		{strings.Repeat("é", 256), -1, strings.Repeat("k", 128), `{}`, `{"entry_id":"e1"}`},
		{strings.Repeat("x", 5000), 0, strings.Repeat("y", 5000), strings.Repeat(" ", 5000), ""},
		{"", 0, "", "", ""},
	} {
		want := chainByTheBook(h, c.id, c.at, c.kind, c.payload, c.refs)
		if h = h.Next(c.id, c.at, c.kind, agent.JSON(c.payload), agent.JSON(c.refs)); h != want {
			t.Fatalf("after %.10q: %s, want %s", c.id, h, want)
		}
	}
	// This value must never change, because stored chains depend on it. It was
	// computed separately, in Python.
	const first = "ab66cec6b05c7721b0cbdf1a4ab6cb12b3b8f8a8f65512d3387c9adb7b668217"
	if got := (agent.Head{}).Next("e1", 1700000000000, "message", agent.JSON(`{"a":1}`), agent.JSON(`{}`)).String(); got != first {
		t.Fatalf("the chain of the first entry became %s", got)
	}
}

func TestParseHeadReadsWhatStringWrites(t *testing.T) {
	h := (agent.Head{}).Next("a", 1, "b", nil, nil)
	for _, text := range []string{h.String(), strings.ToUpper(h.String())} {
		if got, err := agent.ParseHead(text); err != nil || got != h {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "ab", h.String()[1:], h.String() + "00", strings.Repeat("g", 64), " " + h.String()[1:]} {
		if _, err := agent.ParseHead(text); !errors.Is(err, agent.ErrInvalid) {
			t.Errorf("%q: %v; want invalid", text, err)
		}
	}
}

func FuzzHead(f *testing.F) {
	f.Add("ab", int64(0), "c", "{}", "{}", "a", int64(0), "bc", "{}", "{}")
	f.Add("", int64(0), "", "{}", "", "", int64(0), "", "", "{}")
	f.Add("a", int64(1), "", "", "", "", int64(1), "a", "", "")
	f.Fuzz(func(t *testing.T, id1 string, at1 int64, kind1, payload1, refs1, id2 string, at2 int64, kind2, payload2, refs2 string) {
		var zero agent.Head
		first := zero.Next(id1, at1, kind1, agent.JSON(payload1), agent.JSON(refs1))
		second := zero.Next(id2, at2, kind2, agent.JSON(payload2), agent.JSON(refs2))
		if want := chainByTheBook(zero, id1, at1, kind1, payload1, refs1); first != want {
			t.Fatalf("head %s, want %s", first, want)
		}
		same := id1 == id2 && at1 == at2 && kind1 == kind2 && payload1 == payload2 && refs1 == refs2
		if (first == second) != same {
			t.Fatalf("equal heads: %v, equal entries: %v", first == second, same)
		}
		if first.Next(id1, at1, kind1, nil, nil) == zero.Next(id1, at1, kind1, nil, nil) {
			t.Fatal("the head before does not count")
		}
	})
}

func BenchmarkHead(b *testing.B) {
	payload := agent.JSON(`{"role":"user","content":"` + strings.Repeat("x", 220) + `"}`)
	var h agent.Head
	b.ReportAllocs()
	for b.Loop() {
		h = h.Next("entry_1f3g_2a", 1700000000000, "message", payload, agent.JSON("{}"))
	}
}
