package top

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

// people is a table of names, ages and long texts.
func people() *table {
	t := newTable([]column{
		{name: "name", left: true, least: 6},
		{name: "age", desc: true, drop: 1},
		{name: "about", left: true, least: 8, drop: 2},
	}, 0)
	t.set([]row{
		{key: "a", cells: []cell{words("Mallory"), count(9), words("likes maps")}},
		{key: "b", cells: []cell{words("Bob"), count(10), words("builds bridges over rivers")}},
		{key: "c", cells: []cell{words("Änne"), unknown("?"), words("会話が好きです")}},
		{key: "d", cells: []cell{words("Alice"), count(100), words("writes")}},
	})
	return t
}

func keysOf(rows []row) string {
	var keys []string
	for _, r := range rows {
		keys = append(keys, r.key)
	}
	return strings.Join(keys, "")
}

func TestTheRowsAreSorted(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*table)
		want   string
		head   string
	}{
		{"by text", func(*table) {}, "dbac", "NAME▲"},
		{"reversed", func(t *table) { t.reverse() }, "cabd", "NAME▼"},
		{"numbers, the greatest first, the unknown last", func(t *table) { t.next(1) }, "dbac", "AGE▼"},
		{"numbers reversed", func(t *table) { t.next(1); t.reverse() }, "cabd", "AGE▲"},
		{"by the last column, from the first to the left", func(t *table) { t.next(-1) }, "badc", "ABOUT▲"},
		{"around", func(t *table) { t.next(1); t.next(1); t.next(1) }, "dbac", "NAME▲"},
	} {
		table := people()
		c.change(table)
		if got := keysOf(table.shown); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
		head := ansi.Strip(table.lines(80, 10)[0])
		if !strings.Contains(head, c.head) || strings.Count(head, "▲")+strings.Count(head, "▼") != 1 {
			t.Errorf("%s: %q, want one marker, in %s", c.name, head, c.head)
		}
	}
}

// Rows that are equal in the column of the order keep one order, however they arrive.
func TestEqualRowsStayWhereTheyAre(t *testing.T) {
	table := newTable([]column{{name: "n"}}, 0)
	rows := []row{{"b", []cell{count(1)}}, {"a", []cell{count(1)}}, {"c", []cell{count(1)}}}
	for range 3 {
		slices.Reverse(rows)
		table.set(rows)
		if got := keysOf(table.shown); got != "abc" {
			t.Errorf("the order is %s", got)
		}
	}
}

func TestTheFilterSelectsRows(t *testing.T) {
	for filter, want := range map[string]string{"": "dbac", "BRIDGES": "b", "好き": "c", "änne": "c", "10": "db", "nothing": ""} {
		table := people()
		table.search(filter)
		if got := keysOf(table.shown); got != want {
			t.Errorf("filter %q: %q, want %q", filter, got, want)
		}
		if lines := table.lines(80, 10); len(lines) != 1+len(want) {
			t.Errorf("filter %q: %d lines", filter, len(lines))
		}
	}
}

// The cursor stays on its row when the rows change, and on the screen when it moves.
func TestTheCursorAndTheScreenMove(t *testing.T) {
	table := newTable([]column{{name: "n"}}, 0)
	rows := func(n int) (list []row) {
		for i := range n {
			list = append(list, row{fmt.Sprintf("%03d", i), []cell{count(i)}})
		}
		return list
	}
	table.set(rows(100))
	const height = 11 // the head and ten rows
	for _, c := range []struct {
		name          string
		move          func()
		cursor, first int
	}{
		{"at the beginning", func() {}, 0, 0},
		{"above the first row", func() { table.move(-1) }, 0, 0},
		{"within the screen", func() { table.move(9) }, 9, 0},
		{"one row beyond", func() { table.move(1) }, 10, 1},
		{"a page", func() { table.move(10) }, 20, 11},
		{"back within the screen", func() { table.move(-5) }, 15, 11},
		{"the end", func() { table.move(1000) }, 99, 90},
		{"a reversal keeps the row", func() { table.reverse() }, 0, 0},
		{"…and back", func() { table.move(1); table.reverse() }, 98, 89},
		{"fewer rows", func() { table.set(rows(5)) }, 4, 0},
		{"no rows", func() { table.set(nil) }, 0, 0},
	} {
		c.move()
		lines := table.lines(20, height)
		if table.cursor != c.cursor || table.first != c.first {
			t.Errorf("%s: row %d, the first is %d; want %d and %d", c.name, table.cursor, table.first, c.cursor, c.first)
		}
		if want := 1 + min(10, len(table.shown)); len(lines) != want {
			t.Errorf("%s: %d lines, want %d", c.name, len(lines), want)
		}
		if len(table.shown) > 0 && !strings.Contains(strings.Join(lines, "\n"), "\x1b[7m") {
			t.Errorf("%s: the row of the cursor is not on the screen", c.name)
		}
	}
}

// Columns that do not fit are left out by their ranks; the others use the whole width.
func TestColumnsThatDoNotFitAreLeftOut(t *testing.T) {
	for width, want := range map[int]string{
		80: "NAME▲    AGE  ABOUT",
		29: "NAME▲    AGE  ABOUT",
		20: "NAME▲    AGE",
		14: "NAME▲    AGE",
		11: "NAME▲",
		7:  "NAME▲",
		3:  "NA▲",
	} {
		table := people()
		head := strings.TrimRight(ansi.Strip(table.lines(width, 10)[0]), " ")
		if head != want {
			t.Errorf("width %d: %q, want %q", width, head, want)
		}
	}
	table := people()
	table.next(-1)
	if head := ansi.Strip(table.lines(14, 10)[0]); !strings.Contains(head, "ABOUT▲") {
		t.Errorf("the column of the order is left out: %q", head)
	}
	if lines := ansi.Strip(strings.Join(people().lines(25, 10), "\n")); !strings.Contains(lines, "builds br…") || !strings.Contains(lines, "会話が好…") {
		t.Errorf("long texts are not cut:\n%s", lines)
	}
}

// No line of any page is wider than the screen, and a wide screen shows all columns.
func TestNoLineIsTooWide(t *testing.T) {
	for _, p := range pages {
		table := newTable(p.columns, p.sort)
		for n := range 3 {
			r := row{key: fmt.Sprint(n)}
			for i := range p.columns {
				r.cells = append(r.cells, words(strings.Repeat("会話a", 1+i%4*n)))
			}
			table.set(append(table.rows, r))
		}
		for by := range p.columns {
			table.choose(by)
			for width := range 220 {
				for i, line := range table.lines(width, 10) {
					if got := ansi.StringWidth(line); got > width && width > 0 {
						t.Fatalf("%s: line %d has %d columns of %d: %q", p.name, i, got, width, line)
					}
				}
			}
		}
		if widths := newTable(p.columns, p.sort).widths(200); slices.Contains(widths, 0) {
			t.Errorf("%s: 200 columns do not show all: %v", p.name, widths)
		}
	}
}

func TestTextsOfCells(t *testing.T) {
	if c := words("a\x1b[2Jb\tc\nd\u202ee"); c.text != "a�[2Jb c d�e" {
		t.Errorf("%q", c.text)
	}
	if c := words(strings.Repeat("会", 1000)); c.width > cellWidthMax || !strings.HasSuffix(c.text, "…") {
		t.Errorf("%d columns", c.width)
	}
	for us, want := range map[int64]string{0: "-", 999: "999µs", 1500: "1.5ms", 2_340_000: "2.34s"} {
		if got := micros(us).text; got != want {
			t.Errorf("%d µs: %q, want %q", us, got, want)
		}
	}
}
