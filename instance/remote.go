package instance

import (
	"context"
	"errors"

	"dormouse/agent"
	"dormouse/agent/layout"
)

// remoteHandler is the Handler of an instance whose Go handler this process
// lacks. It sends each turn to a process that has the handler.
type remoteHandler struct {
	runner *runner
	turn   layout.RemoteTurn // without the fields that each turn sets
}

// remoteTurn returns the fields that all remote turns of an instance share.
func (rn *runner) remoteTurn(i *instance, manager agent.Manager) layout.RemoteTurn {
	return layout.RemoteTurn{
		InstanceRef: i.ref(), Handler: manager.Handler.Name, Version: manager.Version, Storage: manager.Storage, Schedules: manager.Schedules, From: manager.Version,
		Run: rn.store.runOf(i),
	}
}

// dryRunRemote has another process migrate and restore a state without a
// signal, and returns the migrated state.
func (rn *runner) dryRunRemote(ctx context.Context, i *instance, manager agent.Manager, from uint64, state agent.JSON) (agent.JSON, error) {
	e := rn.remoteTurn(i, manager)
	e.From, e.State, e.Rev, e.Revision = from, state, i.stored.rev, i.stored.revision
	done, err := rn.o.Remote.Handle(ctx, e)
	switch {
	case err != nil:
		return nil, unavailable(ctx, err)
	case done.Refusal != nil:
		return nil, done.Refusal
	}
	return agent.CompactObject("state", done.State)
}

// newRemoteHandler returns the Handler of an instance whose Go handler only
// other processes have.
func (rn *runner) newRemoteHandler(ctx context.Context, i *instance, manager agent.Manager, state agent.JSON) (Handler, error) {
	if _, err := rn.dryRunRemote(ctx, i, manager, manager.Version, state); err != nil {
		return nil, err
	}
	return &remoteHandler{rn, rn.remoteTurn(i, manager)}, nil
}

// Handle implements Handler.
func (a *remoteHandler) Handle(ctx context.Context, t *Turn) error {
	e := a.turn
	e.State, e.Cron, e.Rev, e.Revision = t.state, t.manifest, t.rev, t.revision
	e.Signal = &agent.Signal{Request: t.signal.Request, Type: t.signal.Type, Data: t.signal.Data}
	done, err := a.runner.o.Remote.Handle(ctx, e)
	switch {
	case err != nil:
		return err
	case done.Crashed && done.Refusal != nil:
		return &crashError{done.Refusal}
	case done.Refusal != nil:
		return done.Refusal
	}
	return t.apply(done)
}

// apply copies a remote result into the turn. It validates the result like a
// local handler's changes.
func (t *Turn) apply(done layout.RemoteTurnResult) error {
	err := t.SetState(done.State)
	if err == nil && done.Reply != nil {
		err = t.Reply(done.Reply)
	}
	for _, specs := range done.Jobs {
		if err == nil {
			err = t.PatchCron(specs)
		}
	}
	if err != nil {
		return t.rejectChange(err)
	}
	t.durable = t.durable || done.Durable
	t.Append(done.Entries...)
	t.Commit(done.Ops...)
	return nil
}

var _ layout.RemoteHandlers = (*Host)(nil)

// Handle implements layout.RemoteHandlers: it handles a turn for the owner of an
// instance. It makes a new Handler for each turn. The owner validates and
// stores the result.
func (h *Host) Handle(ctx context.Context, e layout.RemoteTurn) (layout.RemoteTurnResult, error) {
	ctx, done, err := h.beginRemoteTurn(ctx)
	if err != nil {
		return layout.RemoteTurnResult{}, err
	}
	defer done()
	i, manager := remoteInstance(e)
	if _, err := h.runner.registeredHandler(manager); err != nil {
		return layout.RemoteTurnResult{}, err
	}
	if h.o.Storage != nil && h.o.Storage(e.Scope, e.Manager) != nil {
		return layout.RemoteTurnResult{Refusal: failed("stored_elsewhere",
			"the program of node %s stores manager %q in a store of its own, which the instance's owner cannot access", h.o.Node, e.Manager)}, nil
	}
	state := e.State
	if e.From != e.Version {
		if state, err = h.runner.migrate(ctx, i, manager, e.From, state); err != nil {
			return remoteFailure(err), nil
		}
	}
	handler, err := h.runner.newHandler(ctx, i, manager, state)
	if err != nil {
		return remoteFailure(err), nil
	}
	if e.Signal == nil {
		return layout.RemoteTurnResult{State: state}, nil
	}
	t := newTurn(h.runner, i, *e.Signal, agent.HandlerGo)
	t.state = state
	if err := h.runner.runHandler(ctx, i, handler, t); err != nil || ctx.Err() != nil {
		if cause := context.Cause(ctx); cause != nil { // the owner knows the reason better
			return layout.RemoteTurnResult{}, agent.Errorf(agent.CodeUnavailable, "the remote turn was interrupted: %v", cause)
		}
		return remoteFailure(err), nil
	}
	handled := layout.RemoteTurnResult{State: t.state, Durable: t.durable, Entries: t.entries, Ops: t.ops, Reply: t.reply}
	for _, job := range t.cronPatches {
		handled.Jobs = append(handled.Jobs, job.Specs)
	}
	return handled, nil
}

// beginRemoteTurn returns the context of a remote turn, which also ends with
// the host. The caller must call done.
func (h *Host) beginRemoteTurn(ctx context.Context) (_ context.Context, done func(), err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.leases.runCtx == nil || h.leases.runCtx.Err() != nil || h.mailbox.shuttingDown {
		return nil, nil, errStopping
	}
	if h.runner.hungHandlers.Load() >= hungHandlersMax {
		return nil, nil, agent.Errorf(agent.CodeUnavailable, "%d handler calls on node %s do not return: the node accepts no more", hungHandlersMax, h.o.Node)
	}
	h.mailbox.workers.Add(1)
	ctx, cancel := context.WithCancelCause(ctx)
	ended := context.AfterFunc(h.leases.runCtx, func() { cancel(errStopping) })
	return ctx, func() {
		ended()
		cancel(nil)
		h.mailbox.workers.Done()
	}, nil
}

// remoteInstance returns an instance and a manager that exist only for one
// remote turn.
func remoteInstance(e layout.RemoteTurn) (*instance, agent.Manager) {
	manager := agent.Manager{
		Name: e.Manager, Version: e.Version, Storage: e.Storage, Schedules: e.Schedules, Handler: agent.Handler{Kind: agent.HandlerGo, Name: e.Handler},
	}
	i := &instance{
		manager: &managerState{scope: e.Scope, name: e.Manager, config: manager}, key: e.Key,
		stored: stored{rev: e.Rev, revision: e.Revision}, due: notDue,
	}
	i.ensureExtra().run, i.ensureExtra().cron = e.Run, e.Cron
	return i, manager
}

// remoteFailure returns the result of a remote turn that failed.
func remoteFailure(err error) layout.RemoteTurnResult {
	var crash *crashError
	if errors.As(err, &crash) {
		return layout.RemoteTurnResult{Refusal: crash.refusal, Crashed: true}
	}
	return layout.RemoteTurnResult{Refusal: handlerError(err)}
}
