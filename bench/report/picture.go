package report

import (
	"fmt"
	"image/color"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// pictured are the systems and workloads of the picture, in its order.
var (
	pictured = []struct {
		system string
		color  color.Color
	}{
		{dormouse, color.RGBA{R: 0x3b, G: 0x5b, B: 0xdb, A: 255}},
		{etcd, color.RGBA{R: 0x86, G: 0x8e, B: 0x96, A: 255}},
		{postgres, color.RGBA{R: 0x2b, G: 0x8a, B: 0x3e, A: 255}},
	}
	picturedWorkloads = []string{workPut, workAppend, workTurn, workGet, workThaw}
)

// Picture draws the throughput of each workload as a multiple of etcd's, a bar for each system that
// was measured with so many callers, into an SVG file. It is an error if the comparison has no etcd
// at that number of callers.
func Picture(d *Document, callers int, file string) error {
	var workloads []string
	for _, w := range picturedWorkloads {
		if len(d.cells(at{etcd, w, callers})) > 0 {
			workloads = append(workloads, w)
		}
	}
	if len(workloads) == 0 {
		return fmt.Errorf("the comparison has no measurement of etcd with %d callers: name another number of callers, or measure it", callers)
	}
	p := plot.New()
	p.Title.Text = fmt.Sprintf("Throughput with %d callers, as a multiple of etcd's", callers)
	p.Title.Padding = vg.Points(6)
	p.Y.Min, p.Y.Label.Text = 0, "× etcd"
	p.Legend.Top = true
	p.NominalX(workloads...)
	grid := plotter.NewGrid()
	grid.Vertical.Width = 0
	p.Add(grid)
	if err := d.addBars(p, workloads, callers); err != nil {
		return err
	}
	p.Y.Max *= 1.15 // room for the numbers
	if err := p.Save(18*vg.Centimeter, 8*vg.Centimeter, file); err != nil {
		return fmt.Errorf("draw the picture %s: %w", file, err)
	}
	return nil
}

// addBars adds the bars of each system, and the number above each bar.
func (d *Document) addBars(p *plot.Plot, workloads []string, callers int) error {
	const width = vg.Length(22)
	var shown []int
	for i, s := range pictured {
		if slices.ContainsFunc(workloads, func(w string) bool { return len(d.cells(at{s.system, w, callers})) > 0 }) {
			shown = append(shown, i)
		}
	}
	for place, i := range shown {
		values := make(plotter.Values, len(workloads))
		for n, w := range workloads {
			values[n], _ = d.ratio(at{pictured[i].system, w, callers}, at{etcd, w, callers}, Rate)
		}
		bars, err := plotter.NewBarChart(values, width)
		if err != nil {
			return fmt.Errorf("draw the bars of %s: %w", pictured[i].system, err)
		}
		bars.Offset = (vg.Length(place) - vg.Length(len(shown)-1)/2) * (width + 2)
		bars.Color, bars.LineStyle.Width = pictured[i].color, 0
		p.Add(bars, numbers{values, bars.Offset, "%.1f"})
		p.Legend.Add(pictured[i].system, bars)
	}
	return nil
}

// numbers writes the value of each bar above it.
type numbers struct {
	values plotter.Values
	offset vg.Length
	format string
}

// Plot implements plot.Plotter.
func (n numbers) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	style := p.X.Tick.Label
	style.XAlign, style.YAlign = draw.XCenter, draw.YBottom
	for i, v := range n.values {
		c.FillText(style, vg.Point{X: x(float64(i)) + n.offset, Y: y(v) + 2}, fmt.Sprintf(n.format, v))
	}
}
