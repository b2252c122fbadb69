package cli

import (
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/rivo/uniseg"
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

// columnGap is the space between two columns.
const columnGap = "   "

// Text returns the grid without its note. A cell may have several lines.
func (g Grid) Text() string {
	var rows [][]string
	if g.Head != nil {
		rows = append(rows, lines(g.Head, strings.ToUpper)...)
	}
	for _, cells := range g.Rows {
		rows = append(rows, lines(cells, Clean)...)
	}
	var widths []int
	for _, cells := range rows {
		for i, cell := range cells {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], uniseg.StringWidth(cell))
		}
	}
	var b strings.Builder
	if g.Apart {
		b.WriteByte('\n')
	}
	for _, cells := range rows {
		var line strings.Builder
		for i, cell := range cells {
			line.WriteString(cell + strings.Repeat(" ", widths[i]-uniseg.StringWidth(cell)) + columnGap)
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	return b.String()
}

// Cut returns the beginning of a line, at most width columns of a terminal wide.
func Cut(line string, width int) string {
	used, state, rest := 0, -1, line
	for rest != "" {
		var columns int
		before := rest
		_, rest, columns, state = uniseg.FirstGraphemeClusterInString(rest, state)
		if used += columns; used > width {
			return line[:len(line)-len(before)]
		}
	}
	return line
}

// lines returns the lines of a row: one, or more if a cell has several.
func lines(cells []string, show func(string) string) (all [][]string) {
	for i, cell := range cells {
		for n, part := range strings.Split(show(cell), "\n") {
			if n == len(all) {
				all = append(all, make([]string, len(cells)))
			}
			all[n][i] = part
		}
	}
	return all
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
