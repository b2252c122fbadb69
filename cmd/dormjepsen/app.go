package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"dormouse/internal/cli"
	"dormouse/jepsen"
	"dormouse/jepsen/check"
	"dormouse/jepsen/report"
	"dormouse/jepsen/seeded"
)

// app is one run of dormjepsen: its outputs and the global flags. Tests replace the
// functions.
type app struct {
	stdout, stderr io.Writer
	terminal       bool // stderr is a terminal: a live line may be drawn
	run            func(context.Context, jepsen.Options) (*report.Run, error)
	runCover       func(context.Context, jepsen.CoverOptions) ([]jepsen.CoverDone, error)
	seeded         func(context.Context, seeded.Options, []seeded.Trial) ([]seeded.Result, error) // runs the trials of seeded bugs
	sound          func(context.Context, seeded.Options, seeded.Trial) (seeded.Result, error)     // runs a build without bugs

	output string
}

// main runs the command in args and returns the exit code.
func (a *app) main(ctx context.Context, args []string) int {
	root := a.root()
	root.SetArgs(args)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	err := root.ExecuteContext(ctx)
	a.explain(err)
	code := exitCode(err)
	if code == exitFailed && ctx.Err() != nil {
		return exitInterrupted // interrupted before there was anything to judge
	}
	return code
}

// tell writes a line to stderr. It ignores write errors, because there is no other
// place to report them.
func (a *app) tell(format string, args ...any) {
	_, _ = fmt.Fprintln(a.stderr, cli.Clean(fmt.Sprintf(format, args...)))
}

// play makes one run and writes its report beside its history. It removes the nodes'
// data if the run is ok.
func (a *app) play(ctx context.Context, o jepsen.Options, p *progress) (*report.Run, error) {
	following := p.follow(filepath.Join(o.Dir, report.HistoryName), o.Time)
	o.Progress = p.line
	run, err := a.run(ctx, o)
	following()
	if err != nil {
		return nil, err
	}
	if err := report.Write(run); err != nil {
		return nil, err
	}
	if run.Verdict == check.OK {
		return run, forget(o.Dir)
	}
	return run, nil
}

// forget removes the nodes' data of a run.
func forget(dir string) error {
	if err := os.RemoveAll(filepath.Join(dir, "nodes")); err != nil {
		return fmt.Errorf("remove the nodes' data: %w", err)
	}
	return nil
}

// show prints a run in the selected output format.
func (a *app) show(run *report.Run) error {
	if a.output == cli.OutputJSON {
		return report.JSON(a.stdout, run)
	}
	return report.Text(a.stdout, run)
}

// print writes a table or a JSON document, depending on the output format.
func (a *app) print(document any, table string) error {
	if a.output == cli.OutputJSON {
		return writeJSON(a.stdout, document)
	}
	if _, err := io.WriteString(a.stdout, table); err != nil {
		return fmt.Errorf("write the result: %w", err)
	}
	return nil
}

// runsDir is the default parent directory of runs.
const runsDir = "dormouse-data/jepsen"

// freshDir returns a directory name for a run that starts now.
func freshDir(kind string, now time.Time) string {
	return filepath.Join(runsDir, now.UTC().Format("20060102-150405.000")+"-"+kind)
}
