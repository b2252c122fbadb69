// Package register drives reads and conditional writes of checkpoints and values. It
// checks that they are linearizable.
package register

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"

	"dormouse/agent"
	"dormouse/jepsen/model"
	"dormouse/jepsen/workload"
)

// register writes and reads checkpoints and values, some of them with conditions.
// Porcupine judges each key: see check.go.
type register struct {
	checkpoints, values *workload.Keys
	written             atomic.Uint64 // the last written number; each number is written once
}

const (
	registerKeys  = 2   // of each kind, for a group of processes at the same time
	registerCalls = 400 // calls on one key
)

// New returns workload register.
func New() workload.Workload {
	return &register{
		checkpoints: workload.NewKeys(checkpointPrefix, registerKeys, registerCalls),
		values:      workload.NewKeys(valuePrefix, registerKeys, registerCalls),
	}
}

func (*register) Name() string { return "register" }

func (*register) About() string {
	return "puts, patches, compare-and-swaps, deletes and reads of checkpoints and values: linearizable, with exact revisions (porcupine)"
}

func (w *register) Run(ctx context.Context, p *workload.Process) {
	known := map[string]model.RegisterOut{} // :: key → the last answer that the process got
	for workload.Pace(ctx, p) {
		key := w.checkpoints.Pick(p)
		if p.Rand.IntN(3) == 0 {
			key = w.values.Pick(p)
		}
		call, in := w.draw(p, storeOf(key), known[key])
		if out, err := w.call(ctx, p, call, key, in); err == nil {
			known[key] = heard(call, in, out)
		}
	}
}

// Final reads every key.
func (w *register) Final(ctx context.Context, p *workload.Process) error {
	return workload.FinalReads(ctx, slices.Concat(w.checkpoints.All(), w.values.All()), func(key string) error {
		_, err := w.call(ctx, p, model.RegisterGet, key, model.RegisterIn{})
		return err
	})
}

// heard returns what a process knows of a key after an answer. The answer of a patch
// has no content.
func heard(call string, in model.RegisterIn, out model.RegisterOut) model.RegisterOut {
	switch {
	case call == model.RegisterPut && out.Refused == "":
		out.Content = in.Content
	case call == model.RegisterDelete && out.Refused == "":
		out.Revision = 0
	}
	return out
}

// draw returns a new call. Its conditions refer to the last answer of the process.
func (w *register) draw(p *workload.Process, s store, known model.RegisterOut) (call string, in model.RegisterIn) {
	kind := p.Rand.IntN(20)
	switch {
	case kind < 8:
		return model.RegisterGet, in
	case kind < 12:
		in.Content = w.fresh(p)
		return model.RegisterPut, in
	case kind < 16:
		in.Content, in.IfRevision = w.fresh(p), &known.Revision
		return model.RegisterPut, in
	case kind < 18:
		return s.draw(w, p, known)
	}
	switch {
	case kind == 18 && known.Revision > 0:
		in.IfRevision = &known.Revision
	case kind == 19 && p.Rand.IntN(2) == 0:
		in.IfIncarnation = known.Incarnation
	}
	if p.Rand.IntN(3) == 0 {
		return model.RegisterDelete, in
	}
	in.Content = w.fresh(p)
	return model.RegisterPut, in
}

// fresh returns a content that no call has written.
func (w *register) fresh(p *workload.Process) model.Content {
	c := model.Content{A: w.written.Add(1)}
	if p.Rand.IntN(2) == 0 {
		c.B = w.written.Add(1)
	}
	return c
}

func (w *register) call(ctx context.Context, p *workload.Process, call, key string, in model.RegisterIn) (model.RegisterOut, error) {
	out, err := workload.Call(ctx, p, call, key, call != model.RegisterGet, in, func(ctx context.Context) (model.RegisterOut, error) {
		out, err := storeOf(key).do(ctx, p, call, key, in)
		return refusal(out, err)
	})
	if err != nil && call != model.RegisterGet && agent.OutcomeOf(err) == agent.Undecided {
		w.checkpoints.Doubt(key)
		w.values.Doubt(key)
	}
	return out, err
}

// refusal turns some errors into answers, which the checker judges like any other
// answer.
func refusal(out model.RegisterOut, err error) (model.RegisterOut, error) {
	var e *agent.Error
	if !errors.As(err, &e) {
		return out, err
	}
	switch e.Code {
	case agent.CodeNotFound, agent.CodeRevisionMismatch, agent.CodeDeleted:
		return model.RegisterOut{Refused: string(e.Code), Revision: e.Revision, Incarnation: e.Incarnation}, nil
	default:
		return out, err
	}
}
