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

// app is one run of dormjepsen: its surroundings, and what the global flags say.
type app struct {
	stdout, stderr io.Writer
	terminal       bool // stderr is one: progress may be drawn
	run            func(context.Context, jepsen.Options) (*report.Run, error)
	runCover       func(context.Context, jepsen.CoverOptions) ([]jepsen.CoverDone, error)
	seeded         func(context.Context, seeded.Options, []seeded.Trial) ([]seeded.Result, error) // looks for seeded bugs
	sound          func(context.Context, seeded.Options, seeded.Trial) (seeded.Result, error)     // and if there is none

	output string
}

// main does what args say and returns the exit code.
func (a *app) main(ctx context.Context, args []string) int {
	root := a.root()
	root.SetArgs(args)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	err := root.ExecuteContext(ctx)
	a.explain(err)
	code := exitCode(err)
	if code == exitFailed && ctx.Err() != nil {
		return exitInterrupted // before there was anything to judge
	}
	return code
}

// tell writes a line for people, apart from results. Where that cannot be done
// there is nobody to tell it to either.
func (a *app) tell(format string, args ...any) {
	_, _ = fmt.Fprintln(a.stderr, cli.Clean(fmt.Sprintf(format, args...)))
}

// play makes one run and writes its report beside its history. What the nodes
// kept is only of use where something is wrong with it.
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

// forget removes what the nodes of a run kept.
func forget(dir string) error {
	if err := os.RemoveAll(filepath.Join(dir, "nodes")); err != nil {
		return fmt.Errorf("remove what the nodes kept: %w", err)
	}
	return nil
}

// show prints a run as it was asked for.
func (a *app) show(run *report.Run) error {
	if a.output == outputJSON {
		return report.JSON(a.stdout, run)
	}
	return report.Text(a.stdout, run)
}

// print writes a table or any document, as it was asked for.
func (a *app) print(document any, table string) error {
	if a.output == outputJSON {
		return writeJSON(a.stdout, document)
	}
	if _, err := io.WriteString(a.stdout, table); err != nil {
		return fmt.Errorf("write the result: %w", err)
	}
	return nil
}

// runsDir is where runs go that were not told where to.
const runsDir = "dormouse-data/jepsen"

// freshDir names a directory for a run that begins now.
func freshDir(kind string, now time.Time) string {
	return filepath.Join(runsDir, now.UTC().Format("20060102-150405.000")+"-"+kind)
}
