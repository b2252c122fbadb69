package jepsen

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
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
	Binary    string        // path of dormoused; "" builds it, for each run if need be
	Loopback  bool
	Progress  func(line string)                           // receives progress lines; nil discards them
	Ended     func(done CoverDone, run *report.Run) error // called after each run; run is nil if the run failed to start. An error ends the cover

	// Needs reports whether one more run is needed beside those that ended. RunCover asks it once the
	// runs of the cover are complete, for each run of the covers of the seeds that follow, in order. It
	// ends with the first such cover that has no needed run. nil needs none.
	Needs func(ended []CoverDone, r CoverRun) bool
}

// runner executes one run. It is Run except in tests.
type runner func(context.Context, Options) (*report.Run, error)

// stateName is the name of the cover's state file.
const stateName = "cover.jsonl"

// binDir is the directory of the programs that the runs of a cover share.
const binDir = "bin"

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
// other, and then the further runs that Needs asks for. It returns all completed runs in
// the order of the covers. A run that is in progress when ctx ends does not count. A run
// that could not start is returned too, with the reason in Failed; the next RunCover tries
// it again, and no further run follows it before that.
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
	c := &coverInProgress{CoverOptions: o, state: state, run: make}
	if err := c.cover(ctx); err != nil {
		return c.ended, err
	}
	return c.ended, c.further(ctx)
}

// coverInProgress is a cover whose runs are made.
type coverInProgress struct {
	CoverOptions
	state *coverState
	run   runner
	ended []CoverDone
}

// cover makes the runs of the cover.
func (c *coverInProgress) cover(ctx context.Context) error {
	runs := Cover(c.Seed, c.Workloads, c.Nemeses, c.Sizes)
	for i, r := range runs {
		if err := c.complete(ctx, r, fmt.Sprintf("run %d of %d", i+1, len(runs))); err != nil {
			return err
		}
	}
	return nil
}

// further makes the needed runs of the covers of the following seeds.
func (c *coverInProgress) further(ctx context.Context) error {
	for seed := c.Seed + 1; c.Needs != nil; seed++ {
		before := len(c.ended)
		for _, r := range Cover(seed, c.Workloads, c.Nemeses, c.Sizes) {
			if slices.ContainsFunc(c.ended, func(d CoverDone) bool { return d.Failed != "" }) {
				return nil
			}
			if _, done := c.state.done[r.Key()]; !done && !c.Needs(c.ended, r) {
				continue
			}
			if err := c.complete(ctx, r, fmt.Sprintf("further run %d, of the cover of seed %d", len(c.ended)+1, seed)); err != nil {
				return err
			}
		}
		if len(c.ended) == before {
			return nil
		}
	}
	return nil
}

// complete adds a run to the runs that ended. It executes the run unless it is complete.
func (c *coverInProgress) complete(ctx context.Context, r CoverRun, name string) error {
	done, ok := c.state.done[r.Key()]
	if !ok {
		c.Progress(fmt.Sprintf("%s: %s with %s on %d nodes", name, strings.Join(r.Workloads, ", "), r.Nemesis, r.Nodes))
		var err error
		done, err = c.one(ctx, r, c.run)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err == nil && done.Failed == "" {
			err = c.state.add(done)
		}
		if err != nil {
			return err
		}
	}
	c.ended = append(c.ended, done)
	return nil
}

// one executes one run in a new directory.
func (o CoverOptions) one(ctx context.Context, r CoverRun, make runner) (CoverDone, error) {
	options := r.Options(o.Time)
	options.Binary, options.Loopback, options.Progress = o.Binary, o.Loopback, o.Progress
	options.Bin = filepath.Join(o.Dir, binDir) // linking them takes seconds
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
