package seeded

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"dormouse/internal/seededbug"
	"dormouse/jepsen"
	"dormouse/jepsen/check"
	"dormouse/jepsen/history"
	"dormouse/jepsen/report"
)

// Options are the options of trials.
type Options struct {
	Dir      string            // directory of the runs' files and the binaries; created if missing
	Binary   string            // path of a dormoused with the tag seeded; "" builds it
	Progress func(line string) // receives progress lines; may be nil
}

// Result is the result of one trial.
type Result struct {
	Trial
	Verdict check.Verdict
	By      []string      // the checks that found it: "append: lost entry"
	Shown   time.Duration // from the first call to the last call of the first finding; 0 if no calls show it
	Took    time.Duration // time of the whole run
	Calls   int
	Dir     string // directory of the run's files
	Err     error  // why there was no run
}

// Found reports whether a check found the bug.
func (r Result) Found() bool { return r.Verdict == check.Violation }

// Run runs the trials one after the other.
func Run(ctx context.Context, o Options, trials []Trial) ([]Result, error) {
	if o.Progress == nil {
		o.Progress = func(string) {}
	}
	if o.Binary == "" {
		o.Binary = filepath.Join(o.Dir, "dormoused.seeded")
		if err := build(ctx, o.Binary, "seeded"); err != nil {
			return nil, err
		}
	}
	var results []Result
	for _, s := range trials {
		if ctx.Err() != nil {
			return results, context.Cause(ctx)
		}
		results = append(results, o.look(ctx, s))
	}
	return results, nil
}

// RunSound makes the trial's run against a build without the tag seeded, which cannot
// contain a bug.
func RunSound(ctx context.Context, o Options, s Trial) (Result, error) {
	if o.Progress == nil {
		o.Progress = func(string) {}
	}
	o.Binary = filepath.Join(o.Dir, "dormoused")
	if err := build(ctx, o.Binary, ""); err != nil {
		return Result{}, err
	}
	if err := bare(o.Binary); err != nil {
		return Result{}, err
	}
	return o.look(ctx, s.sound()), nil
}

// look makes one run.
func (o Options) look(ctx context.Context, s Trial) Result {
	out := Result{Trial: s, Verdict: check.Unknown}
	if s.Client && !seededbug.Enabled {
		out.Err = errors.New("the bug is in the client: build the harness with -tags seeded")
		return out
	}
	if s.Client {
		seededbug.Seed(s.Bug)
		defer seededbug.Seed("")
	}
	out.Dir = fresh(filepath.Join(o.Dir, s.name()))
	binary := o.Binary
	if s.builds() {
		binary = "" // a run builds it, with a clock overlay or failpoints
	}
	began := time.Now()
	run, err := jepsen.Run(ctx, jepsen.Options{
		Workloads: s.Workloads, Nemeses: s.Nemeses, Nodes: s.Nodes, Processes: s.Processes, Time: s.Time, Seed: s.Seed,
		Dir: out.Dir, Binary: binary, Bug: string(s.Bug), Settings: s.Settings, Progress: o.named(s),
	})
	out.Took = time.Since(began)
	if err != nil {
		out.Err = err
		return out
	}
	out.Verdict, out.Calls = run.Verdict, len(run.History.Ops)
	out.By, out.Shown = shown(run)
	// The history and the page are enough; the nodes' data is large.
	out.Err = errors.Join(report.Write(run), os.RemoveAll(filepath.Join(out.Dir, "nodes")))
	return out
}

// named returns a Progress function that prefixes each line with the name of the bug.
func (o Options) named(s Trial) func(line string) {
	return func(line string) { o.Progress(s.name() + "  " + line) }
}

// name returns the name of the bug; a build without a bug is "sound".
func (s Trial) name() string {
	if s.Bug == "" {
		return "sound"
	}
	return string(s.Bug)
}

// fresh returns dir, or the first of dir.2, dir.3, … that does not exist.
func fresh(dir string) string {
	for at, n := dir, 2; ; at, n = fmt.Sprintf("%s.%d", dir, n), n+1 {
		if _, err := os.Stat(at); err != nil {
			return at
		}
	}
}

// shown returns the checks and rules that found the bug, and the time of the earliest
// finding.
func shown(run *report.Run) (by []string, at time.Duration) {
	var began time.Duration
	for _, e := range run.History.Events {
		if e.Kind == history.EventPhase && e.Name == check.PhaseFaults {
			began = e.At
		}
	}
	rules := map[string]bool{}
	for _, r := range run.Results {
		if r.Verdict != check.Violation {
			continue
		}
		for _, f := range r.Findings {
			if rule := r.Check + ": " + f.Rule; !rules[rule] {
				rules[rule] = true
				by = append(by, rule)
			}
			var last time.Duration
			for _, op := range f.Ops {
				if op.Return == history.Never {
					op.Return = op.Invoke
				}
				last = max(last, op.Return)
			}
			if len(f.Ops) > 0 && (at == 0 || last-began < at) {
				at = last - began
			}
		}
	}
	return by, at
}
