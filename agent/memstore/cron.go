package memstore

import (
	"bytes"

	"dormouse/agent"
)

func patchCron(st *Store, s *scope, o *agent.PatchCron) (agent.OpResult, *agent.Error) {
	c := agent.Checkpoint{
		Key: o.Key, Version: 1, State: agent.JSON("{}"), Metadata: agent.JSON("{}"), CreatedAt: s.now, UpdatedAt: s.now,
	}
	if old := s.checkpoint(o.Key); old != nil {
		c = *old
	}
	if e := first(s.alive("checkpoint", o.Key, o.IfIncarnation, c.Incarnation), atRevision(o.IfRevision, c.Revision)); e != nil {
		return nil, e
	}
	state, changes, e := CronState(c.State, o)
	if e != nil {
		return nil, e
	}
	if size := len(state) + len(c.Metadata); size > agent.CheckpointBytesMax {
		return nil, agent.TooLarge("state", "checkpoint_bytes_max", size, agent.CheckpointBytesMax)
	}
	var manager *agent.Manager
	name, _, _ := agent.InstanceOf(o.Key)
	if m, ok := s.managers[name]; ok {
		manager = &m
	}
	if e := s.timers.Reschedule(o.Key, changes, manager, s.now, st.newIncarnation); e != nil {
		return nil, e
	}
	if bytes.Equal(state, c.State) {
		return checkpointResult(&c), nil
	}
	if c.Revision == 0 {
		c.Incarnation = st.newIncarnation()
	}
	c.State, c.UpdatedAt = state, s.now
	c.Revision++
	return s.storeCheckpoint(c), nil
}

// CronState applies PatchCron to a state, and returns the changes that it made.
func CronState(state agent.JSON, op *agent.PatchCron) (next agent.JSON, changes []agent.CronChange, refusal *agent.Error) {
	changes, err := agent.CronChanges(op.Specs)
	if err != nil {
		return nil, nil, agent.Invalid("specs", "%v", err)
	}
	_, manifest, err := agent.SplitCron(state)
	if err != nil {
		return nil, nil, agent.Invalid("state", "%v", err)
	}
	manifest, dropped, err := agent.PatchManifest(manifest, changes)
	if err != nil {
		return nil, nil, agent.Invalid("specs", "%v", err)
	}
	if specs, _ := agent.CronSpecs(manifest); len(specs) > agent.CronSpecsMax {
		return nil, nil, agent.TooLarge("specs", "cron_specs_max", len(specs), agent.CronSpecsMax)
	}
	for _, job := range dropped {
		changes = append(changes, agent.CronChange{Job: job})
	}
	if next, err = agent.JoinCron(state, manifest); err != nil {
		return nil, nil, agent.Invalid("state", "%v", err)
	}
	return next, changes, nil
}

// Reschedule updates the timers of an instance's jobs; manager is nil if it does not
// exist.
func (m TimerModel) Reschedule(checkpoint string, changes []agent.CronChange, manager *agent.Manager, now int64, born func() uint64) *agent.Error {
	name, key, ok := agent.InstanceOf(checkpoint)
	if !ok {
		return nil
	}
	declared := map[string]bool{}
	if manager != nil {
		specs, _ := agent.CronSpecs(manager.Schedules)
		for _, spec := range specs {
			declared[spec.Job] = true
		}
	}
	for _, change := range changes {
		switch {
		case declared[change.Job] && change.Set != nil:
			return agent.Errorf(agent.CodeConflict, "manager %q declares job %q", name, change.Job)
		case declared[change.Job]:
		case change.Set != nil:
			timer := change.Set.Timer(name, key)
			m.put(&timer, now, born)
		default:
			delete(m, TimerName{name, key, agent.CronTimerPrefix + change.Job})
		}
	}
	return nil
}
