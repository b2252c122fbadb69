package nemesis

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"dormouse/internal/pause"
	"dormouse/jepsen/history"
	"dormouse/jepsen/testbed"
)

// healMax bounds one undo: a node that joins again is caught up in it.
const healMax = 60 * time.Second

// Run carries the plan out and returns when its last fault is healed, or soon
// after ctx ended. The error tells what could not be put right.
func (p Plan) Run(ctx context.Context, g Ground) error {
	f, err := newField(g)
	if err != nil {
		return err
	}
	defer f.operator.Close() //nolint:errcheck // nothing is under way any more
	began := time.Now()
	lanes := map[string][]Step{}
	for _, note := range p.Notes {
		g.Record.Event(history.Event{Kind: history.EventNote, Name: "plan", Detail: note})
	}
	for _, s := range p.Steps {
		lanes[s.Fault] = append(lanes[s.Fault], s)
	}
	var wait sync.WaitGroup
	for name, steps := range lanes {
		if missing := lacks(g.Bed, name); missing != nil {
			g.Record.Event(history.Event{Kind: history.EventNote, Name: "plan", Detail: missing.Error()})
			continue
		}
		wait.Go(func() { f.lane(ctx, began, steps) })
	}
	wait.Wait()
	return f.restore(ctx)
}

// lacks says what the bed cannot do that a fault needs; nil where it can.
func lacks(bed *testbed.Bed, name string) error {
	for _, c := range Needs(name) {
		if !bed.Can(c) {
			return fmt.Errorf("%s is left out: this bed has no %s", name, c)
		}
	}
	return nil
}

// lane does one step after the other. One whose time has passed comes at once,
// as long as that leaves it its shortest time.
func (f *field) lane(ctx context.Context, began time.Time, steps []Step) {
	for _, s := range steps {
		if !pause.For(ctx, s.At-time.Since(began)) {
			return
		}
		kind, err := find(s.Fault)
		if err != nil {
			panic(err) // Draw has found it
		}
		i := slices.IndexFunc(kind.variants, func(v variant) bool { return v.name == s.Variant })
		late := time.Since(began) - s.At
		a := newAct(f, s)
		if s.For-late < kind.variants[i].shortest/2 {
			a.note("%s is left out: the fault before it took too long to heal", s.Variant)
			continue
		}
		f.step(ctx, a, kind.variants[i], s.For-late)
	}
}

// step does one step for so long, and undoes it.
func (f *field) step(ctx context.Context, a *act, v variant, long time.Duration) {
	over := time.After(long)
	// What takes a while to do, such as a change of membership, may take longer
	// than the fault is to last.
	bounded, cancel := context.WithTimeoutCause(ctx, long+healMax, errors.New("it took too long"))
	defer cancel()
	undo, err := v.begin(bounded, a)
	if !a.begun {
		a.note("%s is left out: %s", a.Variant, oneLine(err))
		if undo != nil {
			_ = f.heal(ctx, undo) // nothing was done
		}
		return
	}
	if err == nil {
		select {
		case <-over:
		case <-ctx.Done():
		}
	}
	if undo != nil {
		err = errors.Join(err, f.heal(ctx, undo))
	}
	a.ended(err)
}

// heal undoes a fault, also where the run was interrupted.
func (f *field) heal(ctx context.Context, undo undo) error {
	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), healMax, errors.New("healing took too long"))
	defer cancel()
	return undo(ctx)
}

// restore puts everything right that an undo may have left.
func (f *field) restore(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), healMax)
	defer cancel()
	if net := f.Bed.Net(); net != nil {
		net.HealAll()
	}
	programs := f.Bed.Programs()
	members := append(f.members(), programs...)
	for _, h := range append(f.Bed.Hosts(), programs...) {
		if d := h.Disk(); d != nil {
			d.Heal()
		}
		if c := h.Clock(); c != nil {
			c.Heal()
		}
		if h.Running() {
			_ = h.Resume() // it may just have ended
		}
	}
	err := f.runAll(ctx, members)
	for _, h := range members {
		if !h.Running() {
			f.broken(h, "a node does not come back", "%v", h.Ready(ctx))
		}
	}
	return err
}
