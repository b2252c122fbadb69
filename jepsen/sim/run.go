package sim

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"runtime"
	"runtime/debug"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"dormouse/internal/pause"
	"dormouse/jepsen"
	"dormouse/jepsen/history"
	"dormouse/jepsen/report"
	"dormouse/jepsen/sim/trace"
	"dormouse/node"
)

// Result is the result of a run.
type Result struct {
	Run       *report.Run
	File      []byte           // the history
	Sum       uint64           // over everything that happened: the trace hash
	Notes     uint64           // how many notes the sum is over
	Seeded    bool             // the schedule was drawn from the seed
	Simulated time.Duration    // virtual time
	Took      time.Duration    // real time, without judging
	Judging   time.Duration    // real time
	Steps     []Step           // the faults
	Counts    map[string]int64 // what the run met
}

// Run makes one run in a bubble of virtual time and judges it. t must not be in a bubble.
// The process must make no other run: the second would find what the first left.
func Run(t *testing.T, o Options) (*Result, error) {
	t.Helper()
	o, err := o.Resolve()
	if err != nil {
		return nil, err
	}
	plan, err := DrawPlan(o)
	if err != nil {
		return nil, err
	}
	r := &runner{options: o, plan: plan, result: &Result{Seeded: Seeded, Steps: plan.Steps}}
	settle()
	began := time.Now()
	if err := r.inBubble(t); err != nil {
		return nil, err
	}
	r.result.Took = time.Since(began)
	debug.SetGCPercent(100)
	began = time.Now()
	r.result.File = r.file.Bytes()
	h, err := history.Parse(bytes.NewReader(r.file.Bytes()))
	if err != nil {
		return nil, err
	}
	r.result.Run = jepsen.Judge(context.Background(), h)
	r.result.Judging = time.Since(began)
	return r.result, nil
}

// runner makes one run.
type runner struct {
	options Options
	plan    Plan
	trace   *trace.Trace
	file    file
	result  *Result
	err     error
	done    bool
}

// inBubble runs the simulation. The nodes are left as they are at the end: a disk that
// hangs would keep the bubble from ending.
func (r *runner) inBubble(t *testing.T) (err error) {
	t.Helper()
	defer func() {
		if p := recover(); p != nil && !r.done {
			err = fmt.Errorf("the simulation stopped: %v", p)
		}
		err = errors.Join(err, r.err)
	}()
	synctest.Test(t, func(*testing.T) { r.simulate() })
	return nil
}

// simulate is the main goroutine of the bubble.
func (r *runner) simulate() {
	seedRuntime(r.options.Seed*2654435761 + 1)
	secrets := &seededReader{from: mathrand.NewChaCha8([32]byte{byte(r.options.Seed), byte(r.options.Seed >> 8), byte(r.options.Seed >> 16), byte(r.options.Seed >> 24), 1})}
	rand.Reader = secrets
	uuid.SetRand(secrets)
	began := time.Now()
	r.trace = trace.New(r.options.Lines, drawnRuntime)
	r.file.trace = r.trace
	c := newCluster(r.options, r.plan, r.trace, Seeded)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go r.collect(ctx)
	o := jepsen.Options{
		Workloads: r.options.Workloads, Nemeses: r.options.Nemeses, Time: r.options.Time, Seed: r.options.Seed,
		Nodes: r.options.Nodes, Processes: r.options.Processes, Timing: r.plan.Knobs[0].Timing,
		Progress: r.options.Tell,
	}
	c.redis = jepsen.RedisScope(o)
	if r.err = c.form(ctx); r.err == nil {
		r.err = jepsen.RunWithin(ctx, o, r.options.Pace, pulseEvery, c, &r.file)
	}
	c.finish()
	r.result.Sum, r.result.Notes = r.trace.Sum()
	r.result.Simulated = time.Since(began)
	r.result.Counts = c.counts
	r.done = true
}

// settle makes what the runtime makes when it first needs it, at moments of real time:
// threads and the workers of the garbage collector. They take memory, and where an object
// lies decides the order in which a map of pointers is read.
func settle() {
	var wait sync.WaitGroup
	begin := make(chan struct{})
	for range threads {
		wait.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			<-begin // its thread waits, so that the next needs another one
		})
	}
	runtime.Gosched()
	time.Sleep(20 * time.Millisecond)
	close(begin)
	wait.Wait()
	for range 3 {
		runtime.GC()
	}
}

// threads is more than the threads that one processor needs.
const threads = 12

// pulseEvery is the resolution of the time to recover. Pulses cost as much as calls.
const pulseEvery = time.Second

const (
	// collectEvery is the virtual time between two looks at whether garbage must be collected.
	collectEvery = 2 * time.Second
	// collectNotes is how many notes of the trace lie between two collections. Notes repeat
	// themselves from run to run, and the size of the heap does not. A small heap is fast: memory
	// that is used for the first time costs more than a collection.
	collectNotes = 1_500
)

// collect collects garbage while all other goroutines wait, at times of the bubble's clock.
// A collection at other times would interrupt goroutines.
func (r *runner) collect(ctx context.Context) {
	debug.SetGCPercent(-1)
	last := uint64(0)
	for pause.For(ctx, collectEvery) {
		synctest.Wait()
		if _, notes := r.trace.Sum(); notes-last >= collectNotes {
			last = notes
			drawn := drawnRuntime()
			runtime.GC()
			forgetRuntime()
			seedRuntime(drawn) // how often this goroutine had to wait meanwhile depends on real time
		}
	}
}

// seededReader is crypto/rand's reader in a simulation: nothing in it is secret.
type seededReader struct {
	mu   sync.Mutex
	from io.Reader
}

// Read implements io.Reader.
func (s *seededReader) Read(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.from.Read(b)
}

// file is a history in memory.
type file struct {
	bytes.Buffer
	trace *trace.Trace
}

// Write implements io.Writer.
func (f *file) Write(b []byte) (int, error) {
	f.trace.Note("history", "", trace.Bytes(b))
	return f.Buffer.Write(b)
}

// Sync implements history.File.
func (f *file) Sync() error { return nil }

// Close implements io.Closer.
func (f *file) Close() error { return nil }

// finish counts what the run met.
func (c *Cluster) finish() {
	c.counts["messages"] = int64(c.net.Sent())
	for _, h := range c.hosts {
		c.counts["syncs"] += h.currentDisk().Syncs()
		c.met(h.node())
		if n := h.node(); n != nil {
			c.counts["elections"] = max(c.counts["elections"], int64(n.Group().LocalStatus().Term))
		}
	}
}

// met counts what a process met in its life. n may be nil.
func (c *Cluster) met(n *node.Node) {
	if n == nil {
		return
	}
	is := n.Group().Stats()
	c.count("snapshots installed", int64(is.Installs))
	c.count("snapshots taken", int64(is.Snapshots))
}
