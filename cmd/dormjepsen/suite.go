package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"dormouse/jepsen"
	"dormouse/jepsen/check"
	"dormouse/jepsen/report"
)

// part is one of several runs.
type part struct {
	name    string // for people, and name of the directory
	options jepsen.Options
}

// outcome is the outcome of a part.
type outcome struct {
	Name   string          `json:"name"`
	Dir    string          `json:"dir"`
	Error  string          `json:"error,omitempty"` // why the run could not start
	Result report.Document `json:"result"`
}

// verdict returns the part's verdict; a run that could not start is unknown.
func (o outcome) verdict() check.Verdict {
	if o.Error != "" || o.Result.Run == nil {
		return check.Unknown
	}
	return o.Result.Verdict
}

// playPart makes one of several runs.
func (a *app) playPart(ctx context.Context, p *progress, dir, binary string, long time.Duration, part part) outcome {
	o := part.options
	o.Dir = filepath.Join(dir, part.name)
	if o.Time == 0 {
		o.Time = long
	}
	o.Binary = binary
	out := outcome{Name: part.name, Dir: o.Dir}
	p.line(fmt.Sprintf("%s  begins: %s under %s, on a cluster of %d, seed %d", part.name, strings.Join(o.Workloads, ", "), strings.Join(o.Nemeses, ", "), o.Nodes, o.Seed))
	run, err := a.play(ctx, o, p)
	if err != nil {
		out.Error = err.Error()
		p.line(part.name + "  could not run: " + out.Error)
		return out
	}
	out.Result = report.NewDocument(run)
	p.line(fmt.Sprintf("%s  %s, %d calls judged, took %v", part.name, run.Verdict, out.Result.Judged(), run.Took.Round(time.Second)))
	return out
}

// summary is the summary of several runs.
type summary struct {
	Verdict    check.Verdict `json:"verdict"`
	Runs       int           `json:"runs"`       // planned runs
	Made       int           `json:"made"`       // runs that could start
	Violations int           `json:"violations"` // runs with a violation
	Unknown    int           `json:"unknown"`    // runs with an unknown verdict
	Judged     int           `json:"judged"`     // judged calls
	Lost       int           `json:"leaders_lost"`
	Alone      int           `json:"leaders_lost_alone"` // of these, losses by a fault that affected only the leader
	Median     time.Duration `json:"leader_loss_median"` // of these, time until the next commit

	Installs int `json:"snapshots_installed"`

	RollingCalls   int `json:"rolling_calls"`   // in rolling restarts, by clients that may use any node
	RollingRefused int `json:"rolling_refused"` // of these, failed

	Bars  []report.Bar `json:"bars,omitempty"` // of a full cover
	Parts []outcome    `json:"parts"`
}

// sum returns the summary of the outcomes; runs is the number of planned runs.
func sum(parts []outcome, runs int) summary {
	s := summary{Verdict: check.OK, Runs: runs, Parts: parts}
	var losses []report.Loss
	for _, o := range parts {
		if o.Error != "" || o.Result.Run == nil {
			continue
		}
		s.Made++
		switch o.verdict() {
		case check.OK:
		case check.Violation:
			s.Violations++
		default:
			s.Unknown++
		}
		s.Judged += o.Result.Judged()
		s.Installs += o.Result.Installs()
		losses = append(losses, o.Result.Losses...)
		for _, r := range o.Result.Results {
			s.RollingCalls += r.Counts[check.CountRollingCalls]
			s.RollingRefused += r.Counts[check.CountRollingRefused]
		}
	}
	switch {
	case s.Violations > 0:
		s.Verdict = check.Violation
	case s.Unknown > 0 || s.Made < s.Runs:
		s.Verdict = check.Unknown
	}
	waits := report.Waits(losses)
	s.Lost, s.Alone = len(losses), len(waits)
	if s.Alone > 0 {
		s.Median = waits[(s.Alone-1)/2]
	}
	return s
}

// table returns the summary as text.
func (s summary) table() string {
	var rows [][]string
	for _, o := range s.Parts {
		if o.Result.Run == nil {
			rows = append(rows, []string{o.Name, "could not run", "", "", "", "", o.Error})
			continue
		}
		d := o.Result
		notes := report.Reasons(d.Results)
		for _, m := range d.Missing {
			notes = append(notes, "missing: "+m)
		}
		rows = append(rows, []string{
			o.Name, string(d.Verdict), fmt.Sprint(d.Judged()), fmt.Sprint(len(d.Losses)), fmt.Sprint(d.Installs()), d.Took.Round(time.Second).String(), strings.Join(notes, "\n"),
		})
	}
	text := report.Table([]string{"run", "verdict", "judged", "leaders lost", "snapshots installed", "took", "notes"}, rows)
	text += fmt.Sprintf("\n%s: %d of %d runs, %d calls judged, %d snapshots installed", s.Verdict, s.Made, s.Runs, s.Judged, s.Installs)
	if s.Lost > 0 {
		text += fmt.Sprintf(", %d leaders lost", s.Lost)
	}
	if s.Alone > 0 {
		text += fmt.Sprintf(" (%d by a fault of the leader alone: median time until the next commit %v)", s.Alone, s.Median.Round(10*time.Millisecond))
	}
	text += "\n"
	if s.Bars != nil {
		text += s.scorecard(time.Now())
	}
	return text
}

// conclude prints the summary of several runs. It returns an error if a run could not
// start.
func (a *app) conclude(s summary) error {
	if err := a.print(s, s.table()); err != nil {
		return err
	}
	for _, o := range s.Parts {
		if o.Error != "" && s.Verdict != check.Violation {
			return fmt.Errorf("%s could not run: %s", o.Name, o.Error)
		}
	}
	return nil
}
