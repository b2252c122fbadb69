package report

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"dormouse/jepsen/check"
	"dormouse/jepsen/history"
)

// sampleGap is the time without a sample after which a node counts as silent.
const sampleGap = 2500 * time.Millisecond

// stay is an interval in which a node reported one term.
type stay struct {
	node     string
	term     uint64
	from, to time.Duration
}

// install is a snapshot, or several, that a node installed before a sample.
type install struct {
	node  string
	at    time.Duration
	count int
}

// observed is what the samples tell about each node.
type observed struct {
	stays    []stay
	installs []install
	behind   map[string][]lag
}

// lag is how many entries a node had not applied that another one had committed.
type lag struct {
	at     time.Duration
	behind float64
}

// observe reads the samples until the end of the run.
func observe(h *history.History, t *timeline) observed {
	out := observed{behind: map[string][]lag{}}
	open, installed := map[string]int{}, map[string]int{} // :: node → index in stays; snapshots at its last sample
	var committed uint64
	for _, e := range h.Events {
		if e.At > t.end {
			break
		}
		if e.Kind == history.EventExit {
			delete(open, e.Node)
			delete(installed, e.Node) // its process counts from 0 again
			continue
		}
		s, ok := check.SampleOf(e)
		if !ok {
			continue
		}
		if i, had := open[e.Node]; had && out.stays[i].term == s.Term && e.At-out.stays[i].to <= sampleGap {
			out.stays[i].to = e.At
		} else if s.Term > 0 {
			if had && e.At-out.stays[i].to <= sampleGap {
				out.stays[i].to = e.At // the term changed between the samples
			}
			open[e.Node] = len(out.stays)
			out.stays = append(out.stays, stay{e.Node, s.Term, e.At, e.At})
		}
		if n := s.Installs - installed[e.Node]; n > 0 {
			out.installs = append(out.installs, install{e.Node, e.At, n})
		}
		installed[e.Node] = s.Installs
		committed = max(committed, s.Commit)
		if s.Applied > 0 {
			out.behind[e.Node] = append(out.behind[e.Node], lag{e.At, float64(committed - min(committed, s.Applied))})
		}
	}
	return out
}

// nodes draws a row for each node: its terms, when it led, when its process ended, and when it installed a
// snapshot.
func nodes(o observed, t *timeline) *figure {
	rows := map[string]bool{}
	for _, s := range o.stays {
		rows[s.node] = true
	}
	for _, s := range t.leaders {
		rows[s.node] = true
	}
	for _, e := range t.exits {
		rows[e.Node] = true
	}
	names := slices.SortedFunc(maps.Keys(rows), byName)
	slices.Reverse(names) // the first on top
	f := newFigure("Nodes", "the Raft term that each node reported; a gap is a node that did not answer", t)
	f.height = max(plotHeight, 30+34*len(names))
	f.name("leader", inkSeries)
	f.name("follower or candidate", inkFollower)
	f.mark("process ended", "cross", inkSeries+1)
	if len(o.installs) > 0 {
		f.mark("snapshot installed", "triangle", inkSeries+2)
	}
	f.plot.Add(&rowsOf{observed: o, timeline: t, names: names})
	ticks := make([]plot.Tick, len(names))
	for i, name := range names {
		ticks[i] = plot.Tick{Value: float64(i), Label: name}
	}
	f.plot.Y.Min, f.plot.Y.Max = -0.6, float64(len(names)) // with room for the names of two faults
	f.plot.Y.Tick.Marker = plot.ConstantTicks(ticks)
	return f
}

// rowsOf draws the rows of nodes.
type rowsOf struct {
	observed
	*timeline
	names []string
}

// Plot implements plot.Plotter.
func (r *rowsOf) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	row := func(node string) vg.Length { return y(float64(slices.Index(r.names, node))) }
	half := min((y(1)-y(0))*0.32, 9)
	style := p.X.Tick.Label
	style.XAlign, style.YAlign = draw.XCenter, draw.YCenter
	bar := func(i, text ink, at vg.Length, from, to time.Duration, term uint64) {
		left, right := x(from.Seconds()), x(to.Seconds())
		right = max(right, left+1.5)
		c.FillPolygon(i, []vg.Point{{X: left, Y: at - half}, {X: right - 0.5, Y: at - half}, {X: right - 0.5, Y: at + half}, {X: left, Y: at + half}})
		style.Color = text
		if name := fmt.Sprint(term); style.Width(name)+4 < right-left {
			c.FillText(style, vg.Point{X: (left + right) / 2, Y: at}, name)
		}
	}
	for _, s := range r.stays {
		for _, part := range r.without(s) {
			bar(inkFollower, inkText, row(s.node), part.from, part.to, s.term)
		}
	}
	for _, s := range r.leaders {
		bar(inkSeries, inkLabel, row(s.node), s.from, s.to, s.term)
	}
	const arm = 4
	cross := draw.LineStyle{Color: inkSeries + 1, Width: 1.8}
	for _, e := range r.exits {
		at, row := x(e.At.Seconds()), row(e.Node)
		c.StrokeLine2(cross, at-arm, row-arm, at+arm, row+arm)
		c.StrokeLine2(cross, at-arm, row+arm, at+arm, row-arm)
	}
	for _, i := range r.installs {
		at, foot := x(i.at.Seconds()), row(i.node)-half-1
		c.FillPolygon(inkSeries+2, []vg.Point{{X: at - 5, Y: foot - 7}, {X: at + 5, Y: foot - 7}, {X: at, Y: foot + 1}})
	}
}

// without returns the parts of a stay in which the node did not lead.
func (r *rowsOf) without(s stay) []stay {
	left := []stay{s}
	for _, led := range r.leaders {
		if led.node != s.node {
			continue
		}
		var next []stay
		for _, part := range left {
			if before := (stay{s.node, s.term, part.from, min(part.to, led.from)}); before.from < before.to {
				next = append(next, before)
			}
			if after := (stay{s.node, s.term, max(part.from, led.to), part.to}); after.from < after.to {
				next = append(next, after)
			}
		}
		left = next
	}
	return left
}

// behind draws how far each node was behind.
func behind(o observed, t *timeline) *figure {
	f := newFigure("Behind", "entries that another node had committed and this one had not applied; it falls at once where a snapshot is installed", t)
	for i, node := range slices.SortedFunc(maps.Keys(o.behind), byName) {
		f.line(node, inkSeries+ink(i)%(inks-inkSeries), gaps(o.behind[node]))
	}
	f.amounts()
	return f
}
