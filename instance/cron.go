package instance

import (
	"context"
	"errors"
	"slices"

	"dormouse/agent"
)

// An instance's recurring jobs are the manifest in its checkpoint's state, which
// handlers do not see: it is taken out where the instance wakes, and put back
// where it is stored. Each job has a timer, which outlives the instance's sleep.
// What stands in the checkpoint may have come there without them, as by an
// import or a fork, and the manager may declare others since: so timers are
// made to follow whenever the instance wakes.

// takeCron takes the manifest out of a state that is thawed, or begun with.
func (i *instance) takeCron(state agent.JSON) (agent.JSON, error) {
	rest, manifest, err := agent.SplitCron(state)
	if err != nil {
		return nil, agent.Errorf(agent.CodeInternal, "%v", err)
	}
	if manifest != nil || i.body.rare != nil {
		i.more().cron = manifest
	}
	return rest, nil
}

// cronTimers reads the timers of the instance's jobs.
func (i *instance) cronTimers() *agent.ListTimers {
	return &agent.ListTimers{Manager: i.family.name, Key: i.key, Page: agent.Page{Prefix: agent.CronTimerPrefix, Limit: agent.TimersMax}}
}

// schedule makes an instance's timers what its manager declares and its manifest
// holds. Where both have a job the manager's counts; a stored one that the
// manager declares too, that is none, or that cannot be played goes.
func (h *Host) schedule(i *instance, manager agent.Manager, timers []agent.Timer) error {
	var manifest agent.JSON
	if i.body.rare != nil {
		manifest = i.body.rare.cron
	}
	if len(timers) == 0 && manifest == nil && manager.Schedules == nil {
		return nil
	}
	wanted, scrub := i.jobs(manager, manifest)
	var ops []agent.Op
	if scrub != nil {
		changes, err := agent.CronChanges(scrub)
		if err != nil {
			return err
		}
		if i.body.rare.cron, _, err = agent.PatchManifest(manifest, changes); err != nil {
			return err
		}
		ops = append(ops, &agent.PatchCron{Key: i.ref().Checkpoint(), Specs: scrub, IfRevision: &i.stored.revision, IfIncarnation: i.stored.incarnation})
	}
	for _, t := range timers {
		at := slices.IndexFunc(wanted, func(w agent.Timer) bool { return w.ID == t.ID })
		if at < 0 {
			ops = append(ops, &agent.DeleteTimer{Manager: t.Manager, Key: t.Key, ID: t.ID})
		} else if samePlan(&wanted[at], &t) {
			wanted = slices.Delete(wanted, at, at+1)
		}
	}
	for _, t := range wanted {
		ops = append(ops, &agent.PutTimer{Timer: t})
	}
	if len(ops) == 0 {
		return nil
	}
	result, err := h.settle(i, h.o.Service, agent.Commit{Ops: ops, Request: h.request(i)})
	var e *agent.Error
	switch {
	case err == nil:
		h.wrote(i, result)
	case errors.As(err, &e) && e.Final:
		h.o.Logger.Warn("the recurring jobs of an instance cannot be set", "instance", i.String(), "error", err)
	default:
		return err
	}
	return nil
}

// jobs are the timers that an instance's jobs are to have, and what is to be
// cancelled in its manifest, nil where it is as it should be.
func (i *instance) jobs(manager agent.Manager, manifest agent.JSON) (wanted []agent.Timer, scrub agent.JSON) {
	declared, _ := agent.CronSpecs(manager.Schedules)
	for _, spec := range declared {
		if spec.Playable() == nil {
			wanted = append(wanted, spec.Timer(i.family.name, i.key))
		}
	}
	stored, dropped := agent.CronSpecs(manifest)
	var gone []string
	for _, spec := range stored {
		own := slices.ContainsFunc(declared, func(d agent.CronSpec) bool { return d.Job == spec.Job })
		if own || spec.Playable() != nil {
			gone = append(gone, spec.Job)
		} else {
			wanted = append(wanted, spec.Timer(i.family.name, i.key))
		}
	}
	if len(gone)+len(dropped) == 0 && (manifest == nil || len(stored) > 0) {
		return wanted, nil
	}
	scrub = agent.JSON{'{'} // what is no job is dropped by any change
	for n, job := range gone {
		if n > 0 {
			scrub = append(scrub, ',')
		}
		scrub = append(appendString(scrub, job), ":null"...)
	}
	return wanted, append(scrub, '}')
}

// samePlan tells whether a timer that is set fires as another one would.
func samePlan(a, b *agent.Timer) bool {
	return a.Cron == b.Cron && a.TimeZone == b.TimeZone && a.Missed == b.Missed && a.CatchUp == b.CatchUp && a.Type == b.Type && string(a.Data) == string(b.Data)
}

// cronTurn is the turn of a signal that changes the manifest. No handler sees
// it.
func (h *Host) cronTurn(t *Turn) error {
	if _, service, _ := h.config(t.instance.family); service != h.o.Service {
		return agent.Invalid("type", "manager %q is not stored in the cluster, which is what keeps jobs", t.instance.family.name)
	}
	t.cron = &agent.PatchCron{Key: t.instance.ref().Checkpoint(), Specs: t.Data()}
	c := agent.Commit{Scope: t.instance.family.scope, Ops: []agent.Op{t.cron}}
	return c.Validate()
}

// withCron is a state as it is stored: with the manifest, and none other.
func (i *instance) withCron(state agent.JSON) (agent.JSON, error) {
	if i.body.rare == nil || i.body.rare.cron == nil {
		return state, nil
	}
	state, err := agent.JoinCron(state, i.body.rare.cron)
	if err != nil {
		return nil, agent.Errorf(agent.CodeInternal, "%v", err)
	}
	return state, nil
}

// patched notes what a turn that was stored made of the manifest.
func (i *instance) patched(o *agent.PatchCron) {
	if o == nil {
		return
	}
	if changes, err := agent.CronChanges(o.Specs); err == nil {
		i.more().cron, _, _ = agent.PatchManifest(i.more().cron, changes)
	}
}

// readToWake is all that an instance wakes from: its checkpoint, its thread and
// its jobs' timers.
func (h *Host) readToWake(ctx context.Context, i *instance, service agent.Service) (agent.Answers, []agent.Timer, error) {
	key := i.ref().Checkpoint()
	none := uint64(0)
	reads := []agent.Read{&agent.Thaw{Key: key, Tail: &none}, &agent.GetThread{Thread: key}}
	if service == h.o.Service {
		reads = append(reads, i.cronTimers())
	}
	answers, err := service.Read(ctx, agent.Reads{Scope: i.family.scope, Reads: reads})
	if err != nil {
		return answers, nil, unavailable(ctx, err)
	}
	if len(answers.Answers) != len(reads) {
		return answers, nil, agent.Errorf(agent.CodeInternal, "%d reads have %d answers", len(reads), len(answers.Answers))
	}
	if service != h.o.Service {
		return answers, nil, nil
	}
	list, ok := answers.Answers[2].Found.(*agent.TimerList)
	if !ok {
		return answers, nil, thawFailed(i, answers.Answers[2].Err)
	}
	return answers, list.Items, nil
}
