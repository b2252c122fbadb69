package agenttest

import "dormouse/agent"

// CronState applies PatchCron to a state, and returns the changes that it made. It is
// for services in memory.
func CronState(state agent.JSON, op *agent.PatchCron) (next agent.JSON, changes []agent.CronChange, refusal *agent.Error) {
	changes, err := agent.CronChanges(op.Specs)
	if err != nil {
		panic(err) // Validate has accepted them
	}
	_, manifest, err := agent.SplitCron(state)
	if err != nil {
		panic(err)
	}
	manifest, dropped, err := agent.PatchManifest(manifest, changes)
	if err != nil {
		panic(err)
	}
	if specs, _ := agent.CronSpecs(manifest); len(specs) > agent.CronSpecsMax {
		return nil, nil, agent.TooLarge("specs", "cron_specs_max", len(specs), agent.CronSpecsMax)
	}
	for _, job := range dropped {
		changes = append(changes, agent.CronChange{Job: job})
	}
	next, err = agent.JoinCron(state, manifest)
	if err != nil {
		panic(err)
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
