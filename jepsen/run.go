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
)

const (
	// settleFor is how long calls go on after the first commit that succeeds
	// once all is healed.
	settleFor = 3 * time.Second
	// restFor is how long nobody calls before the end: what a node holds at
	// rest is measured in it.
	restFor = 3 * time.Second
	// finalMax bounds the final reads of all workloads.
	finalMax = 60 * time.Second
)

// Run makes one run. The error tells that there was none to judge; what was
// found wrong is in the report. Where ctx ends the run is interrupted: it heals
// and cleans up, and what there is of it is judged.
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
		return nil, fmt.Errorf("jepsen: %s holds a run already: name another directory", o.Dir)
	}
	began := time.Now()
	r := &run{options: o, id: runID(o.Seed, began)}
	if o.Target != nil {
		r.stage, err = openTarget(ctx, o)
	} else {
		r.stage, err = openBed(ctx, o, r.exited)
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

// run is one run that is being made.
type run struct {
	options Options
	id      string // its own among all runs; its scopes end in it
	stage   stage
	record  *history.Recorder
	live    atomic.Pointer[history.Recorder] // record, once the cluster stands: for what comes from other goroutines
	tally   tally
}

// play makes the history, and takes the stage down.
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

// phases are the run from its first call to its last.
func (r *run) phases(ctx context.Context) error {
	cast, err := r.cast()
	if err != nil {
		return err
	}
	defer cast.close()
	watching := r.watch(ctx)
	defer watching()
	r.phase(check.PhaseFaults)
	calls := cast.act(ctx)
	r.disturb(ctx)
	r.phase(check.PhaseHeal)
	r.recover(ctx)
	calls()
	if ctx.Err() != nil {
		r.tell("interrupted")
		return nil
	}
	r.phase(check.PhaseFinal)
	r.finale(ctx, cast)
	r.look(ctx)
	pause.For(ctx, restFor)
	return nil
}

// disturb has the faults come and go for the time of the run.
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

// recover waits until a commit has succeeded again and a little has gone by.
func (r *run) recover(ctx context.Context) {
	from := r.record.Now()
	for deadline := from + check.RecoveryMax; r.record.Now() < deadline && r.tally.lastPulse() < from; {
		if !pause.For(ctx, 50*time.Millisecond) {
			return
		}
	}
	pause.For(ctx, settleFor)
}

// finale makes the final reads of each workload.
func (r *run) finale(ctx context.Context, c *cast) {
	ctx, cancel := context.WithTimeout(ctx, finalMax)
	defer cancel()
	r.acquaint(c)
	_ = join(len(c.troupes), func(i int) error {
		t := c.troupes[i]
		if err := t.workload.Final(ctx, t.last); err != nil {
			r.note("final reads of %s: %v", t.workload.Name(), err)
		}
		return nil // what was not read its judge will miss
	})
}

// acquaint gives those who make the final reads clients of the nodes that run
// now. A client that was made at the start and has asked nothing since knows
// only those of then, and all of them may have been replaced.
func (r *run) acquaint(c *cast) {
	nodes := r.stage.nodes()
	if len(nodes) == 0 {
		return
	}
	for _, t := range c.troupes {
		fresh, err := r.stage.dial(t.last.Scope, true, turned(nodes, t.last.ID)...)
		if err != nil {
			r.note("the final reads of %s go by the first addresses: %v", t.workload.Name(), err)
			continue
		}
		c.clients = append(c.clients, fresh)
		t.last.Client = fresh
	}
}

func (r *run) header(ctx context.Context) (history.Header, error) {
	o := r.options
	plan, err := json.Marshal(r.stage.plan())
	if err != nil {
		return history.Header{}, err
	}
	return history.Header{
		Workloads: o.Workloads, Nemeses: o.Nemeses, Seed: o.Seed, Nodes: o.Nodes, Time: o.Time, Started: time.Now().UTC(),
		Run: r.id, Command: o.command(), Build: r.stage.build(ctx), Bug: o.Bug, Plan: plan,
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

// exited is told by the stage when a node's process has ended. Before the
// cluster stands that is the stage's own affair.
func (r *run) exited(host, detail string) {
	if record := r.live.Load(); record != nil {
		record.Event(history.Event{Kind: history.EventExit, Node: host, Detail: detail})
	}
}

// tell tells people what goes on, and when.
func (r *run) tell(text string) {
	r.options.Progress(fmt.Sprintf("%6.1fs %s", r.record.Now().Seconds(), text))
}
