package timer

import (
	"bytes"
	"sync"

	"dormouse/agent"
	"dormouse/fsm/checkpoint"
	"dormouse/fsm/command"
	"dormouse/fsm/manager"
	"dormouse/fsm/txn"
	logpb "dormouse/proto/log"
)

// PatchCron changes single jobs in the manifest of a checkpoint's state. For an instance's
// checkpoint it also changes their timers. Request validation has parsed the expressions.
func PatchCron(c *txn.Tx, op *agent.PatchCron) (agent.OpResult, error) {
	changes, err := agent.CronChanges(op.Specs)
	if err != nil {
		return nil, err
	}
	old, err := checkpoint.EnterCheckpoint(c, op.Key, op.IfIncarnation, op.IfRevision)
	if err != nil {
		return nil, err
	}
	body, row := &logpb.CheckpointBody{State: []byte("{}"), Metadata: []byte("{}")}, &logpb.CheckpointRow{Version: 1}
	if old != nil {
		if body, err = checkpoint.Body(c, op.Key, old); err != nil {
			return nil, err
		}
		row = &logpb.CheckpointRow{Version: old.Version, Lifecycle: old.Lifecycle, Thread: old.Thread, ExpiresAt: old.ExpiresAt}
	}
	state, dropped, err := patchedState(body, changes)
	if err != nil {
		return nil, err
	}
	if err := reschedule(c, op.Key, changes, dropped); err != nil {
		return nil, err
	}
	if bytes.Equal(state, body.State) {
		if err := c.Bytes.CountRead(len(state)); err != nil {
			return nil, err
		}
		return &agent.CheckpointResult{
			Key: op.Key, Incarnation: old.GetIncarnation(), Revision: old.GetRevision(),
			CreatedAt: old.GetCreatedAt(), UpdatedAt: old.GetUpdatedAt(), Thread: command.DecodePointer(old.GetThread()),
		}, nil
	}
	body.State = state
	return checkpoint.Store(c, op.Key, old, row, body)
}

// patchedState returns a state with a changed manifest, and the jobs that were dropped because they
// are invalid.
func patchedState(body *logpb.CheckpointBody, changes []agent.CronChange) (state agent.JSON, dropped []string, err error) {
	_, manifest, err := agent.SplitCron(body.State)
	if err != nil {
		return nil, nil, agent.Invalid("specs", "%v", err)
	}
	next, dropped, err := agent.PatchManifest(manifest, changes)
	if err != nil {
		return nil, nil, agent.Invalid("specs", "%v", err)
	}
	if specs, _ := agent.CronSpecs(next); len(specs) > agent.CronSpecsMax {
		return nil, nil, agent.TooLarge("specs", "cron_specs_max", len(specs), agent.CronSpecsMax)
	}
	if state, err = agent.JoinCron(body.State, next); err != nil {
		return nil, nil, agent.Invalid("specs", "%v", err)
	}
	if size := len(state) + len(body.Metadata); size > agent.CheckpointBytesMax {
		return nil, nil, agent.TooLarge("state", "checkpoint_bytes_max", size, agent.CheckpointBytesMax)
	}
	return state, dropped, nil
}

// reschedule sets the timers of an instance's jobs. The manifest must not change jobs that its
// manager declares.
func reschedule(c *txn.Tx, checkpoint string, changes []agent.CronChange, dropped []string) error {
	name, key, ok := agent.InstanceOf(checkpoint)
	if !ok {
		return nil
	}
	row, err := manager.Load(c, name)
	if err != nil {
		return err
	}
	declared := map[string]bool{}
	specs, _ := agent.CronSpecs(row.GetSettings().GetSchedules())
	for _, spec := range specs {
		declared[spec.Job] = true
	}
	for _, job := range dropped {
		changes = append(changes, agent.CronChange{Job: job})
	}
	generation := sync.OnceValue(c.NewIncarnation) // of all: see txn.MintsMax
	for _, change := range changes {
		switch {
		case declared[change.Job] && change.Set != nil:
			return agent.Errorf(agent.CodeConflict, "manager %q declares job %q for all of its instances: change it there", name, change.Job)
		case declared[change.Job]:
		case change.Set != nil:
			timer := change.Set.Timer(name, key)
			if _, err := setTimer(c, &timer, generation); err != nil {
				return err
			}
		case len(change.Job) <= agent.CronJobBytesMax && agent.ValidKey("job", change.Job) == nil: // others have no timer
			if _, err := Delete(c, &agent.DeleteTimer{Manager: name, Key: key, ID: agent.CronTimerPrefix + change.Job}); err != nil {
				return err
			}
		}
	}
	return nil
}
