package instance

import (
	"context"

	"dormouse/agent"
)

// wake thaws the instance unless it is awake under the manager's current
// version. It returns that manager and reports whether the instance woke. A
// checkpoint that cannot be thawed is thaw_failed, and no fresh instance
// replaces it.
func (rn *runner) wake(i *instance, start *agent.StartInstance) (manager agent.Manager, woke bool, err error) {
	manager, service, version := rn.table.managerConfig(i.manager)
	if i.body.awake && i.body.version == version {
		return manager, false, nil
	}
	old := i.body
	if old.awake && i.dirty() { // save for the next handler
		if err := rn.store.save(i, lifecycleManual); err != nil {
			return manager, false, err
		}
	}
	woke = i.status != agent.InstanceAwake
	if service == nil && old.awake {
		return manager, woke, rn.store.withTimeout(i, func(ctx context.Context) error { return rn.continueUnstored(ctx, i, manager, version) })
	}
	rn.store.invalidate(i, thawReason(i))
	if service == nil {
		return manager, woke, rn.store.withTimeout(i, func(ctx context.Context) error { return rn.startFresh(ctx, i, manager, version, nil, start) })
	}
	err = rn.store.withTimeout(i, func(ctx context.Context) error {
		answers, timers, err := rn.store.readStored(ctx, i, service)
		if err != nil {
			return err
		}
		found := stored{index: answers.Index, since: answers.Index}
		if thread, ok := answers.Answers[1].Found.(*agent.Thread); ok {
			found.rev, found.threadIncarnation = thread.Rev, thread.Incarnation
		} else if e := answers.Answers[1].Err; e == nil || e.Code != agent.CodeNotFound {
			return thawError(i, e)
		}
		thawed, ok := answers.Answers[0].Found.(*agent.Thawed)
		if ok {
			err = rn.thaw(ctx, i, manager, version, found, thawed)
		} else if e := answers.Answers[0].Err; e == nil || e.Code != agent.CodeNotFound {
			err = thawError(i, e)
		} else {
			err = rn.startFresh(ctx, i, manager, version, &found, start)
		}
		if err == nil && service == rn.o.Service {
			if err = rn.store.syncTimers(i, manager, timers); err != nil {
				rn.store.invalidate(i, agent.ReasonFailed)
			}
		}
		return err
	})
	return manager, woke, err
}

// continueUnstored continues an instance with its state in memory after its manager was
// changed, and stores nothing now. What was stored before is saved.
func (rn *runner) continueUnstored(ctx context.Context, i *instance, manager agent.Manager, version int) (err error) {
	state, found := i.body.state, stored{}
	if i.body.service == nil {
		found.rev = i.stored.rev
	}
	switch at := i.body.stateAt; {
	case at > manager.Version:
		return refuseVersion(i, at, manager)
	case at < manager.Version:
		if state, err = rn.migrate(ctx, i, manager, at, state); err != nil {
			return err
		}
	}
	rn.store.invalidate(i, thawReason(i))
	return rn.activate(ctx, i, manager, version, found, state, agent.SourceThawed)
}

// thaw sets the instance's state from its checkpoint.
func (rn *runner) thaw(ctx context.Context, i *instance, manager agent.Manager, version int, found stored, thawed *agent.Thawed) error {
	c := &thawed.Checkpoint
	if p := c.Thread; p != nil && p.Thread != i.ref().Checkpoint() {
		return refuseThaw(i, "thread_mismatch", "its checkpoint points to thread %q", p.Thread)
	}
	state, err := i.splitCron(c.State)
	if err != nil {
		return err
	}
	switch {
	case c.Version > manager.Version:
		return refuseVersion(i, c.Version, manager)
	case c.Version < manager.Version:
		if state, err = rn.migrate(ctx, i, manager, c.Version, state); err != nil {
			return err
		}
	}
	found.revision, found.incarnation, i.body.initial = c.Revision, c.Incarnation, nil
	if string(c.Metadata) != "{}" {
		i.body.metadata = c.Metadata
	}
	return rn.activate(ctx, i, manager, version, found, state, agent.SourceThawed)
}

// startFresh starts an instance that has no checkpoint. Under DurabilityTurn it
// stores a non-empty initial state before the call returns. found is nil if the
// manager stores nothing.
func (rn *runner) startFresh(ctx context.Context, i *instance, manager agent.Manager, version int, found *stored, start *agent.StartInstance) error {
	state := agent.JSON("{}")
	switch {
	case start != nil && start.InitialState != nil:
		state = start.InitialState
	case i.body.initial != nil:
		state = i.body.initial
	}
	nonEmpty := string(state) != "{}"
	initial := state
	state, err := i.splitCron(state)
	if err != nil {
		return err
	}
	if nonEmpty && (found == nil || manager.Durability == agent.DurabilityIdle) {
		i.body.initial = initial // nothing stores it now
	}
	if found == nil {
		return rn.activate(ctx, i, manager, version, stored{}, state, agent.SourceFresh)
	}
	if err := rn.activate(ctx, i, manager, version, *found, state, agent.SourceFresh); err != nil {
		return err
	}
	if nonEmpty && manager.Durability == agent.DurabilityTurn {
		if err := rn.store.save(i, lifecycleManual); err != nil {
			rn.store.invalidate(i, agent.ReasonFailed)
			return err
		}
	}
	return nil
}

// activate makes the instance awake and ready for signals.
func (rn *runner) activate(ctx context.Context, i *instance, manager agent.Manager, version int, found stored, state agent.JSON, source agent.InstanceSource) error {
	handler, err := rn.newHandler(ctx, i, manager, state)
	if err != nil {
		return err
	}
	i.body.awake, i.body.version, i.body.state, i.body.stateAt = true, version, state, manager.Version
	i.body.service = rn.table.serviceFor(i.manager, manager)
	if handler != nil {
		i.ensureExtra().handler = handler
	}
	rn.mu.Lock()
	defer rn.mu.Unlock()
	i.stored = found
	if i.status != agent.InstanceAwake {
		i.status, i.source = agent.InstanceAwake, source
		rn.table.count(i.manager, func(t *counters) { t.wakes++ })
		rn.table.recount(i, string(source))
	}
	rn.table.markUsed(i)
	return nil
}

// thawError returns the error of a checkpoint that exists but cannot be thawed.
// An error of the store that may pass is returned unchanged.
func thawError(i *instance, e *agent.Error) error {
	switch {
	case e == nil:
		return refuseThaw(i, string(agent.CodeInternal), "the store returned an answer of another type")
	case agent.Retryable(e):
		return e
	default:
		return refuseThaw(i, string(e.Code), "%v", e)
	}
}

func refuseVersion(i *instance, at uint64, manager agent.Manager) error {
	return refuseThaw(i, "version", "its state has version %d, but its manager has version %d", at, manager.Version)
}

func refuseThaw(i *instance, reason, format string, args ...any) error {
	e := agent.Errorf(agent.CodeThawFailed, format, args...)
	e.Detail = clipped(i.String() + " cannot be thawed: " + e.Detail)
	e.Reason = reason
	return e
}
