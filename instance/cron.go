package instance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"dormouse/agent"
)

// An instance stores its recurring jobs as a manifest in its checkpoint's
// state. Handlers do not see the manifest: thaw removes it from the state and
// saves add it again. Each job has a timer, which exists while the instance is
// dormant too. An import or a fork copies a manifest without its timers, and
// the manager's declared jobs can change. Each wake therefore updates the
// timers.

// splitCron removes the manifest from a thawed or initial state and keeps it
// with the instance.
func (i *instance) splitCron(state agent.JSON) (agent.JSON, error) {
	rest, manifest, err := agent.SplitCron(state)
	if err != nil {
		return nil, agent.Errorf(agent.CodeInternal, "%v", err)
	}
	if manifest != nil || i.body.extra != nil {
		i.ensureExtra().cron = manifest
	}
	return rest, nil
}

// cronTimers returns the read of the timers of the instance's jobs.
func (i *instance) cronTimers() *agent.ListTimers {
	return &agent.ListTimers{Manager: i.manager.name, Key: i.key, Page: agent.Page{Prefix: agent.CronTimerPrefix, Limit: agent.TimersMax}}
}

// syncTimers makes an instance's timers match the jobs of its manager and its
// manifest. A manager's job replaces a job of the same name in the manifest.
// Jobs that are invalid or replaced are removed from the manifest. If the store
// refuses the change, such as for a quota, the instance wakes with the timers that
// it has, and the next wake tries again.
func (st *store) syncTimers(i *instance, manager agent.Manager, timers []agent.Timer) error {
	var manifest agent.JSON
	if i.body.extra != nil {
		manifest = i.body.extra.cron
	}
	if len(timers) == 0 && manifest == nil && manager.Schedules == nil {
		return nil
	}
	wanted, scrub := i.wantedTimers(manager, manifest)
	var ops []agent.Op
	if scrub != nil {
		changes, err := agent.CronChanges(scrub)
		if err != nil {
			return err
		}
		if i.body.extra.cron, _, err = agent.PatchManifest(manifest, changes); err != nil {
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
	result, err := st.commitFenced(i, st.o.Service, agent.Commit{Ops: ops, Request: st.newRequestID(i)})
	var e *agent.Error
	switch {
	case err == nil:
		st.recordResult(i, result)
	case errors.As(err, &e) && (e.Final || e.Code == agent.CodeQuotaExceeded):
		st.o.Logger.Warn("cannot set the recurring jobs of an instance", "instance", i.String(), "error", err)
	default:
		return err
	}
	return nil
}

// wantedTimers returns the timers of an instance's jobs, and the patch that
// removes invalid and replaced jobs from its manifest, or nil.
func (i *instance) wantedTimers(manager agent.Manager, manifest agent.JSON) (wanted []agent.Timer, scrub agent.JSON) {
	declared, _ := agent.CronSpecs(manager.Schedules)
	for _, spec := range declared {
		if spec.Playable() == nil {
			wanted = append(wanted, spec.Timer(i.manager.name, i.key))
		}
	}
	stored, dropped := agent.CronSpecs(manifest)
	var removed []string
	for _, spec := range stored {
		own := slices.ContainsFunc(declared, func(d agent.CronSpec) bool { return d.Job == spec.Job })
		if own || spec.Playable() != nil {
			removed = append(removed, spec.Job)
		} else {
			wanted = append(wanted, spec.Timer(i.manager.name, i.key))
		}
	}
	if len(removed)+len(dropped) == 0 && (manifest == nil || len(stored) > 0) {
		return wanted, nil
	}
	scrub = agent.JSON{'{'} // any patch also removes members that are not jobs
	for n, job := range removed {
		if n > 0 {
			scrub = append(scrub, ',')
		}
		scrub = append(appendString(scrub, job), ":null"...)
	}
	return wanted, append(scrub, '}')
}

// samePlan reports whether two timers fire at the same times with the same
// signal.
func samePlan(a, b *agent.Timer) bool {
	return a.Cron == b.Cron && a.TimeZone == b.TimeZone && a.Missed == b.Missed && a.CatchUp == b.CatchUp && a.Type == b.Type && string(a.Data) == string(b.Data)
}

// PatchCron changes recurring jobs of the instance in the turn's commit. specs
// are {job: spec}, as in agent.PatchCron; null cancels a job. A job that the
// manager declares is refused with conflict. An invalid spec is refused at once
// and changes nothing. A turn that changes jobs is stored before its reply,
// whatever its manager's durability.
//
// Use Commit with agent.PutTimer for a timer that belongs to no job.
func (t *Turn) PatchCron(specs agent.JSON) error {
	manager, service, _ := t.runner.table.managerConfig(t.instance.manager)
	if service != t.runner.o.Service {
		return agent.Invalid("cron", "manager %q is not stored in the cluster, and only the cluster keeps jobs", t.instance.manager.name)
	}
	op := &agent.PatchCron{Key: t.instance.ref().Checkpoint(), Specs: specs}
	c := agent.Commit{Scope: t.instance.manager.scope, Ops: []agent.Op{op}}
	if err := c.Validate(); err != nil {
		return err
	}
	changes, err := agent.CronChanges(op.Specs)
	if err != nil {
		return err
	}
	declared, _ := agent.CronSpecs(manager.Schedules)
	for _, change := range changes {
		if change.Set != nil {
			if err := manager.Handler.TakesIn("specs", fmt.Sprintf("job %q", change.Job), change.Set.Timer("", "").Type); err != nil {
				return err
			}
		}
		if change.Set != nil && slices.ContainsFunc(declared, func(d agent.CronSpec) bool { return d.Job == change.Job }) {
			return agent.Errorf(agent.CodeConflict, "manager %q declares job %q for all of its instances: change the manager instead", manager.Name, change.Job)
		}
	}
	next, _, err := agent.PatchManifest(t.manifest, changes)
	if err != nil {
		return err
	}
	if jobs, _ := agent.CronSpecs(next); len(jobs) > agent.CronSpecsMax {
		return agent.TooLarge("specs", "cron_specs_max", len(jobs), agent.CronSpecsMax)
	}
	if !bytes.Equal(next, t.manifest) {
		t.cronRevisions++
	}
	t.manifest, t.cronPatches = next, append(t.cronPatches, op)
	return nil
}

// Cron returns the manifest of the instance's own recurring jobs, {job: spec},
// with the changes of this turn; nil if it has none. The caller must not change
// it.
func (t *Turn) Cron() agent.JSON { return t.manifest }

// withCron returns a state with the manifest added, as it is stored.
func (i *instance) withCron(state agent.JSON) (agent.JSON, error) {
	if i.body.extra == nil || i.body.extra.cron == nil {
		return state, nil
	}
	state, err := agent.JoinCron(state, i.body.extra.cron)
	if err != nil {
		return nil, agent.Errorf(agent.CodeInternal, "%v", err)
	}
	return state, nil
}

// keepManifest keeps the manifest of a turn that was stored.
func (i *instance) keepManifest(t *Turn) {
	if len(t.cronPatches) > 0 {
		i.ensureExtra().cron = t.manifest
	}
}

// readStored reads the state that an instance wakes from: its checkpoint, its
// thread and its jobs' timers.
func (st *store) readStored(ctx context.Context, i *instance, service agent.Service) (agent.Answers, []agent.Timer, error) {
	key := i.ref().Checkpoint()
	none := uint64(0)
	reads := []agent.Read{&agent.Thaw{Key: key, Tail: &none}, &agent.GetThread{Thread: key}}
	if service == st.o.Service {
		reads = append(reads, i.cronTimers())
	}
	answers, err := service.Read(ctx, agent.Reads{Scope: i.manager.scope, Reads: reads})
	if err != nil {
		return answers, nil, unavailable(ctx, err)
	}
	if len(answers.Answers) != len(reads) {
		return answers, nil, agent.Errorf(agent.CodeInternal, "%d reads have %d answers", len(reads), len(answers.Answers))
	}
	if service != st.o.Service {
		return answers, nil, nil
	}
	list, ok := answers.Answers[2].Found.(*agent.TimerList)
	if !ok {
		return answers, nil, thawError(i, answers.Answers[2].Err)
	}
	return answers, list.Items, nil
}
