package instance

import (
	"context"
	"errors"

	"dormouse/agent"
)

var _ agent.RemoteHandlers = (*Host)(nil)

// Handle implements agent.Handlers: it does an errand for the owner of an
// instance by a handler that this process has. The handler is made for it, and
// is gone with it. The owner judges what comes of it as it does its own turns.
func (h *Host) Handle(ctx context.Context, e agent.RemoteTurn) (agent.RemoteTurnResult, error) {
	ctx, done, err := h.lend(ctx)
	if err != nil {
		return agent.RemoteTurnResult{}, err
	}
	defer done()
	i, manager := guest(e)
	if _, err := h.registered(manager); err != nil {
		return agent.RemoteTurnResult{}, err
	}
	if h.o.Storage != nil && h.o.Storage(e.Scope, e.Manager) != nil {
		return agent.RemoteTurnResult{Refusal: failed("stored_elsewhere",
			"the program of node %s stores manager %q in a store of its own, which the owner of the instance does not know", h.o.Node, e.Manager)}, nil
	}
	state := e.State
	if e.From != e.Version {
		if state, err = h.migrate(ctx, i, manager, e.From, state); err != nil {
			return declined(err), nil
		}
	}
	live, err := h.enliven(ctx, i, manager, state)
	if err != nil {
		return declined(err), nil
	}
	if e.Signal == nil {
		return agent.RemoteTurnResult{State: state}, nil
	}
	t := newTurn(h, i, *e.Signal, agent.HandlerGo)
	t.state = state
	if err := h.attend(ctx, i, live, t); err != nil || ctx.Err() != nil {
		if cause := context.Cause(ctx); cause != nil { // the owner knows best why
			return agent.RemoteTurnResult{}, agent.Errorf(agent.CodeUnavailable, "the errand ended before it was done: %v", cause)
		}
		return declined(err), nil
	}
	handled := agent.RemoteTurnResult{State: t.state, Durable: t.durable, Entries: t.entries, Ops: t.ops, Reply: t.reply}
	for _, job := range t.jobs {
		handled.Jobs = append(handled.Jobs, job.Specs)
	}
	return handled, nil
}

// lend begins an errand, whose context ends with the host too; done ends it.
func (h *Host) lend(ctx context.Context) (_ context.Context, done func(), err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.life == nil || h.life.Err() != nil || h.closing {
		return nil, nil, errStopping
	}
	if h.abandoned.Load() >= abandonedMax {
		return nil, nil, agent.Errorf(agent.CodeUnavailable, "%d calls of handlers hang on node %s: it makes no more", abandonedMax, h.o.Node)
	}
	h.workers.Add(1)
	ctx, cancel := context.WithCancelCause(ctx)
	ended := context.AfterFunc(h.life, func() { cancel(errStopping) })
	return ctx, func() {
		ended()
		cancel(nil)
		h.workers.Done()
	}, nil
}

// guest is an instance of another owner's, for one errand, and its manager.
func guest(e agent.RemoteTurn) (*instance, agent.Manager) {
	manager := agent.Manager{
		Name: e.Manager, Version: e.Version, Storage: e.Storage, Schedules: e.Schedules, Handler: agent.Handler{Kind: agent.HandlerGo, Name: e.Handler},
	}
	i := &instance{
		family: &family{scope: e.Scope, name: e.Manager, manager: manager}, key: e.Key,
		stored: stored{rev: e.Rev, revision: e.Revision}, place: notDue,
	}
	i.more().client, i.more().cron = e.Run, e.Cron
	return i, manager
}

// declined is an errand that came to an error.
func declined(err error) agent.RemoteTurnResult {
	var crash *crashError
	if errors.As(err, &crash) {
		return agent.RemoteTurnResult{Refusal: crash.refusal, Crashed: true}
	}
	return agent.RemoteTurnResult{Refusal: said(err)}
}
