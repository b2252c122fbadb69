package cli

import (
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// Joined returns the text of a list in a cell.
func Joined(list []string) string { return OrDash(strings.Join(list, ", ")) }

// Grid is a result as a table. Without a head, its rows are pairs of a name and a
// value.
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

// Clean returns text that is safe for a terminal: stored data must not move the
// cursor.
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

// cellRunesMax bounds the part of a payload that a table shows.
const cellRunesMax = 80

// Short returns the text of JSON in a cell.
func Short(raw []byte) string {
	runes := []rune(string(raw))
	if len(runes) <= cellRunesMax {
		return string(runes)
	}
	return string(runes[:cellRunesMax-1]) + "…"
}

// When returns the text of a time in a cell.
func When(ms int64) string {
	if ms == 0 {
		return "-"
	}
	return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z")
}

// OrDash returns s, or a dash if s is empty.
func OrDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// Count returns a number and a noun, with an s for the plural.
func Count(n uint64, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}

// Number returns the text of n in a cell.
func Number[N uint64 | int64 | uint32 | int](n N) string { return fmt.Sprintf("%d", n) }
