package report

import (
	"fmt"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// trialPlots are the plots of trials, each with the trials that it shows.
var trialPlots = []struct {
	file, title, unit string
	trials            []struct{ name, label string }
}{
	{"failover", "Longest time without an acknowledged write, median and rounds", "s", []struct{ name, label string }{
		{TrialFailover, "leader killed"}, {TrialSilent, "leader stopped"},
	}},
	{"growth", "Throughput with many agents, as a part of that with 10,000", "×", []struct{ name, label string }{
		{TrialGrowth + " put-1k", "put"}, {TrialGrowth + " append-300", "append"}, {TrialGrowth + " get-1k", "get"},
	}},
}

// drawTrials draws each plot whose trials were made: a bar for the median of each trial and system, and a
// dot for each round. It returns the plots by file.
func (d *Document) drawTrials() (map[string]*plot.Plot, error) {
	plots := map[string]*plot.Plot{}
	for _, t := range trialPlots {
		var labels []string
		var medians plotter.Values
		var rounds plotter.XYs
		for _, shown := range t.trials {
			for _, system := range d.systemsOf(shown.name) {
				values := d.trialValues(shown.name, system)
				for _, v := range values {
					rounds = append(rounds, plotter.XY{X: float64(len(labels)), Y: v})
				}
				labels, medians = append(labels, shown.label+", "+system), append(medians, Median(values))
			}
		}
		if len(labels) == 0 {
			continue
		}
		p, err := barsWithRounds(labels, medians, rounds)
		if err != nil {
			return nil, fmt.Errorf("draw %s: %w", t.file, err)
		}
		p.Title.Text, p.Y.Label.Text = t.title, t.unit
		plots[t.file+".svg"] = p
	}
	return plots, nil
}

// systemsOf returns the systems with which a trial was made, in order.
func (d *Document) systemsOf(trial string) (systems []string) {
	for _, t := range d.Trials {
		if t.Name == trial && !slices.Contains(systems, t.System) {
			systems = append(systems, t.System)
		}
	}
	return systems
}

// trialValues returns what the rounds of a system's trial measured.
func (d *Document) trialValues(trial, system string) (values []float64) {
	for _, t := range d.Trials {
		if t.Name == trial && t.System == system {
			values = append(values, t.Value)
		}
	}
	return values
}

// barsWithRounds draws a bar with its number for each label, and a dot for each round.
func barsWithRounds(labels []string, medians plotter.Values, rounds plotter.XYs) (*plot.Plot, error) {
	p := plot.New()
	p.Title.Padding, p.Y.Min = vg.Points(6), 0
	p.NominalX(labels...)
	grid := plotter.NewGrid()
	grid.Vertical.Width = 0
	bars, err := plotter.NewBarChart(medians, vg.Points(40))
	if err != nil {
		return nil, fmt.Errorf("the bars: %w", err)
	}
	bars.Color, bars.LineStyle.Width = pictured[0].color, 0
	dots, err := plotter.NewScatter(rounds)
	if err != nil {
		return nil, fmt.Errorf("the rounds: %w", err)
	}
	dots.Shape = draw.CircleGlyph{}
	p.Add(grid, bars, dots, numbers{medians, -vg.Points(34), "%.2f"})
	p.X.Min, p.X.Max = -0.5, float64(len(labels))-0.5
	p.Y.Max *= 1.15 // room for the numbers
	return p, nil
}
