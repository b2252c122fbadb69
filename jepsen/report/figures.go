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

	"dormouse/jepsen/check"
	"dormouse/jepsen/history"
)

// figures draws all plots of a run.
func figures(h *history.History) ([]*figure, error) {
	t := newTimeline(h)
	s := newSeries(h, t.end)
	o := observe(h, t)
	list := []*figure{scatter(h, t), throughput(s, t), latency(s, t)}
	if len(t.leaders)+len(o.stays) > 0 {
		list = append(list, nodes(o, t))
	}
	if len(o.behind) > 0 {
		list = append(list, behind(o, t))
	}
	list = append(list, samples(h, t)...)
	return list, render(list)
}

func throughput(s series, t *timeline) *figure {
	f := newFigure("Throughput", fmt.Sprintf("calls a second that ended, by outcome, each %v", s.width), t)
	f.line("ok", inkSeries, s.points(func(b bucket) float64 { return float64(b.ok) / s.width.Seconds() }))
	f.line("refused", inkRefused, s.points(func(b bucket) float64 { return float64(b.refused) / s.width.Seconds() }))
	f.line("unknown", inkUnknown, s.points(func(b bucket) float64 { return float64(b.unknown) / s.width.Seconds() }))
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
	if low <= 0 { // the axis has no decades
		return nil
	}
	for at := low; at <= high*1.001; at *= 10 {
		ticks = append(ticks, plot.Tick{Value: at, Label: strconv.FormatFloat(at, 'f', -1, 64)})
	}
	return ticks
}

// gaps returns the points of a line, which is interrupted where there was no sample.
func gaps(list []lag) plotter.XYs {
	var points plotter.XYs
	for i, l := range list {
		if i > 0 && l.at-list[i-1].at > sampleGap {
			points = append(points, plotter.XY{X: l.at.Seconds(), Y: math.NaN()})
		}
		points = append(points, plotter.XY{X: l.at.Seconds(), Y: l.behind})
	}
	return points
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
