package report

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"dormouse/jepsen/check"
	"dormouse/jepsen/history"
)

// figures draws all plots of a run.
func figures(h *history.History) ([]*figure, error) {
	t := newTimeline(h)
	s := newSeries(h, t.end)
	list := []*figure{throughput(s, t), latency(s, t)}
	if len(t.leaders) > 0 {
		list = append(list, leadership(t))
	}
	list = append(list, samples(h, t)...)
	return list, render(list)
}

func throughput(s series, t *timeline) *figure {
	f := newFigure("Throughput", fmt.Sprintf("calls a second that ended, by outcome, each %v; faults are shaded, with the number of their step", s.width), t)
	f.line("ok", inkSeries, s.points(func(b bucket) float64 { return float64(b.ok) / s.width.Seconds() }))
	f.line("refused", inkSeries+1, s.points(func(b bucket) float64 { return float64(b.refused) / s.width.Seconds() }))
	f.line("unknown", inkSeries+2, s.points(func(b bucket) float64 { return float64(b.unknown) / s.width.Seconds() }))
	f.amounts()
	return f
}

func latency(s series, t *timeline) *figure {
	f := newFigure("Latency", "ms of calls that were ok, by their return; a gap is a stretch without any", t)
	ms := func(b bucket, d float64) float64 {
		if b.ok == 0 {
			return math.NaN()
		}
		return max(d*1e3, 0.01)
	}
	f.line("p50", inkSeries, s.points(func(b bucket) float64 { return ms(b, b.p50.Seconds()) }))
	f.line("p99", inkSeries+1, s.points(func(b bucket) float64 { return ms(b, b.p99.Seconds()) }))
	f.plot.Y.Scale = plot.LogScale{}
	f.plot.Y.Tick.Marker = plot.TickerFunc(decades)
	low, high := math.Inf(1), math.Inf(-1)
	for _, b := range s.buckets {
		if b.ok > 0 {
			low, high = min(low, ms(b, b.p50.Seconds())), max(high, ms(b, b.p99.Seconds()))
		}
	}
	if low > high {
		low, high = 1, 10
	}
	f.plot.Y.Min = math.Pow(10, math.Floor(math.Log10(low)))
	f.plot.Y.Max = math.Pow(10, math.Ceil(math.Log10(high*1.01)))
	return f
}

// points returns a line through the middle of each bucket.
func (s series) points(value func(bucket) float64) plotter.XYs {
	points := make(plotter.XYs, len(s.buckets))
	for i, b := range s.buckets {
		points[i] = plotter.XY{X: (float64(i) + 0.5) * s.width.Seconds(), Y: value(b)}
	}
	return points
}

// decades marks a logarithmic axis at the powers of ten.
func decades(low, high float64) []plot.Tick {
	var ticks []plot.Tick
	for at := low; at <= high*1.001; at *= 10 {
		ticks = append(ticks, plot.Tick{Value: at, Label: strconv.FormatFloat(at, 'f', -1, 64)})
	}
	return ticks
}

func leadership(t *timeline) *figure {
	f := newFigure("Leadership", "who was seen to lead, and in which term; a cross is a process that ended", t)
	rows := map[string]bool{}
	for _, s := range t.leaders {
		rows[s.node] = true
	}
	for _, e := range t.exits {
		rows[e.Node] = true
	}
	names := slices.SortedFunc(maps.Keys(rows), byName)
	slices.Reverse(names) // the first on top
	f.plot.Add(&leaderBars{timeline: t, names: names})
	ticks := make([]plot.Tick, len(names))
	for i, name := range names {
		ticks[i] = plot.Tick{Value: float64(i), Label: name}
	}
	f.plot.Y.Min, f.plot.Y.Max = -0.6, float64(len(names))-0.4
	f.plot.Y.Tick.Marker = plot.ConstantTicks(ticks)
	return f
}

// leaderBars draws a bar for the term of each leader.
type leaderBars struct {
	*timeline
	names []string
}

// Plot implements plot.Plotter.
func (r *leaderBars) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	style := p.X.Tick.Label
	style.Color, style.XAlign, style.YAlign = inkLabel, draw.XCenter, draw.YCenter
	half := min((y(1)-y(0))*0.36, 11)
	for _, s := range r.leaders {
		from, to, row := x(s.from.Seconds()), x(s.to.Seconds()), y(float64(slices.Index(r.names, s.node)))
		to = max(to, from+1.5)
		c.FillPolygon(inkSeries, []vg.Point{{X: from, Y: row - half}, {X: to - 0.5, Y: row - half}, {X: to - 0.5, Y: row + half}, {X: from, Y: row + half}})
		if name := fmt.Sprint(s.term); style.Width(name)+4 < to-from {
			c.FillText(style, vg.Point{X: (from + to) / 2, Y: row}, name)
		}
	}
	cross := draw.LineStyle{Color: inkSeries + 1, Width: 1.8}
	const arm = 4
	for _, e := range r.exits {
		at, row := x(e.At.Seconds()), y(float64(slices.Index(r.names, e.Node)))
		c.StrokeLine2(cross, at-arm, row-arm, at+arm, row+arm)
		c.StrokeLine2(cross, at-arm, row+arm, at+arm, row-arm)
	}
}

// samples draws the sampled metrics of the nodes.
func samples(h *history.History, t *timeline) []*figure {
	measures := []struct {
		title, note string
		of          func(check.Sample) float64
	}{
		{"Memory", "MiB resident, of each node's process", func(s check.Sample) float64 { return float64(s.RSS) / (1 << 20) }},
		{"Goroutines", "of each node's process", func(s check.Sample) float64 { return float64(s.Goroutines) }},
		{"Descriptors", "open in each node's process", func(s check.Sample) float64 { return float64(s.Descriptors) }},
	}
	var list []*figure
	for _, m := range measures {
		points := map[string]plotter.XYs{} // :: node → its samples; 0 is one that was not learnt
		for _, e := range h.Events {
			if e.At > t.end {
				break
			}
			at := plotter.XY{X: e.At.Seconds(), Y: math.NaN()}
			var s check.Sample
			switch {
			case e.Kind == history.EventExit && points[e.Node] != nil: // a gap
			case e.Kind == history.EventSample && len(e.Data) > 0 && json.Unmarshal(e.Data, &s) == nil && m.of(s) > 0:
				at.Y = m.of(s)
			default:
				continue
			}
			points[e.Node] = append(points[e.Node], at)
		}
		if len(points) == 0 {
			continue
		}
		f := newFigure(m.title, m.note, t)
		for i, node := range slices.SortedFunc(maps.Keys(points), byName) {
			f.line(node, inkSeries+ink(i)%(inks-inkSeries), points[node])
		}
		f.amounts()
		list = append(list, f)
	}
	return list
}

// byName compares names of nodes, and sorts n2 before n10.
func byName(a, b string) int {
	if len(a) != len(b) {
		return len(a) - len(b)
	}
	return strings.Compare(a, b)
}
