package top

import (
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"dormouse/agent/layout"
	"dormouse/internal/cli"
)

// The parts of the screen that are no rows.
const (
	headLines     = 5 // the header, the names of the pages, and a free line
	footLines     = 1 // the keys
	troubleMax    = 3 // lines of errors and notes below the rows
	headSparkMax  = 40
	screenLeast   = 8 // lines
	detailNameMax = 14
)

// View implements tea.Model.
func (m *model) View() tea.View {
	v := tea.NewView(strings.Join(m.screen(), "\n"))
	v.AltScreen = true
	v.WindowTitle = "dormctl top"
	return v
}

// screen returns the lines of the screen, at most height and each at most width columns wide.
func (m *model) screen() []string {
	if m.height < screenLeast {
		return fit([]string{"dormctl top needs " + cli.Number(screenLeast) + " lines"}, m.width, m.height)
	}
	lines := fit(m.header(), m.width, headLines)
	body := m.height - headLines - footLines
	below := m.below()
	switch {
	case m.help:
		lines = append(lines, helpLines...)
	case m.detail && m.tab().cursor < len(m.tab().shown):
		lines = append(lines, m.whole(body-len(below))...)
	default:
		lines = append(lines, m.list(body-len(below))...)
	}
	lines = fit(lines, m.width, headLines+body-len(below))
	for len(lines) < headLines+body-len(below) {
		lines = append(lines, "")
	}
	return fit(append(append(lines, below...), m.keys()), m.width, m.height)
}

// fit cuts lines to a part of the screen.
func fit(lines []string, width, height int) []string {
	out := make([]string, 0, len(lines))
	for _, line := range lines[:min(len(lines), max(0, height))] {
		if ansi.StringWidth(line) > width {
			line = ansi.Truncate(line, width, "…")
		}
		out = append(out, line)
	}
	return out
}

// rows returns how many rows of a table the screen shows.
func (m *model) rows() int { return max(1, m.height-headLines-footLines-len(m.below())-1) }

// header returns the lines above the table.
func (m *model) header() []string {
	d := &m.doc
	alive := 0
	for _, n := range d.Nodes {
		if n.Status == "alive" {
			alive++
		}
	}
	state := "every " + m.every.String()
	if m.paused {
		state = noteStyle.Styled("paused")
	}
	first := fmt.Sprintf("%s  leader %s  %d of %d nodes alive  %s  %s  cluster %s", titleStyle.Styled("dormouse"),
		oneLine(cli.OrDash(d.Leader)), alive, len(d.Nodes), clock(time.UnixMilli(d.Time)), state, oneLine(d.ClusterID))
	width := min(headSparkMax, max(0, (m.width-44)/2))
	second := fmt.Sprintf("entries/s %s %8.1f   signals/s %s %8.1f", sparkStyle.Styled(m.entries.spark(width)), d.EntriesPerSecond,
		sparkStyle.Styled(m.signals.spark(width)), d.SignalsPerSecond)
	dormant := "?"
	if d.Dormant != nil {
		dormant = cli.Number(*d.Dormant)
	}
	moving := 0
	for _, one := range d.Moves {
		moving += one.Partitions
	}
	third := fmt.Sprintf("instances: %d awake, %s dormant   partitions: %d, %d moving, %d free", d.Awake, dormant, layout.Partitions, moving, d.Free)
	var names strings.Builder
	for i := range pages {
		name := fmt.Sprintf(" %d %s ", i+1, pages[i].name)
		if i == m.at {
			name = tabStyle.Styled(name)
		}
		names.WriteString(name)
	}
	if t := m.tab(); t.loaded {
		of := cli.Number(len(t.shown))
		if t.filter != "" {
			of += " of " + cli.Number(len(t.table.rows))
		}
		names.WriteString(faintly("  " + of + " rows"))
		if t.lost {
			names.WriteString(noteStyle.Styled(" of " + clock(t.at)))
		}
	}
	return []string{first, second, third, names.String(), ""}
}

// faintly returns text in a faint style.
func faintly(s string) string { return faintStyle.Styled(s) }

// list returns the table of the page.
func (m *model) list(height int) []string {
	t := m.tab()
	lines := t.lines(m.width, height)
	switch {
	case len(t.shown) > 0:
	case !t.loaded && m.paused:
		lines = append(lines, faintly("paused: p goes on"))
	case !t.loaded:
		lines = append(lines, faintly("asking the cluster …"))
	case t.filter != "":
		lines = append(lines, faintly("no row contains "+t.filter+": esc shows all rows"))
	case len(t.errs) == 0:
		lines = append(lines, faintly(pages[m.at].nothing))
	}
	return lines
}

// whole returns all cells of the row under the cursor, as lines.
func (m *model) whole(height int) []string {
	t := m.tab()
	var lines []string
	for i, c := range t.shown[t.cursor].cells {
		text := colours[c.colour].Styled(c.text)
		for n, part := range strings.Split(ansi.Wrap(text, max(1, m.width-detailNameMax-gap), ""), "\n") {
			name := ""
			if n == 0 {
				name = t.columns[i].name
			}
			lines = append(lines, headStyle.Styled(pad(name, detailNameMax, true))+strings.Repeat(" ", gap)+part)
		}
	}
	return lines[:min(len(lines), max(0, height))]
}

// below returns the lines between the rows and the keys: what does not answer, and notes.
func (m *model) below() []string {
	var lines []string
	for _, trouble := range m.troubles() {
		lines = append(lines, errorStyle.Styled(ansi.Truncate(trouble, m.width, "…")))
	}
	for _, note := range m.tab().notes {
		lines = append(lines, noteStyle.Styled(ansi.Truncate(note, m.width, "…")))
	}
	if most := troubleMax; len(lines) > most {
		more := len(lines) - most + 1
		lines = append(lines[:most-1], errorStyle.Styled(fmt.Sprintf("and %d more", more)))
	}
	return lines
}

// keys returns the line at the bottom.
func (m *model) keys() string {
	switch t := m.tab(); {
	case m.typing:
		return "/" + t.filter + "▏" + faintly(" enter keeps it, esc shows all rows")
	case m.help:
		return faintly("any key goes back, q quits")
	case m.detail:
		return faintly("enter goes back, ↑↓ next row, q quits")
	default:
		pause := "p pause"
		if m.paused {
			pause = "p go on"
		}
		filter := "/ filter"
		if t.filter != "" {
			filter = "/" + ansi.Truncate(t.filter, 12, "…") + " esc"
		}
		return faintly("q quit  ? help  tab 1-5 page  ←→ sort  r reverse  " + filter + "  " + pause + "  +- interval")
	}
}

// helpLines explain the keys.
var helpLines = []string{
	headStyle.Styled("keys"),
	"1 to 5, tab, shift+tab   show another page",
	"↑ ↓, PgUp PgDn, Home End move",
	"← →                      sort by another column (▲ ascending, ▼ descending)",
	"r                        reverse the order",
	"/                        show only rows that contain a text; esc shows all",
	"enter                    show all fields of the row",
	"p                        pause, go on",
	"+ -                      double or halve the interval, from 100ms to 1m",
	"? q                      this help; quit",
	"",
	"The rows are of all scopes. A page asks the cluster only while it is shown.",
	"dormctl NOUN --help says how to change what you see.",
}
