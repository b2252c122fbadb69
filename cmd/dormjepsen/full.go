package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"dormouse/internal/cli"
	"dormouse/jepsen"
	"dormouse/jepsen/check"
	"dormouse/jepsen/nemesis"
	"dormouse/jepsen/report"
)

// errBudget ends a cover whose time is over.
var errBudget = errors.New("the budget is spent")

// sizes of the clusters of a cover.
var sizes = []int{1, 3, 5}

func (a *app) fullCommand() *cobra.Command {
	var o jepsen.CoverOptions
	var budget time.Duration
	var workloadList, nemesisList string
	cmd := &cobra.Command{
		Use: "full", Short: "Make runs until every pair of workload, nemesis and size has met", Args: cli.Exactly(),
		Long: "full makes a pairwise cover: every pair of a workload and a nemesis, of a workload and a size (1, 3, 5), and of a nemesis and a size\n" +
			"is in at least one run. It goes on where it stopped: the same command makes only the runs that have not ended yet.\n" +
			"Another --seed is another cover.\n\n" + exitTable,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.Time <= 0 || budget <= 0 {
				return cli.Usagef("--time and --budget are durations above 0, such as 60s and 3h")
			}
			var err error
			if o.Workloads, err = workloads(workloadList); err != nil {
				return err
			}
			if o.Nemeses, err = nemeses(nemesisList); err != nil {
				return err
			}
			if nemesisList == everything {
				o.Nemeses = nemesis.Names() // none, too
			}
			ctx, cancel := context.WithTimeoutCause(cmd.Context(), budget, errBudget)
			defer cancel()
			return a.cover(ctx, o)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.Dir, "dir", filepath.Join(runsDir, "full"), "directory for the files of the runs, and of what has been done")
	flags.DurationVar(&budget, "budget", 3*time.Hour, "how long to go on before leaving the rest for another time")
	flags.StringVar(&workloadList, "workload", everything, "workloads of the cover, comma-separated")
	flags.StringVar(&nemesisList, "nemesis", everything, "nemeses of the cover, comma-separated")
	flags.DurationVar(&o.Time, "time", 60*time.Second, "how long each run goes on")
	flags.Uint64Var(&o.Seed, "seed", 1, "of the cover and of all its runs")
	flags.StringVar(&o.Binary, "binary", "", "dormoused to run; built from this checkout where none is given")
	return cmd
}

// cover makes what is left of a cover, and tells of all of it.
func (a *app) cover(ctx context.Context, o jepsen.CoverOptions) error {
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
	ended, err := a.runCover(ctx, o)
	p.end()
	spent := errors.Is(err, errBudget)
	if err != nil && ctx.Err() == nil {
		return err
	}
	var parts []outcome
	for _, done := range ended {
		parts = append(parts, endedPart(done))
	}
	s := sum(parts, runs)
	s.Bars = s.bars()
	if err := a.conclude(s); err != nil {
		return err
	}
	if spent {
		a.tell("dormjepsen: %v; the same command goes on with the %d runs that are left", errBudget, s.Runs-s.Made)
	}
	return verdict(s.Verdict, ctx.Err() != nil && !spent)
}

// keep writes the report of a run, and what of its files is worth their room.
func keep(run *report.Run) error {
	if err := report.Write(run); err != nil || run.Verdict != check.OK {
		return err
	}
	return errors.Join(forget(run.Dir), pack(filepath.Join(run.Dir, report.HistoryName)))
}

// endedPart is what a run of a cover came to, now or on an earlier day.
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
