package report

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
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
// of callers, and returns the files.
func drawAll(d *Document, dir string) ([]string, error) {
	var files []string
	places := d.places()
	var workloads []string
	for _, a := range places {
		if !slices.Contains(workloads, a.workload) {
			workloads = append(workloads, a.workload)
		}
	}
	for _, workload := range workloads {
		for _, f := range plotted {
			p, err := d.draw(places, workload, f.Figure)
			if err != nil {
				return nil, err
			}
			if p == nil {
				continue
			}
			file := workload + "-" + f.file + ".svg"
			if err := p.Save(16*vg.Centimeter, 9*vg.Centimeter, filepath.Join(dir, file)); err != nil {
				return nil, fmt.Errorf("draw %s: %w", file, err)
			}
			files = append(files, file)
		}
	}
	return files, nil
}

// draw draws a figure of a workload, a line a system; nil where there is but
// one number of callers. Callers grow as their logarithm.
func (d *Document) draw(places []at, workload string, f Figure) (*plot.Plot, error) {
	lines := map[string]plotter.XYs{} // :: system → points
	var systems []string
	var callers []int
	for _, a := range places {
		if a.workload != workload {
			continue
		}
		if lines[a.system] == nil {
			systems = append(systems, a.system)
		}
		lines[a.system] = append(lines[a.system], plotter.XY{X: float64(a.callers), Y: d.median(a, f)})
		if !slices.Contains(callers, a.callers) {
			callers = append(callers, a.callers)
		}
	}
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
		line, points, err := plotter.NewLinePoints(lines[system])
		if err != nil {
			return nil, fmt.Errorf("draw %s of %s: %w", f.Name, workload, err)
		}
		line.Color, points.Color, points.Shape = plotutil.Color(i), plotutil.Color(i), plotutil.Shape(i)
		p.Add(line, points)
		p.Legend.Add(system, line, points)
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
