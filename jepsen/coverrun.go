package jepsen

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"dormouse/jepsen/check"
	"dormouse/jepsen/nemesis"
	"dormouse/jepsen/report"
	"dormouse/jepsen/workload/catalog"
)

// CoverOptions are what a cover may be told; the zero value of each is its
// default.
type CoverOptions struct {
	Workloads []string      // empty means all
	Nemeses   []string      // empty means all
	Sizes     []int         // empty means 1, 3 and 5
	Seed      uint64        // of the cover and, through it, of each run
	Time      time.Duration // of each run; 0 means 60 s
	Dir       string        // of the state file, and of a directory for each run
	Binary    string        // dormoused; "" builds it for each run
	Loopback  bool
	Progress  func(line string)                           // nil means nobody
	Ended     func(done CoverDone, run *report.Run) error // told of each run; run is nil where there was none. An error ends the cover
}

// runner makes a run: Run, but for tests.
type runner func(context.Context, Options) (*report.Run, error)

// stateName is the cover's state file, in its directory.
const stateName = "cover.jsonl"

func (o CoverOptions) resolve() (CoverOptions, error) {
	if len(o.Workloads) == 0 {
		o.Workloads = catalog.Names()
	}
	if len(o.Nemeses) == 0 {
		o.Nemeses = nemesis.Names()
	}
	if len(o.Sizes) == 0 {
		o.Sizes = []int{1, 3, 5}
	}
	if o.Time == 0 {
		o.Time = timeDefault
	}
	if o.Progress == nil {
		o.Progress = func(string) {}
	}
	if o.Dir == "" {
		return o, errors.New("name a directory for the cover's files")
	}
	// What is wrong with a run is wrong with the cover, and better told now.
	for _, nodes := range o.Sizes {
		if _, err := (Options{Workloads: o.Workloads, Nemeses: o.Nemeses, Nodes: nodes, Time: o.Time, Dir: o.Dir}).resolve(); err != nil {
			return o, err
		}
	}
	return o, nil
}

// RunCover makes every run of a cover that has not ended yet, one after the
// other, and returns all that have, in the cover's order. When ctx ends, the run
// that is under way does not count. One that could not be made is told, too,
// with why it Failed; it has not ended, and the next time it is tried again.
func RunCover(ctx context.Context, o CoverOptions) ([]CoverDone, error) { return runCover(ctx, o, Run) }

func runCover(ctx context.Context, o CoverOptions, make runner) (ended []CoverDone, err error) {
	o, err = o.resolve()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(o.Dir, 0o755); err != nil {
		return nil, fmt.Errorf("cover: %w", err)
	}
	state, err := openState(filepath.Join(o.Dir, stateName))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, state.close()) }()
	runs := Cover(o.Seed, o.Workloads, o.Nemeses, o.Sizes)
	for i, r := range runs {
		if done, ok := state.done[r.Key()]; ok {
			ended = append(ended, done)
			continue
		}
		o.Progress(fmt.Sprintf("run %d of %d: %s with %s on %d nodes", i+1, len(runs), strings.Join(r.Workloads, ", "), r.Nemesis, r.Nodes))
		done, err := o.one(ctx, r, make)
		if ctx.Err() != nil {
			return ended, context.Cause(ctx)
		}
		if err != nil {
			return ended, err
		}
		if done.Failed == "" {
			err = state.add(done)
		}
		if err != nil {
			return ended, err
		}
		ended = append(ended, done)
	}
	return ended, nil
}

// one makes one run, in a directory that no run before it has used.
func (o CoverOptions) one(ctx context.Context, r CoverRun, make runner) (CoverDone, error) {
	options := r.Options(o.Time)
	options.Binary, options.Loopback, options.Progress = o.Binary, o.Loopback, o.Progress
	name := filepath.Join(o.Dir, fmt.Sprintf("%s-%d-%s", r.Nemesis, r.Nodes, strings.Join(r.Workloads, "-")))
	options.Dir = name
	for n := 2; exists(options.Dir); n++ {
		options.Dir = fmt.Sprintf("%s.%d", name, n)
	}
	resolved, err := options.resolve()
	if err != nil {
		return CoverDone{}, err
	}
	began := time.Now()
	run, err := make(ctx, options)
	done := CoverDone{Key: r.Key(), Command: resolved.command(), Dir: options.Dir, Verdict: check.Unknown, Took: time.Since(began), Ended: time.Now().UTC()}
	if err != nil {
		done.Failed = err.Error()
	} else {
		done.Verdict, done.Ops = run.Verdict, run.Judged()
	}
	if done.Verdict == check.OK {
		// What the nodes kept is of use where something is wrong.
		if err := os.RemoveAll(filepath.Join(options.Dir, nodesDir)); err != nil {
			return done, fmt.Errorf("cover: %w", err)
		}
	}
	if o.Ended != nil && ctx.Err() == nil {
		return done, o.Ended(done, run)
	}
	return done, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
