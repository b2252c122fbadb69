package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"dormouse/internal/cli"
	"dormouse/jepsen/check"
	"dormouse/jepsen/seeded"
)

// trialDocument is the result of a trial in JSON.
type trialDocument struct {
	Bug       string        `json:"bug,omitempty"` // "" in a build without bugs
	Workloads []string      `json:"workloads"`
	Nemeses   []string      `json:"nemeses,omitempty"`
	Seed      uint64        `json:"seed"`
	Verdict   check.Verdict `json:"verdict"`
	By        []string      `json:"by,omitempty"`
	Shown     time.Duration `json:"shown,omitempty"`
	Took      time.Duration `json:"took"`
	Calls     int           `json:"calls"`
	Dir       string        `json:"dir"`
	Error     string        `json:"error,omitempty"`
}

func (a *app) selftestCommand() *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use: "selftest [BUG…]", Short: "Check that the harness finds seeded bugs, and nothing in a correct build",
		Long: "selftest builds dormoused with seeded bugs and expects that the run of package jepsen/seeded for each bug finds it. Then it builds one without\n" +
			"bugs, and the run must find nothing. Without names selftest uses five bugs, for every change: at most 5 minutes on two cores.\n" +
			"A bug that is not found counts as a violation.\n\n" + exitTable,
		RunE: func(cmd *cobra.Command, args []string) error {
			trials := seeded.Quick()
			if len(args) > 0 {
				var err error
				if trials, err = seeded.Trials(args...); err != nil {
					return cli.Usagef("%w", err)
				}
			}
			if dir == "" {
				dir = freshDir("selftest", time.Now())
			}
			return a.selftest(cmd.Context(), dir, trials)
		},
	}
	cmd.Flags().StringVar(&dir, "dir", "", "new directory for the files of the runs (default"+runsDir+"/TIME-selftest)")
	return cmd
}

func (a *app) selftest(ctx context.Context, dir string, trials []seeded.Trial) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	p := newProgress(a.stderr, a.terminal)
	o := seeded.Options{Dir: dir, Progress: p.line}
	results, err := a.seeded(ctx, o, trials)
	if err == nil && ctx.Err() == nil {
		var sound seeded.Result
		if sound, err = a.sound(ctx, o, seeded.Sound); err == nil {
			results = append(results, sound)
		}
	}
	p.end()
	if err != nil && ctx.Err() == nil {
		return err
	}
	var documents []trialDocument
	for _, r := range results {
		documents = append(documents, documentOf(r))
	}
	if err := a.print(documents, seeded.Table(results)); err != nil {
		return err
	}
	return selftested(results, ctx.Err() != nil)
}

func documentOf(r seeded.Result) trialDocument {
	d := trialDocument{
		Bug: string(r.Bug), Workloads: r.Workloads, Nemeses: r.Nemeses, Seed: r.Seed, Verdict: r.Verdict, By: r.By,
		Shown: r.Shown, Took: r.Took, Calls: r.Calls, Dir: r.Dir,
	}
	if r.Err != nil {
		d.Error = r.Err.Error()
	}
	return d
}

// selftested returns the error of the command: every bug must have been found, and
// nothing in the build without bugs.
func selftested(results []seeded.Result, interrupted bool) error {
	worst := check.OK
	for _, r := range results {
		switch {
		case r.Err != nil && !interrupted:
			return fmt.Errorf("no run with %q: %w", r.Bug, r.Err)
		case r.Bug == "" && r.Verdict == check.Violation, r.Bug != "" && r.Verdict == check.OK:
			return verdict(check.Violation, interrupted)
		case r.Verdict == check.Unknown:
			worst = check.Unknown
		}
	}
	return verdict(worst, interrupted)
}
