package redis

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"dormouse/internal/budget"
)

// Whatever a client sends, the reader ends, keeps its limits, and gives back what it has counted.
func FuzzRequests(f *testing.F) {
	for _, seed := range []string{
		"*1\r\n$4\r\nPING\r\n", "*2\r\n$3\r\nGET\r\n$1\r\nk\r\n*1\r\n$4\r\nPING\r\n", "PING\r\n", "*1\r\n$9223372036854775806\r\n",
		"*-1\r\n*0\r\n\r\n", "*2\r\n$3\r\nGET\r\n$0\r\n\r\n", "*1\r\n$4\r\nPINGG\r\n", "*1025\r\n$1\r\na\r\n", "*1\r\n$99999\r\nx", "$4\r\nPING\r\n",
	} {
		f.Add([]byte(seed), false)
		f.Add([]byte(seed), true)
	}
	f.Fuzz(func(t *testing.T, sent []byte, early bool) {
		const room = 64 << 10
		pool := budget.New(room)
		r := newRequests(bytes.NewReader(sent), pool, "caller")
		r.early = early
		for {
			c, err := r.next()
			var wrong protocolError
			if err != nil {
				if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.As(err, &wrong) {
					t.Fatalf("an error of another kind: %v", err)
				}
				break
			}
			kept := 0
			for _, arg := range c.args {
				kept += cap(arg)
			}
			if kept > len(sent)+room || len(c.args) > argumentsMax {
				t.Fatalf("%d arguments with %d bytes are kept of %d", len(c.args), kept, len(sent))
			}
			if c.refused == nil && len(c.args) == 0 {
				t.Fatal("a command has no name")
			}
			r.release(c)
		}
		if used := pool.Used(); used != 0 {
			t.Fatalf("%d bytes still count", used)
		}
	})
}

// A client that has not authenticated takes room for what it sends, not for what it announces.
func TestAStrangerTakesRoomForWhatItSends(t *testing.T) {
	for _, sent := range []int{0, 2 << 10, 6 << 10} {
		pool := budget.New(64 << 10)
		var used int64
		r := newRequests(io.MultiReader(strings.NewReader("*2\r\n$4\r\nAUTH\r\n$15000\r\n"+strings.Repeat("x", sent)), ending(func() { used = pool.Used() })), pool, "caller")
		r.early = true
		if _, err := r.next(); err == nil {
			t.Fatal("a part of a command is taken for a command")
		}
		if most := int64(2*sent + 2*argumentCost + len("AUTH")); used > most {
			t.Errorf("after %d bytes %d count, want at most %d", sent, used, most)
		}
	}
}

// ending is the end of a stream. It calls a function when a reader has come to it.
type ending func()

// Read implements io.Reader.
func (r ending) Read([]byte) (int, error) {
	r()
	return 0, io.EOF
}

func TestGlob(t *testing.T) {
	for _, c := range []struct {
		pattern, text string
		want          bool
	}{
		{"*", "", true},
		{"", "", true},
		{"", "a", false},
		{"a?c", "abc", true},
		{"a?c", "ac", false},
		{"a*c*e", "abcde", true},
		{"a*c*e", "abcdf", false},
		{"**a", "ba", true},
		{"[a-c]x", "bx", true},
		{"[c-a]x", "bx", true},
		{"[^a-c]x", "bx", false},
		{"[^a-c]x", "dx", true},
		{`[\]]`, "]", true},
		{"[ab", "b", true},
		{`\*`, "*", true},
		{`\*`, "a", false},
		{`a\`, `a\`, true},
		{"*a*a*a*a*a*a*b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", false},
	} {
		if got := glob(c.pattern, c.text); got != c.want {
			t.Errorf("glob(%q, %q) = %t", c.pattern, c.text, got)
		}
		if c.want && len(c.text) >= len(literal(c.pattern)) && c.text[:len(literal(c.pattern))] != literal(c.pattern) {
			t.Errorf("%q matches %q, which does not begin with %q", c.pattern, c.text, literal(c.pattern))
		}
	}
}
