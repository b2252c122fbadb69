package report

import (
	"fmt"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
)

// drawTradeoff draws the p99 latency of a workload against its throughput: a line for each system, with
// a point for each number of callers. It returns nil if there is only one number of callers.
func (d *Document) drawTradeoff(places []at, workload string) (*plot.Plot, error) {
	lines, systems, callers := d.lines(places, workload, func(a at) plotter.XY {
		return plotter.XY{X: d.median(a, Rate), Y: d.median(a, P99)}
	})
	if len(callers) < 2 {
		return nil, nil //nolint:nilnil // nothing to draw is an answer
	}
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = workload+": latency against throughput, by callers", "ops/s", "p99 latency, ms"
	p.X.Min, p.Y.Scale, p.Y.Tick.Marker = 0, plot.LogScale{}, plot.LogTicks{Prec: -1}
	p.Legend.Top = true
	p.Add(plotter.NewGrid())
	for i, system := range systems {
		if err := addLine(p, i, system, lines[system]); err != nil {
			return nil, err
		}
		marks := make([]string, len(lines[system]))
		for n, a := range of(places, system, workload) {
			marks[n] = strconv.Itoa(a.callers)
		}
		labels, err := plotter.NewLabels(plotter.XYLabels{XYs: lines[system], Labels: marks})
		if err != nil {
			return nil, fmt.Errorf("label the points of %s: %w", system, err)
		}
		labels.Offset.X, labels.Offset.Y = vg.Points(4), vg.Points(-10)
		p.Add(labels)
	}
	p.X.Max *= 1.05
	p.Y.Max *= 2 // room for the legend
	return p, nil
}

// of returns the places of a system's workload, in order.
func of(places []at, system, workload string) (list []at) {
	for _, a := range places {
		if a.system == system && a.workload == workload {
			list = append(list, a)
		}
	}
	return list
}

// addLine adds the line of the ith system.
func addLine(p *plot.Plot, i int, system string, xys plotter.XYs) error {
	line, points, err := plotter.NewLinePoints(xys)
	if err != nil {
		return fmt.Errorf("draw the line of %s: %w", system, err)
	}
	line.Color, points.Color, points.Shape = plotutil.Color(i), plotutil.Color(i), plotutil.Shape(i)
	p.Add(line, points)
	p.Legend.Add(system, line, points)
	return nil
}
