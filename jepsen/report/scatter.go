package report

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"dormouse/jepsen/history"
)

// scatterHeight is the height of the figure of single calls: it has several decades.
const scatterHeight = 240

// Cells in which at most one point of an outcome is drawn, in the units of the plot, and the points of
// one outcome in one column: they bound the page, however many calls there were.
const (
	cellSize       = 2
	cellsPerColumn = 16
)

// scattered is one call as a point: the time of its start, and how long it took.
type scattered struct{ at, took time.Duration }

// scatter draws each call by its start and the time that it took. A call without an answer stands at the
// upper edge.
func scatter(h *history.History, t *timeline) *figure {
	outcomes := []struct {
		outcome history.Outcome
		ink     ink
	}{{history.OK, inkSeries}, {history.Refused, inkRefused}, {history.Unknown, inkUnknown}}
	points := map[history.Outcome][]scattered{}
	low, high, never := time.Duration(math.MaxInt64), time.Duration(0), 0
	for _, op := range h.Ops {
		p := scattered{op.Invoke, history.Never}
		if op.Return == history.Never {
			never++
		} else {
			p.took = max(op.Return-op.Invoke, 10*time.Microsecond)
			low, high = min(low, p.took), max(high, p.took)
		}
		points[op.Outcome] = append(points[op.Outcome], p)
	}
	if low > high {
		low, high = time.Millisecond, 10*time.Millisecond
	}
	note := "ms of each call, at its start; faults are shaded, with their step"
	if never > 0 {
		note += fmt.Sprintf("; %s calls without an answer are at the upper edge", count(never))
	}
	f := newFigure("Calls", note, t)
	f.height = scatterHeight
	f.plot.Y.Scale = plot.LogScale{}
	f.plot.Y.Tick.Marker = plot.TickerFunc(decades)
	f.plot.Y.Min = decade(low, math.Floor)
	f.plot.Y.Max = max(decade(high, math.Ceil), 10*f.plot.Y.Min)
	for _, o := range outcomes {
		if len(points[o.outcome]) == 0 {
			continue
		}
		f.name(fmt.Sprintf("%s %s", count(len(points[o.outcome])), o.outcome), o.ink)
		f.plot.Add(&dots{points[o.outcome], o.ink})
	}
	return f
}

// decade returns the power of ten in ms below or above a duration.
func decade(d time.Duration, round func(float64) float64) float64 {
	return math.Pow(10, round(math.Log10(d.Seconds()*1e3)))
}

// dots draws calls as one path.
type dots struct {
	points []scattered
	ink    ink
}

// Plot implements plot.Plotter.
func (d *dots) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	columns := map[int][]int{} // :: column → rows of its points
	for _, point := range d.points {
		at := c.Max.Y - 2
		if point.took != history.Never {
			at = min(y(point.took.Seconds()*1e3), at)
		}
		column := int(x(point.at.Seconds()) / cellSize)
		columns[column] = append(columns[column], int(at/cellSize))
	}
	var path vg.Path
	for _, column := range slices.Sorted(maps.Keys(columns)) {
		for _, row := range thinned(column, columns[column]) {
			at := vg.Point{X: vg.Length(column) * cellSize, Y: vg.Length(row) * cellSize}
			path.Move(at)
			path.Line(vg.Point{X: at.X + cellSize, Y: at.Y})
			path.Line(vg.Point{X: at.X + cellSize, Y: at.Y + cellSize})
			path.Line(vg.Point{X: at.X, Y: at.Y + cellSize})
			path.Close()
		}
	}
	c.SetColor(d.ink)
	c.Fill(path)
}

// thinned returns at most cellsPerColumn different rows: the lowest, the highest, and others without a
// pattern.
func thinned(column int, rows []int) []int {
	slices.Sort(rows)
	rows = slices.Compact(rows)
	if len(rows) <= cellsPerColumn {
		return rows
	}
	last := len(rows) - 1
	rnd := rand.New(rand.NewPCG(uint64(column), 0))
	rnd.Shuffle(last-1, func(i, j int) { rows[i+1], rows[j+1] = rows[j+1], rows[i+1] })
	return append(rows[:cellsPerColumn-1:cellsPerColumn-1], rows[last])
}
