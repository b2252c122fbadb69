package cli_test

import (
	"testing"

	"dormouse/internal/cli"
)

func TestCountNamesOneThingInTheSingular(t *testing.T) {
	for n, want := range map[uint64]string{0: "0 keys", 1: "1 key", 2: "2 keys", 1000: "1000 keys"} {
		if got := cli.Count(n, "key"); got != want {
			t.Errorf("Count(%d) is %q, want %q", n, got, want)
		}
	}
}

func TestGridsAlignColumnsAsATerminalShowsThem(t *testing.T) {
	for _, c := range []struct {
		name string
		grid cli.Grid
		want string
	}{
		{"head and rows", cli.Grid{Head: []string{"id", "bytes"}, Rows: [][]string{{"a", "1"}, {"longer", "22"}}}, "ID       BYTES\na        1\nlonger   22\n"},
		{"pairs, and a line above", cli.Grid{Rows: [][]string{{"thread", "t"}, {"rev", "3"}}, Apart: true}, "\nthread   t\nrev      3\n"},
		{"wide characters", cli.Grid{Rows: [][]string{{"記憶", "x"}, {"abcd", "y"}, {"é", "z"}}}, "記憶   x\nabcd   y\né      z\n"},
		{"a cell of two lines", cli.Grid{Rows: [][]string{{"a", "x\ny", "1"}, {"b", "z", "2"}}}, "a   x   1\n    y\nb   z   2\n"},
		{"control characters", cli.Grid{Rows: [][]string{{"a\x1b[2Jb\tc"}}}, "a\ufffd[2Jb c\n"},
		{"rows of different lengths", cli.Grid{Rows: [][]string{{"a"}, {"b", "c"}}}, "a\nb   c\n"},
	} {
		if got := c.grid.Text(); got != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}

func TestCutMeasuresColumns(t *testing.T) {
	for _, c := range []struct {
		line  string
		width int
		want  string
	}{{"abc", 2, "ab"}, {"abc", 3, "abc"}, {"記憶", 3, "記"}, {"e\u0301x", 1, "e\u0301"}, {"abc", 0, ""}, {"", 3, ""}} {
		if got := cli.Cut(c.line, c.width); got != c.want {
			t.Errorf("%q in %d columns: %q, want %q", c.line, c.width, got, c.want)
		}
	}
}
