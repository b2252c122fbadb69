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

// CoverOptions are the options of a cover. The zero value of each is its default.
type CoverOptions struct {
	Workloads []string      // empty means all
	Nemeses   []string      // empty means all
	Sizes     []int         // empty means 1, 3 and 5
	Seed      uint64        // seed of the cover; the seeds of the runs derive from it
	Time      time.Duration // time of each run; 0 means 60 s
	Dir       string        // directory of the state file and of one directory for each run
	Binary    string        // path of dormoused; "" builds it for each run
	Loopback  bool
	Progress  func(line string)                           // receives progress lines; nil discards them
	Ended     func(done CoverDone, run *report.Run) error // called after each run; run is nil if the run failed to start. An error ends the cover
}

// runner executes one run. It is Run except in tests.
type runner func(context.Context, Options) (*report.Run, error)

// stateName is the name of the cover's state file.
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
		return o, errors.New("no directory is given for the cover's files")
	}
	// Options that are invalid for one run make the whole cover invalid: fail early.
	for _, nodes := range o.Sizes {
		if _, err := (Options{Workloads: o.Workloads, Nemeses: o.Nemeses, Nodes: nodes, Time: o.Time, Dir: o.Dir}).resolve(); err != nil {
			return o, err
		}
	}
	return o, nil
}

// RunCover executes every run of a cover that is not complete yet, one after the
// other. It returns all completed runs in the cover's order. A run that is in progress
// when ctx ends does not count. A run that could not start is returned too, with the
// reason in Failed; the next RunCover tries it again.
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

// one executes one run in a new directory.
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
		// Keep the nodes' data only if the run found a problem.
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
