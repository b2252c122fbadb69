package report

import (
	"bytes"
	"cmp"
	"fmt"
	"html/template"
	"image/color"
	"math"
	"regexp"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"dormouse/jepsen/check"
)

// Sizes of a plot in the units of its view box. The page scales the plot.
const (
	plotWidth  = 1040
	plotHeight = 150
	fontSize   = 11
)

// ink is a colour that the style sheet of the page defines, so that one plot serves the
// light and the dark theme. The plot is drawn with a placeholder, which inline replaces.
type ink uint8

const (
	inkText ink = iota
	inkGrid
	inkFault
	inkLabel // on a bar
	inkFollower
	inkRefused
	inkUnknown
	inkSeries
	inks = inkSeries + 8 // of eight series
)

// RGBA returns the placeholder.
func (i ink) RGBA() (r, g, b, a uint32) {
	return color.NRGBA{R: 1, G: 0xfe, B: uint8(i), A: 255}.RGBA()
}

// standIn matches the placeholder that RGBA returned.
var standIn = regexp.MustCompile(`(?i)#01fe([0-9a-f]{2})`)

// Var returns the name of the variable in the style sheet.
func (i ink) Var() string {
	switch i {
	case inkText:
		return "--plot-text"
	case inkGrid:
		return "--plot-grid"
	case inkFault:
		return "--plot-fault"
	case inkLabel:
		return "--plot-label"
	case inkFollower:
		return "--plot-follower"
	case inkRefused:
		return "--refused"
	case inkUnknown:
		return "--unknown"
	default:
		return fmt.Sprintf("--series-%d", (i-inkSeries)%(inks-inkSeries)+1)
	}
}

// figure is a plot with its title and its legend.
type figure struct {
	Title  string
	Note   string
	Legend []legend
	SVG    template.HTML

	plot   *plot.Plot
	height int // plotHeight if 0
}

// legend names the data of one colour of a figure.
type legend struct {
	Style template.CSS
	Shape string // of a mark; "" means a line or an area
	Name  string
}

// name adds a colour to the legend.
func (f *figure) name(name string, i ink) { f.mark(name, "", i) }

// mark adds a shape of a colour to the legend.
func (f *figure) mark(name, shape string, i ink) {
	f.Legend = append(f.Legend, legend{template.CSS("--c: var(" + i.Var() + ")"), shape, name})
}

// newFigure returns an empty figure over the whole of t, with its faults shaded.
func newFigure(title, note string, t *timeline) *figure {
	f := blankFigure(title, note, &shades{t.faults})
	f.plot.X.Min, f.plot.X.Max = 0, max(t.end.Seconds(), 1)
	f.plot.X.Tick.Marker = plot.TickerFunc(secondTicks)
	return f
}

// blankFigure returns an empty figure, with what lies below its grid.
func blankFigure(title, note string, below ...plot.Plotter) *figure {
	p := plot.New()
	p.BackgroundColor = nil
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.Color = inkGrid
		axis.Tick.Color = inkGrid
		axis.Tick.Length = 3
		axis.Tick.Label.Color = inkText
		axis.Tick.Label.Font.Size = fontSize
		axis.Padding = 0
	}
	p.X.Tick.Label.Font.Variant, p.Y.Tick.Label.Font.Variant = "Sans", "Sans"
	p.Add(below...)
	grid := plotter.NewGrid()
	grid.Vertical.Width = 0
	grid.Horizontal.Color, grid.Horizontal.Width = inkGrid, 0.5
	p.Add(grid)
	return &figure{Title: title, Note: note, plot: p}
}

// line adds a line through points; NaN makes a gap.
func (f *figure) line(name string, i ink, points plotter.XYs) {
	f.name(name, i)
	for len(points) > 0 {
		n := 0
		for n < len(points) && !math.IsNaN(points[n].Y) {
			n++
		}
		if n > 0 {
			f.plot.Add(&plotter.Line{XYs: points[:n], LineStyle: draw.LineStyle{Color: i, Width: 1.4}})
		}
		points = points[min(n+1, len(points)):]
	}
}

// amounts makes the vertical axis start at 0, with a margin at the top.
func (f *figure) amounts() {
	f.plot.Y.Min, f.plot.Y.Max = 0, max(f.plot.Y.Max*1.1, 1)
	f.plot.Y.Tick.Marker = plot.TickerFunc(amountTicks)
}

