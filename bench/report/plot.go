package report

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
)

// plotted are the figures that are drawn against the number of callers, each
// with the name of its files.
var plotted = []struct {
	file string
	Figure
}{
	{"throughput", Rate}, {"latency-p50", P50}, {"latency-p99", P99}, {"cpu", CPU}, {"written", Written}, {"memory", Memory},
}

// drawAll draws each figure of each workload that was run with several numbers
// of callers, and the trials. It returns the files.
func drawAll(d *Document, dir string) ([]string, error) {
	plots, err := d.drawTrials()
	if err != nil {
		return nil, err
	}
	files := slices.Sorted(maps.Keys(plots))
	places := d.places()
	for _, workload := range workloadsOf(places) {
		add := func(name string, p *plot.Plot, err error) error {
			if err == nil && p != nil {
				file := workload + "-" + name + ".svg"
				plots[file], files = p, append(files, file)
			}
			return err
		}
		p, err := d.drawTradeoff(places, workload)
		if err := add("latency-throughput", p, err); err != nil {
			return nil, err
		}
		for _, f := range plotted {
			p, err := d.draw(places, workload, f.Figure)
			if err := add(f.file, p, err); err != nil {
				return nil, err
			}
		}
	}
	for file, p := range plots {
		if err := p.Save(16*vg.Centimeter, 9*vg.Centimeter, filepath.Join(dir, file)); err != nil {
			return nil, fmt.Errorf("draw %s: %w", file, err)
		}
	}
	return files, nil
}

func workloadsOf(places []at) (workloads []string) {
	for _, a := range places {
		if !slices.Contains(workloads, a.workload) {
			workloads = append(workloads, a.workload)
		}
	}
	return workloads
}

// lines returns a point for each place of a workload, by system, with the systems and
// the numbers of callers in order.
func (d *Document) lines(places []at, workload string, point func(at) plotter.XY) (lines map[string]plotter.XYs, systems []string, callers []int) {
	lines = map[string]plotter.XYs{}
	for _, a := range places {
		if a.workload != workload {
			continue
		}
		if lines[a.system] == nil {
			systems = append(systems, a.system)
		}
		lines[a.system] = append(lines[a.system], point(a))
		if !slices.Contains(callers, a.callers) {
			callers = append(callers, a.callers)
		}
	}
	return lines, systems, callers
}

// draw draws a figure of a workload, a line a system; nil where there is but
// one number of callers. Callers grow as their logarithm.
func (d *Document) draw(places []at, workload string, f Figure) (*plot.Plot, error) {
	lines, systems, callers := d.lines(places, workload, func(a at) plotter.XY {
		return plotter.XY{X: float64(a.callers), Y: d.median(a, f)}
	})
	if len(callers) < 2 {
		return nil, nil //nolint:nilnil // nothing to draw is an answer
	}
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = workload+": "+f.Name, "callers", f.Unit
	p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, ticks(callers)
	p.Y.Min = 0
	p.Legend.Top, p.Legend.Left = true, true
	p.Add(plotter.NewGrid())
	for i, system := range systems {
		if err := addLine(p, i, system, lines[system]); err != nil {
			return nil, err
		}
	}
	p.Y.Max *= 1.25 // room for the legend
	return p, nil
}

// ticks marks the numbers of callers that were measured.
type ticks []int

// Ticks implements plot.Ticker.
func (t ticks) Ticks(_, _ float64) []plot.Tick {
	marks := make([]plot.Tick, len(t))
	for i, n := range t {
		marks[i] = plot.Tick{Value: float64(n), Label: strconv.Itoa(n)}
	}
	return marks
}
