package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"dormouse/internal/cli"
	"dormouse/jepsen"
	"dormouse/jepsen/check"
	"dormouse/jepsen/history"
	"dormouse/jepsen/nemesis"
	"dormouse/jepsen/report"
)

// errBudget is the cause when the budget of a cover is spent.
var errBudget = errors.New("the budget is spent")

// sizes are the cluster sizes of a cover.
var sizes = []int{1, 3, 5, 7}

func (a *app) fullCommand() *cobra.Command {
	var o jepsen.CoverOptions
	var budget time.Duration
	var calls int
	var workloadList, nemesisList string
	cmd := &cobra.Command{
		Use: "full", Short: "Run every pair of workload, nemesis and size", Args: cli.Exactly(),
		Long: "full makes a pairwise cover: every pair of a workload and a nemesis, of a workload and a size (1, 3, 5, 7), and of a nemesis and a size\n" +
			"is in at least one run. It resumes after an interruption: the same command makes only the runs that are not complete.\n" +
			"Another --seed gives another cover. With --calls, full then goes on with runs of the covers of the following seeds, until that many calls\n" +
			"are judged and the runs met everything that they are for at least " + fmt.Sprint(check.MetMin) + " times.\n\n" + exitTable,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.Time <= 0 || budget <= 0 {
				return cli.Usagef("--time and --budget are durations above 0, such as 60s and 3h")
			}
			if calls < 0 {
				return cli.Usagef("--calls is a number of calls, or 0")
			}
			var err error
			if o.Workloads, err = workloads(workloadList); err != nil {
				return err
			}
			if o.Nemeses, err = nemeses(nemesisList); err != nil {
				return err
			}
			if nemesisList == everything {
				o.Nemeses = nemesis.Names() // includes "none"
			}
			ctx, cancel := context.WithTimeoutCause(cmd.Context(), budget, errBudget)
			defer cancel()
			return a.cover(ctx, o, calls)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.Dir, "dir", filepath.Join(runsDir, "full"), "directory for the files of the runs and the state of the cover")
	flags.DurationVar(&budget, "budget", 3*time.Hour, "maximum time; the same command makes the remaining runs later")
	flags.IntVar(&calls, "calls", 0, "go on after the cover until this many calls are judged (0: end with the cover)")
	flags.StringVar(&workloadList, "workload", everything, "workloads of the cover, comma-separated")
	flags.StringVar(&nemesisList, "nemesis", everything, "nemeses of the cover, comma-separated")
	flags.DurationVar(&o.Time, "time", 60*time.Second, "length of each run")
	flags.Uint64Var(&o.Seed, "seed", 1, "seed of the cover and of all its runs")
	flags.StringVar(&o.Binary, "binary", "", "path of dormoused (default: built from this checkout)")
	return cmd
}

// cover makes the remaining runs of a cover, and prints the results of all its runs. With calls above 0
// it makes further runs until as many calls are judged.
func (a *app) cover(ctx context.Context, o jepsen.CoverOptions, calls int) error {
	p := newProgress(a.stderr, a.terminal)
	runs := len(jepsen.Cover(o.Seed, o.Workloads, o.Nemeses, sizes))
	o.Sizes, o.Progress = sizes, p.draw
	o.Ended = func(done jepsen.CoverDone, run *report.Run) error {
		name := filepath.Base(done.Dir)
		if run == nil {
			p.line(name + "  could not run: " + done.Failed)
			return nil
		}
		p.line(fmt.Sprintf("%s  %s, %d calls judged, took %v", name, done.Verdict, run.Judged(), done.Took.Round(time.Second)))
		return keep(run)
	}
	var parts []outcome
	read := func(ended []jepsen.CoverDone) {
		for _, done := range ended[len(parts):] {
			parts = append(parts, endedPart(done))
		}
	}
	if calls > 0 {
		o.Needs = func(ended []jepsen.CoverDone, r jepsen.CoverRun) bool {
			read(ended)
			return sum(parts, len(parts)).lacks(history.Header{Workloads: r.Workloads, Nemeses: []string{r.Nemesis}}, calls)
		}
	}
	ended, err := a.runCover(ctx, o)
	p.end()
	spent := errors.Is(err, errBudget)
	if err != nil && ctx.Err() == nil {
		return err
	}
	read(ended)
	s := sum(parts, max(runs, len(parts)))
	s.Bars = s.bars(calls)
	if s.Verdict == check.OK && (s.Judged < calls || slices.ContainsFunc(s.met(), func(b report.Bar) bool { return b.Verdict != check.OK })) {
		s.Verdict = check.Unknown
	}
	if err := a.conclude(s); err != nil {
		return err
	}
	switch left := s.Runs - s.Made; {
	case spent && left > 0:
		a.tell("dormjepsen: %v; the same command makes the remaining %d runs", errBudget, left)
	case spent:
		a.tell("dormjepsen: %v; the same command makes further runs", errBudget)
	}
	return verdict(s.Verdict, ctx.Err() != nil && !spent)
}

// keep writes the report of a run. If the run is ok, keep also removes the nodes' data
// and packs the history.
func keep(run *report.Run) error {
	if err := report.Write(run); err != nil || run.Verdict != check.OK {
		return err
	}
	return errors.Join(forget(run.Dir), pack(filepath.Join(run.Dir, report.HistoryName)))
}

// endedPart returns the outcome of a run of a cover, which may be from an earlier
// session.
func endedPart(done jepsen.CoverDone) outcome {
	out := outcome{Name: filepath.Base(done.Dir), Dir: done.Dir, Error: done.Failed}
	if done.Failed != "" {
		return out
	}
	var err error
	if out.Result, err = report.ReadDocument(done.Dir); err != nil {
		out.Error = err.Error()
	}
	return out
}
