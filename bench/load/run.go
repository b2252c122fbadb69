package load

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"dormouse/internal/pause"
)

// CallersMax bounds the number of callers.
const CallersMax = 1024

// Options are the options of a run.
type Options struct {
	Workload Workload
	Callers  int           // 1 to CallersMax
	Warmup   time.Duration // not measured
	Duration time.Duration // measured
	Agents   int           // 0 means the workload's default
	Prefix   string        // prefix of the agents' names
	Stored   bool          // the agents exist already: read the revs of their threads instead of writing the agents
	CallMax  time.Duration // how long a call may take; 0 means without end

	Window   func(opens bool)     // called at both ends of the measurement; may be nil
	Answered func(at time.Time)   // called for each answer, concurrently; may be nil
	Progress func(what string)    // receives progress; may be nil
	Failed   func(err error) bool // called for a failed call: true continues the run; if Failed is nil the first failure ends the run
}

// Result is the result of a run.
type Result struct {
	Workload string  `json:"workload"`
	Callers  int     `json:"callers"`
	Agents   int     `json:"agents"`
	Seconds  float64 `json:"seconds"`
	Ops      int64   `json:"ops"`
	Rate     float64 `json:"ops_per_second"`
	Errors   int64   `json:"errors"`
	Latency
}

// The phases of a run.
const (
	warming int32 = iota
	measuring
	over
)

// Run runs a workload until its time is up or ctx ends. Calls that are answered within
// the measured window count, even if they began before it. Run returns after all
// callers have ended.
func Run(ctx context.Context, d Driver, o Options) (Result, error) {
	if err := o.valid(); err != nil {
		return Result{}, err
	}
	agents := o.Agents
	if agents == 0 {
		agents = o.Workload.agents(o.Callers)
	}
	callers := newCallers(o.Callers, agents, o.Prefix)
	if err := prepare(ctx, d, o, callers); err != nil {
		return Result{}, fmt.Errorf("prepare %s: %w", o.Workload.Name, err)
	}
	r := &run{o: o, d: d, seen: newLatencies()}
	took, err := r.play(ctx, callers)
	if err != nil {
		return Result{}, fmt.Errorf("run %s: %w", o.Workload.Name, err)
	}
	latency, ops := r.seen.merged()
	return Result{
		Workload: o.Workload.Name, Callers: o.Callers, Agents: max(agents, o.Callers), Seconds: took.Seconds(),
		Ops: ops, Rate: float64(ops) / took.Seconds(), Errors: r.errors.Load(), Latency: latency,
	}, nil
}

func (o *Options) valid() error {
	switch {
	case o.Workload.call == nil:
		return errors.New("unknown workload: use one of Workloads")
	case o.Callers < 1 || o.Callers > CallersMax:
		return fmt.Errorf("%d callers: use 1 to %d", o.Callers, CallersMax)
	case o.Duration <= 0 || o.Warmup < 0:
		return fmt.Errorf("invalid warm-up %v or duration %v: the warm-up must not be negative and the duration must be positive", o.Warmup, o.Duration)
	case o.Agents < 0:
		return fmt.Errorf("%d agents: use 0 or more", o.Agents)
	case o.Prefix == "":
		return errors.New("no prefix of the agents' names is given")
	}
	return nil
}

// run is the state that the callers of one run share.
type run struct {
	o      Options
	d      Driver
	phase  atomic.Int32
	errors atomic.Int64
	seen   *latencies
}

// play runs the callers and returns the length of the measured window.
func (r *run) play(ctx context.Context, callers []*caller) (time.Duration, error) {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	var left sync.WaitGroup
	for _, c := range callers {
		left.Go(func() {
			if err := r.repeat(ctx, c); err != nil {
				end(err)
			}
		})
	}
	r.tell("warming up")
	pause.For(ctx, r.o.Warmup)
	r.tell("measuring")
	r.window(true)
	r.phase.Store(measuring)
	began := time.Now()
	pause.For(ctx, r.o.Duration)
	r.phase.Store(over)
	took := time.Since(began)
	r.window(false)
	late := time.AfterFunc(lastCallsMax, func() { end(errLate) })
	left.Wait() // wait for the last calls, so that their writes do not apply during the next run
	late.Stop()
	if err := context.Cause(ctx); !errors.Is(err, errLate) {
		return took, err
	}
	return took, nil
}

// lastCallsMax is how long a run waits for the last calls. Calls to a node that is silent may never end.
const lastCallsMax = 10 * time.Second

// errLate ends the calls that have not ended after lastCallsMax. They count as not made.
var errLate = errors.New("the run is over")

// repeat makes calls until the run is over.
func (r *run) repeat(ctx context.Context, c *caller) error {
	for r.phase.Load() != over && ctx.Err() == nil {
		began := time.Now()
		err := r.call(ctx, c)
		now := time.Now()
		switch {
		case err != nil && ctx.Err() != nil:
			continue // the call was cancelled: the run ends
		case err != nil && (r.o.Failed == nil || !r.o.Failed(err)):
			return err
		case err != nil:
			r.errors.Add(1)
			continue
		}
		if r.o.Answered != nil {
			r.o.Answered(now)
		}
		if r.phase.Load() == measuring {
			r.seen.add(c.number, now.Sub(began))
		}
	}
	return nil
}

// call makes one call.
func (r *run) call(ctx context.Context, c *caller) error {
	if r.o.CallMax > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, r.o.CallMax)
		defer cancel()
	}
	return r.o.Workload.call(ctx, r.d, c)
}

func (r *run) window(opens bool) {
	if r.o.Window != nil {
		r.o.Window(opens)
	}
}

func (r *run) tell(what string) {
	if r.o.Progress != nil {
		r.o.Progress(what)
	}
}

// preparers bounds the concurrent writes while the initial agents are written.
const preparers = 256

// prepare writes the initial agents of the workload, or reads the revs of existing
// ones.
func prepare(ctx context.Context, d Driver, o Options, callers []*caller) error {
	w := o.Workload
	look := o.Stored && w.threads
	write := !o.Stored && w.stored.checkpoint > 0
	if !look && !write {
		return nil
	}
	f := &filler{d, w.stored}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(preparers)
	for _, c := range callers {
		for _, t := range c.agents {
			if ctx.Err() != nil {
				break
			}
			if look {
				g.Go(func() error { return d.Look(ctx, t) })
			} else {
				g.Go(func() error { return f.write(ctx, t) })
			}
		}
	}
	return g.Wait()
}