// render draws figures with aligned axes.
func render(figures []*figure) error {
	var left, right vg.Length
	area := draw.New(vgsvg.New(plotWidth, plotHeight))
	for _, f := range figures {
		data := f.plot.DataCanvas(area)
		left, right = max(left, data.Min.X-area.Min.X), max(right, area.Max.X-data.Max.X)
	}
	for _, f := range figures {
		canvas := vgsvg.New(plotWidth, vg.Length(cmp.Or(f.height, plotHeight)))
		area := draw.New(canvas)
		data := f.plot.DataCanvas(area)
		f.plot.Draw(draw.Crop(area, left-(data.Min.X-area.Min.X), -(right - (area.Max.X - data.Max.X)), 0, 0))
		var b bytes.Buffer
		if _, err := canvas.WriteTo(&b); err != nil {
			return fmt.Errorf("draw %q: %w", f.Title, err)
		}
		f.SVG = inline(b.Bytes())
	}
	return nil
}

var (
	prologue = regexp.MustCompile(`(?s)^.*?<svg width="[^"]*" height="[^"]*"`)
	families = regexp.MustCompile(`font-family:[^"]*?font-style:[a-z]*;?`)
)

// inline makes an SVG file a part of the page: it removes the prologue, and uses the
// colours and the font of the style sheet.
func inline(svg []byte) template.HTML {
	svg = prologue.ReplaceAll(svg, []byte(`<svg role="img"`))
	svg = families.ReplaceAll(svg, nil)
	svg = standIn.ReplaceAllFunc(svg, func(match []byte) []byte {
		n, err := strconv.ParseUint(string(match[len(match)-2:]), 16, 8)
		if err != nil {
			panic(err) // the pattern has two hexadecimal digits
		}
		return []byte("var(" + ink(n).Var() + ")")
	})
	return template.HTML(svg) // our own drawing, its texts escaped by vgsvg
}

// shades draws the windows of faults, each with the number of its step and, if there is room, its name.
type shades struct{ faults []check.Window }

// Plot implements plot.Plotter.
func (s *shades) Plot(c draw.Canvas, p *plot.Plot) {
	x, _ := p.Transforms(&c)
	style := p.X.Tick.Label
	style.Color, style.XAlign, style.YAlign = inkText, draw.XLeft, draw.YTop
	style.Font.Size = fontSize - 2
	rooms := []vg.Length{c.Min.X, c.Min.X} // where the last text of each line ends
	for _, w := range s.faults {
		from, to := x(w.From.Seconds()), x(w.To.Seconds())
		to = max(to, from+1)
		c.FillPolygon(inkFault, []vg.Point{{X: from, Y: c.Min.Y}, {X: to, Y: c.Min.Y}, {X: to, Y: c.Max.Y}, {X: from, Y: c.Max.Y}})
		number := strconv.Itoa(w.Step)
		text := number + " " + w.Name
		if style.Width(text)+4 > to-from {
			text = number
		}
		for line, room := range rooms {
			if from < room {
				continue // another fault has its text there
			}
			c.FillText(style, vg.Point{X: from + 2, Y: c.Max.Y - vg.Length(line)*fontSize}, text)
			rooms[line] = from + style.Width(text) + 4
			break
		}
	}
}

// secondTicks returns the ticks of an axis of seconds: at most twelve round numbers.
func secondTicks(_, high float64) []plot.Tick {
	const most = 12
	steps := []float64{1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600}
	step := steps[len(steps)-1]
	for i := len(steps) - 1; i >= 0 && high/steps[i] <= most; i-- {
		step = steps[i]
	}
	unit, size := "s", 1.0
	if step >= 60 {
		unit, size = "m", 60
	}
	var ticks []plot.Tick
	for at := 0.0; at <= high; at += step {
		ticks = append(ticks, plot.Tick{Value: at, Label: fmt.Sprintf("%g%s", at/size, unit)})
	}
	return ticks
}

// amountTicks returns the ticks of a vertical axis of amounts from 0.
func amountTicks(low, high float64) []plot.Tick { return roundTicks(4)(low, high) }

// roundTicks returns the ticks of an axis of amounts from 0: at most that many round numbers.
func roundTicks(most float64) plot.TickerFunc {
	return func(_, high float64) []plot.Tick {
		step := math.Pow(10, math.Floor(math.Log10(high/most)))
		for _, times := range []float64{2, 2.5, 2} { // 2, 5, 10
			if high/step > most {
				step *= times
			}
		}
		var ticks []plot.Tick
		for n := 0; float64(n)*step <= high; n++ {
			at := float64(n) * step
			ticks = append(ticks, plot.Tick{Value: at, Label: strconv.FormatFloat(math.Round(at*1e6)/1e6, 'f', -1, 64)})
		}
		return ticks
	}
}
