package agent_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"dormouse/agent"
)

func TestCompactKeepsTokensOrderAndLiterals(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"white space goes", " {\n\t\"a\" : [ 1 ,\r2 ] } ", `{"a":[1,2]}`},
		{"order stays", `{"z":1,"a":2,"m":3}`, `{"z":1,"a":2,"m":3}`},
		{"64-bit integers stay", `{"n":9223372036854775807,"m":18446744073709551615}`, `{"n":9223372036854775807,"m":18446744073709551615}`},
		{"literals stay", `[1.0,1,1e3,1E+3,-0,0.10]`, `[1.0,1,1e3,1E+3,-0,0.10]`},
		{"escapes stay", `"\u0041\/é\u00e9\n\ud83d\ude00"`, `"\u0041\/é\u00e9\n\ud83d\ude00"`},
		{"HTML is not escaped", `"<a href='x'>&</a>"`, `"<a href='x'>&</a>"`},
		{"space in strings stays", "{ \"a b\" : \" \\\" \" }", `{"a b":" \" "}`},
		{"a backslash ends no string", `[ "\\" , "\\\"" ]`, `["\\","\\\""]`},
		{"empty", ` {} `, `{}`},
		{"null", ` null `, `null`},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := []byte(c.in)
			got, err := agent.Compact(before)
			if err != nil || string(got) != c.want {
				t.Fatalf("Compact(%s) = %s, %v; want %s", c.in, got, err, c.want)
			}
			if string(before) != c.in {
				t.Fatalf("Compact changed its input to %s", before)
			}
		})
	}
}

func TestJSONIsMarshaledAsItIs(t *testing.T) {
	type document struct{ State, None agent.JSON }
	raw, err := json.Marshal(document{State: agent.JSON(`{"n":18446744073709551615,"f":1.0}`)})
	if want := `{"State":{"n":18446744073709551615,"f":1.0},"None":null}`; err != nil || string(raw) != want {
		t.Errorf("%s, %v; want %s", raw, err, want)
	}
	var back document
	if err := json.Unmarshal([]byte(`{"State": {"n": 1}, "None": null}`), &back); err != nil || string(back.State) != `{"n":1}` || back.None != nil {
		t.Errorf("%+v, %v", back, err)
	}
	if err := json.Unmarshal([]byte(`{"State": {"n": 1, "n": 2}}`), &back); err == nil {
		t.Error("members that occur twice are accepted")
	}
	if _, err := json.Marshal(agent.JSON("{")); err == nil {
		t.Error("half a value is marshaled")
	}
}

func TestCompactRefuses(t *testing.T) {
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	if _, err := agent.Compact([]byte(deep(agent.JSONDepthMax))); err != nil {
		t.Fatalf("at the depth limit: %v", err)
	}
	for _, c := range []struct{ name, in string }{
		{"nothing", ""},
		{"only space", "  "},
		{"two values", "{} {}"},
		{"a cut-off value", `{"a":`},
		{"a cut-off string", `{"a":"b`},
		{"a cut-off escape", `"\`},
		{"a trailing comma", `{"a":1,}`},
		{"a comment", `{} // x`},
		{"duplicate members", `{"a":1,"a":2}`},
		{"duplicate members spelled differently", `{"a":1,"\u0061":2}`},
		{"duplicate members inside", `{"x":[{"a":1,"a":2}]}`},
		{"invalid UTF-8", "\"\xff\""},
		{"half a surrogate pair", `"\ud800"`},
		{"NaN", `NaN`},
		{"a leading zero", `01`},
		{"past the depth limit", deep(agent.JSONDepthMax + 1)},
		{"far past the depth limit", strings.Repeat("[", 1<<20)},
		{"a byte-order mark", "\ufeff{}"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := agent.Compact([]byte(c.in))
			if !errors.Is(err, agent.ErrInvalid) || got != nil {
				t.Fatalf("got %.40s, %v; want invalid", got, err)
			}
		})
	}
}

func TestCompactDoesNotCopyWhatIsCompact(t *testing.T) {
	raw := []byte(`{"role":"user","content":"hello there","n":12}`)
	if n := testing.AllocsPerRun(100, func() { _, _ = agent.Compact(raw) }); n > 0 && !raced {
		t.Fatalf("%v allocations for compact input", n)
	}
	got, err := agent.Compact(raw)
	if err != nil || &got[0] != &raw[0] {
		t.Fatalf("%s, %v: not the same memory", got, err)
	}
	if got = append(got, 'x'); string(raw[len(raw)-1:]) != "}" || &got[0] == &raw[0] {
		t.Fatal("appending to the result reaches the input's memory")
	}
}

func TestCompactObjectTakesObjectsOnly(t *testing.T) {
	for _, in := range []string{`[]`, `"a"`, `1`, `true`, `null`, `{`} {
		_, err := agent.CompactObject("payload", []byte(in))
		var e *agent.Error
		if !errors.As(err, &e) || e.Code != agent.CodeInvalid || e.Field != "payload" {
			t.Errorf("%s: %v; want invalid with the field", in, err)
		}
	}
	if got, err := agent.CompactObject("payload", []byte(` { } `)); err != nil || string(got) != "{}" {
		t.Errorf("%s, %v", got, err)
	}
}

func FuzzCompact(f *testing.F) {
	for _, seed := range []string{`{"a":[1, 2.50, "x\u00e9\\"], "b":{}}`, "\"\xff\"", `{"a":1,"a":2}`, ` [ [ ] ] `, `"\ud83d\ude00"`, `1e400`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		before := bytes.Clone(raw)
		got, err := agent.Compact(raw)
		if !bytes.Equal(raw, before) {
			t.Fatal("the input was changed")
		}
		if err != nil {
			if !errors.Is(err, agent.ErrInvalid) {
				t.Fatalf("not an invalid: %v", err)
			}
			return
		}
		// encoding/json accepts more, and does not reorder either.
		var want bytes.Buffer
		if err := json.Compact(&want, raw); err != nil {
			t.Fatalf("accepted %q, which encoding/json does not: %v", raw, err)
		}
		if !bytes.Equal(want.Bytes(), got) {
			t.Fatalf("got %q, want %q", got, want.Bytes())
		}
		again, err := agent.Compact(got)
		if err != nil || !bytes.Equal(again, got) {
			t.Fatalf("not idempotent: %q, %v", again, err)
		}
	})
}

func BenchmarkCompact(b *testing.B) {
	small := []byte(`{"role":"user","content":"What is the status of my order 8812?","n":12}`)
	large := []byte(`{"role":"tool","content":"` + strings.Repeat("some text of an answer ", 45) + `","ids":[1,2,3]}`)
	loose := []byte(`{ "role": "user", "content": "What is the status of my order 8812?", "n": 12 }`)
	for _, c := range []struct {
		name string
		raw  []byte
	}{{"compact-72B", small}, {"compact-1KiB", large}, {"loose-80B", loose}} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(c.raw)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := agent.Compact(c.raw); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
