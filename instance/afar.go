package instance

import (
	"context"

	"dormouse/agent"
)

// away is the Handler of an instance whose Go handler this process lacks: each
// turn is an errand to a process that has it.
type away struct {
	host   *Host
	errand agent.RemoteTurn // but for what each turn has of its own
}

// errand is what is asked of another process for an instance.
func (h *Host) errand(i *instance, manager agent.Manager) agent.RemoteTurn {
	return agent.RemoteTurn{
		InstanceRef: i.ref(), Handler: manager.Handler.Name, Version: manager.Version, Storage: manager.Storage, Schedules: manager.Schedules, From: manager.Version,
		Run: h.lifeOf(i),
	}
}

// rehearse has a state migrated and restored once by a process that has the
// handler, and returns what it is then.
func (h *Host) rehearse(ctx context.Context, i *instance, manager agent.Manager, from uint64, state agent.JSON) (agent.JSON, error) {
	e := h.errand(i, manager)
	e.From, e.State, e.Rev, e.Revision = from, state, i.stored.rev, i.stored.revision
	done, err := h.o.Afar.Handle(ctx, e)
	switch {
	case err != nil:
		return nil, unavailable(ctx, err)
	case done.Refusal != nil:
		return nil, done.Refusal
	}
	return agent.CompactObject("state", done.State)
}

// enlivenAway makes the Handler of an instance whose handler is elsewhere.
func (h *Host) enlivenAway(ctx context.Context, i *instance, manager agent.Manager, state agent.JSON) (Handler, error) {
	if _, err := h.rehearse(ctx, i, manager, manager.Version, state); err != nil {
		return nil, err
	}
	return &away{h, h.errand(i, manager)}, nil
}

// Handle implements Handler.
func (a *away) Handle(ctx context.Context, t *Turn) error {
	e := a.errand
	e.State, e.Cron, e.Rev, e.Revision = t.state, t.manifest, t.rev, t.revision
	e.Signal = &agent.Signal{Request: t.signal.Request, Type: t.signal.Type, Data: t.signal.Data}
	done, err := a.host.o.Afar.Handle(ctx, e)
	switch {
	case err != nil:
		return err
	case done.Crashed && done.Refusal != nil:
		return &crashError{done.Refusal}
	case done.Refusal != nil:
		return done.Refusal
	}
	return t.want(done)
}

// want makes what an errand came to the turn's changes. Nobody's word is taken
// for anything: they are as a handler's here.
func (t *Turn) want(done agent.RemoteTurnResult) error {
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
		return t.unfit(err)
	}
	t.durable = t.durable || done.Durable
	t.Append(done.Entries...)
	t.Commit(done.Ops...)
	return nil
}
