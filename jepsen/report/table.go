package report

import (
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"dormouse/internal/cli"
)

// notesRunesMax is the width of the last column of a table, which holds the notes.
const notesRunesMax = 110

// Table returns rows as text for a terminal, below a header if there is one.
func Table(head []string, rows [][]string) string {
	w := table.NewWriter()
	style := table.StyleDefault
	style.Options = table.OptionsNoBordersAndSeparators
	style.Box.PaddingLeft, style.Box.PaddingRight = "", "   "
	style.Format.Header = text.FormatUpper
	w.SetStyle(style)
	w.SetColumnConfigs([]table.ColumnConfig{{Number: lastColumn(head), WidthMax: notesRunesMax, WidthMaxEnforcer: wrap}})
	if head != nil {
		w.AppendHeader(cleanRow(head))
	}
	for _, cells := range rows {
		w.AppendRow(cleanRow(cells))
	}
	var b strings.Builder
	for line := range strings.Lines(w.Render()) {
		b.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	return b.String()
}

// lastColumn returns the number of the last column if a table has more than pairs of a
// name and a value; otherwise 0, because people copy such values.
func lastColumn(head []string) int {
	if len(head) <= 2 {
		return 0
	}
	return len(head)
}

// wrap breaks the lines of a note that are too long.
func wrap(note string, most int) string {
	var b strings.Builder
	for line := range strings.Lines(note) {
		b.WriteString(text.WrapSoft(strings.TrimSuffix(line, "\n"), most) + "\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func cleanRow(cells []string) table.Row {
	row := make(table.Row, len(cells))
	for i, cell := range cells {
		row[i] = cli.Clean(cell)
	}
	return row
}
