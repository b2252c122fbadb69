package agenttest_test

import (
	"bytes"

	"dormouse/agent"
	"dormouse/agent/agenttest"
)

func (r *reference) patchCron(s *scope, o *agent.PatchCron) (agent.OpResult, *agent.Error) {
	c := agent.Checkpoint{
		Key: o.Key, Version: 1, State: agent.JSON("{}"), Metadata: agent.JSON("{}"), CreatedAt: r.now, UpdatedAt: r.now,
	}
	if old := s.checkpoint(o.Key); old != nil {
		c = *old
	}
	if err := first(s.alive("checkpoint", o.Key, o.IfIncarnation, c.Incarnation), atRevision(o.IfRevision, c.Revision)); err != nil {
		return nil, err
	}
	state, changes, refusal := agenttest.CronState(c.State, o)
	if refusal != nil {
		return nil, refusal
	}
	if size := len(state) + len(c.Metadata); size > agent.CheckpointBytesMax {
		return nil, agent.TooLarge("state", "checkpoint_bytes_max", size, agent.CheckpointBytesMax)
	}
	var manager *agent.Manager
	name, _, _ := agent.InstanceOf(o.Key)
	if m, ok := s.managers[name]; ok {
		manager = &m
	}
	if refusal := s.timers.Reschedule(o.Key, changes, manager, r.now, r.mint); refusal != nil {
		return nil, refusal
	}
	if bytes.Equal(state, c.State) {
		return &agent.CheckpointResult{
			Key: c.Key, Incarnation: c.Incarnation, Revision: c.Revision, CreatedAt: c.CreatedAt, UpdatedAt: c.UpdatedAt, Thread: c.Thread,
		}, nil
	}
	if c.Revision == 0 {
		c.Incarnation = r.mint()
	}
	c.State, c.UpdatedAt = state, r.now
	c.Revision++
	return s.store(c), nil
}
