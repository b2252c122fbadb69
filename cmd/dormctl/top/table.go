package top

import (
	"cmp"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// column is a column of a table.
type column struct {
	name  string
	drop  int  // where not all columns fit, those with the greatest drop are left out first; 0 stays
	least int  // the width to which it may be cut; 0 means that it is never cut
	left  bool // aligned to the left
	desc  bool // sorted from the greatest, when it is chosen
}

// row is a row of a table. It has a cell for each column.
type row struct {
	key   string // identifies it among the rows of the table
	cells []cell
}

// table is a list of rows as a person looks at it: sorted, filtered and scrolled.
type table struct {
	columns []column
	sort    int // a column
	desc    bool
	filter  string // rows contain it; letters match in both cases

	rows   []row // all
	shown  []row // those that the filter selects, sorted
	cursor int   // of shown; 0 if that is empty
	first  int   // of shown: the first one on the screen
	wide   []int // the width of each column's widest cell in rows, or of its name
}

// gap is the space between two columns. Its first place is for the marker of the column before it.
const gap = 2

// newTable returns an empty table that is sorted by a column.
func newTable(columns []column, sort int) *table {
	t := &table{columns: columns}
	t.choose(sort)
	t.set(nil)
	return t
}

// set replaces the rows. The cursor stays on its row if that still exists.
func (t *table) set(rows []row) {
	t.rows = rows
	t.wide = make([]int, len(t.columns))
	for i, c := range t.columns {
		t.wide[i] = ansi.StringWidth(c.name)
	}
	for _, r := range rows {
		for i, c := range r.cells {
			t.wide[i] = max(t.wide[i], c.width)
		}
	}
	t.arrange()
}

// arrange filters and sorts the rows again.
func (t *table) arrange() {
	at := ""
	if t.cursor < len(t.shown) {
		at = t.shown[t.cursor].key
	}
	t.shown = nil
	for _, r := range t.rows {
		if r.has(t.filter) {
			t.shown = append(t.shown, r)
		}
	}
	slices.SortStableFunc(t.shown, func(a, b row) int {
		order := compare(a.cells[t.sort], b.cells[t.sort])
		if t.desc {
			order = -order
		}
		return cmp.Or(order, strings.Compare(a.key, b.key))
	})
	if found := slices.IndexFunc(t.shown, func(r row) bool { return r.key == at }); found >= 0 && t.cursor > 0 {
		t.cursor = found
	}
	t.move(0)
}

// has reports whether a cell contains text.
func (r row) has(text string) bool {
	text = strings.ToLower(text)
	return text == "" || slices.ContainsFunc(r.cells, func(c cell) bool { return strings.Contains(strings.ToLower(c.text), text) })
}

// compare orders two cells of a column.
func compare(a, b cell) int {
	if a.num && b.num {
		return cmp.Compare(a.order, b.order)
	}
	return strings.Compare(a.text, b.text)
}

// choose sorts by a column.
func (t *table) choose(column int) {
	t.sort, t.desc = column, t.columns[column].desc
}

// next sorts by the column n further to the right.
func (t *table) next(n int) {
	t.choose((t.sort + n + len(t.columns)) % len(t.columns))
	t.arrange()
}

// reverse reverses the order.
func (t *table) reverse() {
	t.desc = !t.desc
	t.arrange()
}

// search shows only the rows that contain text.
func (t *table) search(text string) {
	t.filter = text
	t.arrange()
}

// move moves the cursor n rows down.
func (t *table) move(n int) { t.cursor = max(0, min(t.cursor+n, len(t.shown)-1)) }

// widths returns the widths of the columns in width columns of the terminal; 0 for those that do
// not fit.
func (t *table) widths(width int) []int {
	out, sum, left := make([]int, len(t.columns)), 1-gap, 0
	for i, c := range t.columns {
		out[i] = t.wide[i]
		if c.least > 0 {
			out[i] = min(out[i], max(c.least, ansi.StringWidth(c.name)))
		}
		sum += out[i] + gap
		left++
	}
	for sum > width && left > 1 {
		worst := -1
		for i, c := range t.columns {
			if out[i] > 0 && i != t.sort && (worst < 0 || c.drop >= t.columns[worst].drop) {
				worst = i
			}
		}
		sum -= out[worst] + gap
		out[worst] = 0
		left--
	}
	if sum > width {
		for i := range out {
			out[i] = min(out[i], max(0, width-1))
		}
	}
	for grown := true; grown && sum < width; { // what is left widens the columns that are cut
		grown = false
		for i := range out {
			if out[i] > 0 && out[i] < t.wide[i] && sum < width {
				out[i]++
				sum++
				grown = true
			}
		}
	}
	return out
}

// lines returns the head and the rows that fit a part of the screen.
func (t *table) lines(width, height int) []string {
	widths := t.widths(width)
	out := []string{t.head(widths)}
	rows := max(0, height-1)
	t.first = max(0, min(t.first, t.cursor, len(t.shown)-rows))
	t.first = max(t.first, t.cursor-rows+1)
	for i := t.first; i < min(len(t.shown), t.first+rows); i++ {
		out = append(out, t.line(i, widths, width))
	}
	return out
}

// head returns the names of the columns. A marker shows by which one the rows are sorted.
func (t *table) head(widths []int) string {
	var cells []string
	for i, c := range t.columns {
		if widths[i] == 0 {
			continue
		}
		name, mark, style := ansi.Truncate(strings.ToUpper(c.name), widths[i], ""), "", headStyle
		if i == t.sort {
			style = sortStyle
			if mark = "▲"; t.desc {
				mark = "▼"
			}
		}
		if !c.left {
			name = pad(name, widths[i], false)
		}
		cells = append(cells, style.Styled(name+mark)+strings.Repeat(" ", max(0, widths[i]+1-ansi.StringWidth(name+mark))))
	}
	return strings.Join(cells, strings.Repeat(" ", gap-1))
}

func (t *table) line(at int, widths []int, width int) string {
	var cells []string
	for i, c := range t.shown[at].cells {
		if widths[i] == 0 {
			continue
		}
		text := c.text
		if c.width > widths[i] {
			text = ansi.Truncate(text, widths[i], "…")
		}
		text = pad(text, widths[i], t.columns[i].left)
		if at != t.cursor {
			text = colours[c.colour].Styled(text)
		}
		cells = append(cells, text)
	}
	line := strings.Join(cells, strings.Repeat(" ", gap))
	if at == t.cursor {
		return cursorStyle.Styled(pad(line, width, true))
	}
	return line
}

// pad fills text with spaces up to a width.
func pad(text string, width int, left bool) string {
	spaces := strings.Repeat(" ", max(0, width-ansi.StringWidth(text)))
	if left {
		return text + spaces
	}
	return spaces + text
}
