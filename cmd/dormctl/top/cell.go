package top

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"dormouse/internal/cli"
)

// colour is the colour of a cell.
type colour int

const (
	plain colour = iota
	green
	yellow
	red
	faint
)

// cellWidthMax is the maximum width of a cell, in columns of the terminal.
const cellWidthMax = 512

// cell is one field of a row.
type cell struct {
	text   string // safe for a terminal, on one line
	width  int    // in columns of the terminal
	order  float64
	num    bool // order sorts it; otherwise text does
	colour colour
}

// words returns a cell that sorts by its text.
func words(s string) cell {
	s = ansi.Truncate(oneLine(s), cellWidthMax, "…")
	return cell{text: s, width: ansi.StringWidth(s)}
}

// number returns a cell that sorts by a number.
func number(text string, order float64) cell {
	c := words(text)
	c.order, c.num = order, true
	return c
}

// unknown is the cell of a number that is not known. It sorts before all numbers.
func unknown(text string) cell {
	c := number(text, math.Inf(-1))
	c.colour = faint
	return c
}

// in returns the cell with another colour.
func (c cell) in(m colour) cell {
	c.colour = m
	return c
}

// count returns the cell of a number of things.
func count[N int | uint64](n N) cell { return number(cli.Number(n), float64(n)) }

// fault returns the cell of a number that should be 0.
func fault(n uint64) cell {
	if n > 0 {
		return count(n).in(red)
	}
	return count(n)
}

// perSecond returns the cell of a rate.
func perSecond(rate float64) cell { return number(fmt.Sprintf("%.1f", rate), rate) }

// oneLine returns text that is safe for a terminal, without newlines.
func oneLine(s string) string { return strings.ReplaceAll(cli.Clean(s), "\n", " ") }

// span returns the cell of a duration, at most six columns wide.
func span(d time.Duration) cell { return number(spanText(d), d.Seconds()) }

// spanText returns a duration with its two greatest units.
func spanText(d time.Duration) string {
	if d < 0 {
		return "-" + spanText(-d)
	}
	const day = 24 * time.Hour
	switch {
	case d >= 1000*day:
		return fmt.Sprintf("%dd", d/day)
	case d >= day:
		return fmt.Sprintf("%dd%dh", d/day, d%day/time.Hour)
	case d >= time.Hour:
		return fmt.Sprintf("%dh%dm", d/time.Hour, d%time.Hour/time.Minute)
	case d >= time.Minute:
		return fmt.Sprintf("%dm%ds", d/time.Minute, d%time.Minute/time.Second)
	default:
		return fmt.Sprintf("%ds", d/time.Second)
	}
}

// micros returns the cell of a duration in microseconds; a dash for 0.
func micros(us int64) cell {
	switch {
	case us == 0:
		return number("-", 0).in(faint)
	case us < 1000:
		return number(fmt.Sprintf("%dµs", us), float64(us))
	case us < 1_000_000:
		return number(fmt.Sprintf("%.1fms", float64(us)/1e3), float64(us))
	default:
		return number(fmt.Sprintf("%.2fs", float64(us)/1e6), float64(us))
	}
}
