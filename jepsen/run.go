package jepsen

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"dormouse/internal/pause"
	"dormouse/jepsen/check"
	"dormouse/jepsen/history"
	"dormouse/jepsen/report"
	"dormouse/jepsen/workload"
)

const (
	// settleFor is how long calls go on after the first successful commit once all
	// faults are healed.
	settleFor = 3 * time.Second
	// restFor is the pause without calls before the end. Resource use at rest is
	// measured in it.
	restFor = 3 * time.Second
	// finalMax bounds the final reads of all workloads.
	finalMax = 60 * time.Second
)

// Run executes one run. It returns an error only if there was nothing to judge;
// violations are in the report. If ctx ends, the run is interrupted: it heals the
// cluster, cleans up, and judges what it recorded.
func Run(ctx context.Context, o Options) (*report.Run, error) {
	o, err := o.resolve()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(o.Dir, 0o755); err != nil {
		return nil, fmt.Errorf("jepsen: %w", err)
	}
	path := filepath.Join(o.Dir, report.HistoryName)
	if _, err := os.Stat(path); err == nil {
		return nil, fmt.Errorf("jepsen: %s already holds a run: give another directory", o.Dir)
	}
	began := time.Now()
	r := &run{options: o, id: runID(o.Seed, began), pulse: pulseEvery}
	if o.Target != nil {
		r.stage, err = openTarget(ctx, o)
	} else {
		r.stage, err = openBed(ctx, o, r.redisScope(), r.exited)
	}
	if err != nil {
		return nil, err
	}
	if err := r.play(ctx, path); err != nil {
		return nil, err
	}
	h, err := history.Read(path)
	if err != nil {
		return nil, err
	}
	o.Progress(fmt.Sprintf("judging %d calls", len(h.Ops)))
	out := Judge(ctx, h)
	out.Dir, out.Missing, out.Took = o.Dir, r.stage.missing(), time.Since(began)
	return out, nil
}

// run is a run in progress.
type run struct {
	options Options
	id      string // unique among all runs; the run's scopes end with it
	stage   stage
	pace    time.Duration // of all processes; 0 means that of each workload
	pulse   time.Duration // between two pulses of a node
	record  *history.Recorder
	live    atomic.Pointer[history.Recorder] // record, set once the cluster has started: for other goroutines
	tally   tally
	dialled atomic.Int64 // number of HTTP clients so far; numbers them
}

// play records the history and then closes the stage.
func (r *run) play(ctx context.Context, path string) (err error) {
	defer func() { err = errors.Join(err, r.stage.close()) }()
	header, err := r.header(ctx)
	if err != nil {
		return err
	}
	record, err := history.Create(path, header)
	if err != nil {
		return err
	}
	r.record = record
	r.live.Store(record)
	record.Watch(r.tally.count)
	r.phase(check.PhaseStart)
	err = r.phases(ctx)
	r.phase(check.PhaseEnd)
	err = errors.Join(err, r.stage.close())
	return errors.Join(err, record.Close())
}

// phases executes the run from its first call to its last.
func (r *run) phases(ctx context.Context) error {
	callers, err := r.callers()
	if err != nil {
		return err
	}
	defer callers.close()
	watching := r.watch(ctx)
	defer watching()
	r.phase(check.PhaseFaults)
	calls := callers.act(ctx)
	r.disturb(ctx)
	r.phase(check.PhaseHeal)
	recovered := r.recover(ctx)
	calls()
	if ctx.Err() != nil {
		r.tell("interrupted")
		return nil
	}
	r.phase(check.PhaseFinal)
	r.finale(ctx, callers)
	r.look(ctx)
	pause.For(ctx, restFor)
	r.readDisks(ctx, recovered, callers)
	return nil
}

// disturb injects and heals faults for the time of the run.
func (r *run) disturb(ctx context.Context) {
	over := time.After(r.options.Time)
	if err := r.stage.disturb(ctx, r.record, r.tell); err != nil {
		r.note("not everything could be healed: %v", err)
	}
	select {
	case <-over:
	case <-ctx.Done():
	}
}

// recover waits until a commit succeeds again, and then for settleFor. It reports whether one
// did.
func (r *run) recover(ctx context.Context) bool {
	from := r.record.Now()
	for deadline := from + check.RecoveryMax(history.Header{Timing: timingOf(r.options)}); r.record.Now() < deadline && r.tally.lastPulse() < from; {
		if !pause.For(ctx, 50*time.Millisecond) {
			return false
		}
	}
	pause.For(ctx, settleFor)
	return r.tally.lastPulse() >= from
}

// finale makes the final reads of each workload.
func (r *run) finale(ctx context.Context, c *callers) {
	ctx, cancel := context.WithTimeout(ctx, finalMax)
	defer cancel()
	r.redialFinal(c)
	_ = join(len(c.groups), func(i int) error {
		t := c.groups[i]
		if err := t.workload.Final(ctx, t.last); err != nil {
			text := fmt.Sprintf("%s: %v", t.workload.Name(), err)
			r.record.Event(history.Event{Kind: history.EventNote, Name: check.NoteUnread, Detail: text})
			r.tell("final reads of " + text)
		}
		return nil // the verdict tells of missing reads
	})
}

// redialFinal gives the processes of the final reads new clients of the nodes that run
// now. A client that was dialed at the start and made no call since knows only the
// first nodes, all of which may have been replaced.
func (r *run) redialFinal(c *callers) {
	nodes := r.stage.nodes()
	if len(nodes) == 0 {
		return
	}
	for _, t := range c.groups {
		fresh, err := r.stage.dial(t.last.Scope, true, addresses(rotated(nodes, t.last.ID))...)
		if err != nil {
			r.note("the final reads of %s use the first addresses: %v", t.workload.Name(), err)
			continue
		}
		c.clients = append(c.clients, fresh)
		t.last.Client = workload.GoClient{Client: fresh}
	}
}

func (r *run) header(ctx context.Context) (history.Header, error) {
	o := r.options
	plan, err := json.Marshal(r.stage.plan())
	if err != nil {
		return history.Header{}, err
	}
	settings := map[string]map[string]string{}
	for _, n := range r.stage.nodes() {
		if own := knobsOf(o, n.name); len(own) > 0 && o.Target == nil {
			settings[n.name] = own
		}
	}
	return history.Header{
		Workloads: o.Workloads, Nemeses: o.Nemeses, Seed: o.Seed, Nodes: o.Nodes, Time: o.Time, Started: time.Now().UTC(),
		Run: r.id, Command: o.command(), Build: r.stage.build(ctx), Bug: o.Bug, Timing: timingOf(o), Plan: plan, Settings: settings,
		Rows: o.Target == nil && o.Binary == "" && o.Previous == "",
	}, nil
}

func (r *run) phase(name string) {
	r.record.Event(history.Event{Kind: history.EventPhase, Name: name})
	r.tell("phase: " + name)
}

func (r *run) note(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	r.record.Event(history.Event{Kind: history.EventNote, Name: "run", Detail: text})
	r.tell(text)
}

// exited records that a node's process has ended. Before the cluster has started there
// is no record, and the stage handles the exit.
func (r *run) exited(host, detail string) {
	if record := r.live.Load(); record != nil {
		record.Event(history.Event{Kind: history.EventExit, Node: host, Detail: detail})
	}
}

// tell reports progress with the time since the start.
func (r *run) tell(text string) {
	r.options.Progress(fmt.Sprintf("%6.1fs %s", r.record.Now().Seconds(), text))
}
