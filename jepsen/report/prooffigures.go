package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/plot/plotter"
)

// proofFigures draws the plots of a proof for which there is data.
func proofFigures(p *Proof) ([]*figure, error) {
	var list []*figure
	if len(p.Runs) > 0 {
		list = append(list, judged(p.Runs))
	}
	if f := waited(p.Runs); f != nil {
		list = append(list, f)
	}
	if len(p.Simulated) > 0 {
		list = append(list, simulated(p.Simulated))
	}
	return list, render(list)
}

// upTo makes the horizontal axis one of amounts from 0 to high.
func (f *figure) upTo(high float64) {
	const ticksMax = 10
	f.plot.X.Min, f.plot.X.Max = 0, high
	f.plot.X.Tick.Marker = roundTicks(ticksMax)
}

// judged draws how many calls were judged, over the time that the runs took.
func judged(runs []Document) *figure {
	f := blankFigure("Calls judged", "by all runs so far, over the minutes that the runs took")
	points := plotter.XYs{{}}
	var took time.Duration
	calls := 0
	for _, d := range runs {
		took, calls = took+d.Took, calls+d.Judged()
		points = append(points, plotter.XY{X: took.Minutes(), Y: float64(calls)})
	}
	f.line("on real nodes", inkSeries, points)
	f.upTo(took.Minutes())
	f.amounts()
	return f
}

// waitedSeries is how many faults have a line of their own in the figure of waits.
const waitedSeries = 7

// waited draws how long callers waited after a fault of the leader alone, for the faults with the
// most losses; nil if there was none.
func waited(runs []Document) *figure {
	waits := map[string][]time.Duration{} // :: fault
	for _, d := range runs {
		for _, l := range d.Losses {
			if fault, _, _ := strings.Cut(l.Fault, "/"); l.Alone {
				waits[fault] = append(waits[fault], l.Took)
			}
		}
	}
	if len(waits) == 0 {
		return nil
	}
	f := blankFigure("Waits for a leader", "seconds without an acknowledged call after a fault of the leader alone; the share of losses, in %, that took at most as long")
	most := time.Duration(0)
	faults := slices.SortedFunc(maps.Keys(waits), func(a, b string) int {
		return cmp.Or(len(waits[b])-len(waits[a]), strings.Compare(a, b))
	})
	for i, fault := range faults[:min(len(faults), waitedSeries)] {
		took := waits[fault]
		slices.Sort(took)
		points := plotter.XYs{{}}
		for n, w := range took {
			share := 100 / float64(len(took))
			points = append(points, plotter.XY{X: w.Seconds(), Y: share * float64(n)}, plotter.XY{X: w.Seconds(), Y: share * float64(n+1)})
		}
		f.line(fmt.Sprintf("%s, %d losses", fault, len(took)), inkSeries+ink(i), points)
		most = max(most, took[len(took)-1])
	}
	f.upTo(max(most.Seconds(), 1))
	f.amounts()
	f.plot.Y.Max = 100
	return f
}

// simulated draws the virtual time of simulated runs over the CPU time that they took.
func simulated(runs []Simulated) *figure {
	f := blankFigure("Simulated time", "minutes of all runs so far, over their minutes of CPU")
	points := plotter.XYs{{}}
	var virtual, cpu time.Duration
	for _, r := range runs {
		virtual, cpu = virtual+r.Simulated, cpu+r.CPU
		points = append(points, plotter.XY{X: cpu.Minutes(), Y: virtual.Minutes()})
	}
	f.line("in the simulator", inkSeries+1, points)
	f.upTo(max(cpu.Minutes(), 1e-3))
	f.amounts()
	return f
}
