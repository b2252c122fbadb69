package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// Grid is a table of text.
type Grid struct {
	Head []string
	Rows [][]string
}

func (g *Grid) add(cells ...string) { g.Rows = append(g.Rows, cells) }

func (g *Grid) writer() table.Writer {
	w := table.NewWriter()
	w.AppendHeader(row(g.Head))
	for _, cells := range g.Rows {
		w.AppendRow(row(cells))
	}
	return w
}

// Text is the table for a terminal.
func (g *Grid) Text() string {
	w := g.writer()
	style := table.StyleLight
	style.Format.Header = text.FormatDefault
	w.SetStyle(style)
	return w.Render() + "\n"
}

func (g *Grid) markdown() string { return g.writer().RenderMarkdown() + "\n" }

func row(cells []string) table.Row {
	out := make(table.Row, len(cells))
	for i, c := range cells {
		out[i] = c
	}
	return out
}

// Bars is the table of verdicts.
func Bars(verdicts []Verdict) *Grid {
	g := &Grid{Head: []string{"bar", "bound", "reached", "rounds", ""}}
	for _, v := range verdicts {
		sign := "≤"
		if v.Least {
			sign = "≥"
		}
		reached := "-"
		if v.Rounds > 0 {
			reached = number(v.Value) + " " + v.Unit
		}
		g.add(v.Claim, fmt.Sprintf("%s %s %s", sign, number(v.Bound), v.Unit), reached, fmt.Sprint(v.Rounds), v.Outcome)
	}
	return g
}

// Measured is the table of all cells, each the median of its rounds.
func Measured(d *Document) *Grid {
	g := &Grid{Head: []string{
		"workload", "callers", "system", "ops/s", "p50 ms", "p90 ms", "p99 ms", "max ms",
		"server CPU µs/op", "client CPU µs/op", "KiB written/op·node", "MiB a node", "rounds",
	}}
	figures := []func(Cell) float64{
		Rate.of, P50.of, func(c Cell) float64 { return c.P90 }, P99.of, func(c Cell) float64 { return c.Max },
		func(c Cell) float64 { return c.ServerCPU }, func(c Cell) float64 { return c.ClientCPU }, Written.of, Memory.of,
	}
	for _, a := range d.places() {
		cells := []string{a.workload, fmt.Sprint(a.callers), a.system}
		for _, of := range figures {
			cells = append(cells, number(d.median(a, Figure{of: of})))
		}
		g.add(append(cells, fmt.Sprint(len(d.cells(a))))...)
	}
	return g
}

// Tried is the table of trials.
func Tried(d *Document) *Grid {
	g := &Grid{Head: []string{"trial", "system", "round", "value", "note"}}
	for _, t := range d.Trials {
		g.add(t.Name, t.System, fmt.Sprint(t.Round), number(t.Value)+" "+t.Unit, t.Note)
	}
	return g
}

// places are all that have cells: by workload and callers as they were first
// measured, so that the systems stand below each other.
func (d *Document) places() []at {
	var list []at
	order := map[string]int{} // of workloads
	for _, c := range d.Cells {
		if _, ok := order[c.Workload]; !ok {
			order[c.Workload] = len(order)
		}
		if a := (at{c.System, c.Workload, c.Callers}); !slices.Contains(list, a) {
			list = append(list, a)
		}
	}
	slices.SortStableFunc(list, func(a, b at) int {
		if a.workload != b.workload {
			return order[a.workload] - order[b.workload]
		}
		return a.callers - b.callers
	})
	return list
}

// number shows three digits or so of a value.
func number(v float64) string {
	switch {
	case v >= 1e6:
		return fmt.Sprintf("%.2f M", v/1e6)
	case v >= 1e4:
		return fmt.Sprintf("%.1f k", v/1e3)
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	default:
		return fmt.Sprintf("%.2f", v)
	}
}

// Markdown is the whole report. plots are the files to show.
func Markdown(d *Document, plots []string) string {
	var b strings.Builder
	line := func(format string, args ...any) { _, _ = fmt.Fprintf(&b, format+"\n", args...) }
	line("# Side by side\n")
	line("Made %s by `%s`, in %v.\n", d.Began.UTC().Format("2006-01-02 15:04 UTC"), strings.Join(d.Command, " "), d.Ended.Sub(d.Began).Round(time.Second))
	m := d.Machine
	line("%d cores (%s), %d GiB of memory, Linux %s, data on %s, a flush of 4 KiB %s, %s.\n", m.Cores, m.CPU, m.Memory>>30, m.Kernel, m.Disk, m.Flush, m.Go)
	line("Every system acknowledges a write once it is flushed to disk. All numbers are medians of %d interleaved rounds; ratios are medians of the rounds' own.\n", d.Rounds)
	for _, s := range d.Systems {
		if s.Absent != "" {
			line("- %s: skipped, %s", s.Name, s.Absent)
			continue
		}
		line("- %s %s, as %d processes: `%s`", s.Name, s.Version, len(s.Commands), s.Commands[0])
	}
	line("\n## Bars\n\n%s", Bars(Judge(d)).markdown())
	line("## Measured\n\n%s", Measured(d).markdown())
	if len(d.Trials) > 0 {
		line("## Trials\n\n%s", Tried(d).markdown())
	}
	for _, p := range plots {
		line("![%s](%s)\n", strings.TrimSuffix(p, ".svg"), p)
	}
	return b.String()
}
