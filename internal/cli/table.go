package cli

import (
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// Joined returns a list as a cell shows it.
func Joined(list []string) string { return OrDash(strings.Join(list, ", ")) }

// Grid is a result as a table shows it. Without a head its rows are pairs of a
// name and a value.
type Grid struct {
	Head  []string
	Rows  [][]string
	Note  string // for people, below the table, on stderr
	Apart bool   // leave a line free above it
}

// Add adds a row.
func (g *Grid) Add(cells ...string) { g.Rows = append(g.Rows, cells) }

// Text returns the grid without its note.
func (g Grid) Text() string {
	w := table.NewWriter()
	style := table.StyleDefault
	style.Options = table.OptionsNoBordersAndSeparators
	style.Box.PaddingLeft, style.Box.PaddingRight = "", "   "
	style.Format.Header = text.FormatUpper
	w.SetStyle(style)
	if g.Head != nil {
		w.AppendHeader(row(g.Head))
	}
	for _, cells := range g.Rows {
		w.AppendRow(row(cells))
	}
	var b strings.Builder
	if g.Apart {
		b.WriteByte('\n')
	}
	for line := range strings.Lines(w.Render()) {
		b.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	return b.String()
}

func row(cells []string) table.Row {
	out := make(table.Row, len(cells))
	for i, cell := range cells {
		out[i] = Clean(cell)
	}
	return out
}

// Clean returns text that is safe for a terminal: what stored data holds must not move
// its cursor.
func Clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || unicode.IsPrint(r) {
			return r
		}
		if r == '\t' {
			return ' '
		}
		return unicode.ReplacementChar
	}, s)
}

// cellRunesMax is how much of a payload a table shows.
const cellRunesMax = 80

// Short returns JSON as a table shows it.
func Short(raw []byte) string {
	runes := []rune(string(raw))
	if len(runes) <= cellRunesMax {
		return string(runes)
	}
	return string(runes[:cellRunesMax-1]) + "…"
}

// When returns an instant as a table shows it.
func When(ms int64) string {
	if ms == 0 {
		return "-"
	}
	return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z")
}

// OrDash returns s, or a dash where it is empty.
func OrDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// Count returns a number of things by their singular name, which takes an s.
func Count(n uint64, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}

// Number returns n as a cell shows it.
func Number[N uint64 | int64 | uint32 | int](n N) string { return fmt.Sprintf("%d", n) }
