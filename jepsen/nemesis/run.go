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

// healMax bounds one undo, in which a node that rejoins must catch up.
const healMax = 60 * time.Second

// Run executes the plan. It returns when the last fault is healed, or soon after ctx
// ends. The error lists what could not be healed.
func (p Plan) Run(ctx context.Context, g Ground) error {
	f, err := newField(g)
	if err != nil {
		return err
	}
	defer f.operator.Close() //nolint:errcheck // no request is in progress
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

// lacks returns an error that names a capability that the fault needs and the testbed
// lacks; nil if it has all.
func lacks(bed *testbed.Bed, name string) error {
	for _, c := range Needs(name) {
		if !bed.Can(c) {
			return fmt.Errorf("%s is left out: this testbed has no %s", name, c)
		}
	}
	return nil
}

// lane executes one step after the other. A late step starts at once if at least half
// of the variant's shortest time is left.
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

// step injects the fault of one step, waits for the duration long, and heals it.
func (f *field) step(ctx context.Context, a *act, v variant, long time.Duration) {
	over := time.After(long)
	// Starting a fault, such as a change of membership, may take longer than the fault
	// should last.
	bounded, cancel := context.WithTimeoutCause(ctx, long+healMax, errors.New("it took too long"))
	defer cancel()
	undo, err := v.begin(bounded, a)
	if !a.begun {
		a.note("%s is left out: %s", a.Variant, oneLine(err))
		if undo != nil {
			_ = f.heal(ctx, undo) // no fault was injected
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

// heal heals a fault, also if the run was interrupted.
func (f *field) heal(ctx context.Context, undo undo) error {
	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), healMax, errors.New("healing took too long"))
	defer cancel()
	return undo(ctx)
}

// restore heals everything that an undo may have left.
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
