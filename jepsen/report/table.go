package report

import (
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"dormouse/internal/cli"
)

// notesRunesMax is the width of a table's last column, where its notes are.
const notesRunesMax = 110

// Table is rows as text for a terminal, below a head where there is one.
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

// lastColumn is the number of the last column of a table with more than pairs
// of a name and a value, some of which people copy; else 0, which is none.
func lastColumn(head []string) int {
	if len(head) <= 2 {
		return 0
	}
	return len(head)
}

// wrap breaks each line of a note where it gets too long.
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
