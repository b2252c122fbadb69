package main

import (
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// The forms of output.
const (
	outputTable = "table"
	outputJSON  = "json"
	outputYAML  = "yaml"
)

// grid is a result as a table shows it. Without a head its rows are pairs of a
// name and a value.
type grid struct {
	head  []string
	rows  [][]string
	note  string // for people, below the table, on stderr
	apart bool   // leave a line free above it
}

// add adds a row.
func (g *grid) add(cells ...string) { g.rows = append(g.rows, cells) }

// print writes a result in the form that was asked for: the document as JSON
// or YAML, or the grid.
func (a *app) print(document any, g grid) error {
	if a.output == outputTable {
		return a.printGrid(g)
	}
	raw, err := encode(document)
	if err != nil {
		return err
	}
	if a.output == outputYAML {
		if raw, err = toYAML(raw); err != nil {
			return err
		}
	}
	if _, err := a.stdout.Write(raw); err != nil {
		return fmt.Errorf("write the result: %w", err)
	}
	return nil
}

// encode writes a document on one line. JSON inside it keeps its bytes.
func encode(document any) ([]byte, error) {
	raw, err := json.Marshal(document, jsontext.PreserveRawStrings(true))
	if err != nil {
		return nil, fmt.Errorf("write the result as JSON: %w", err)
	}
	return append(raw, '\n'), nil
}

// event prints one of a stream of results: a line of JSON, a YAML document, or
// a line of text.
func (a *app) event(document any, line string) error {
	raw := []byte(clean(line) + "\n")
	if a.output != outputTable {
		var err error
		if raw, err = encode(document); err != nil {
			return err
		}
	}
	if a.output == outputYAML {
		body, err := toYAML(raw)
		if err != nil {
			return err
		}
		raw = append([]byte("---\n"), body...)
	}
	if _, err := a.stdout.Write(raw); err != nil {
		return fmt.Errorf("write the event: %w", err)
	}
	return nil
}

func (a *app) printGrid(g grid) error {
	if err := a.write(g.text()); err != nil {
		return err
	}
	if g.note != "" {
		a.tell("%s", g.note)
	}
	return nil
}

// write writes a result that is text already.
func (a *app) write(text string) error {
	if _, err := fmt.Fprint(a.stdout, text); err != nil {
		return fmt.Errorf("write the result: %w", err)
	}
	return nil
}

// text is the grid without its note.
func (g grid) text() string {
	w := table.NewWriter()
	style := table.StyleDefault
	style.Options = table.OptionsNoBordersAndSeparators
	style.Box.PaddingLeft, style.Box.PaddingRight = "", "   "
	style.Format.Header = text.FormatUpper
	w.SetStyle(style)
	if g.head != nil {
		w.AppendHeader(row(g.head))
	}
	for _, cells := range g.rows {
		w.AppendRow(row(cells))
	}
	var b strings.Builder
	if g.apart {
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
		out[i] = clean(cell)
	}
	return out
}

// clean makes text safe for a terminal: what stored data holds must not move
// its cursor.
func clean(s string) string {
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

// short is JSON as a table shows it.
func short(raw []byte) string {
	runes := []rune(string(raw))
	if len(runes) <= cellRunesMax {
		return string(runes)
	}
	return string(runes[:cellRunesMax-1]) + "…"
}

// when is an instant as a table shows it.
func when(ms int64) string {
	if ms == 0 {
		return "-"
	}
	return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z")
}

// orDash stands for what is empty.
func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func number[N uint64 | int64 | uint32 | int](n N) string { return fmt.Sprintf("%d", n) }
