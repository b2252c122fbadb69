package controller

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"

	"dormouse/agent"
	"dormouse/instance/pod"
	"dormouse/internal/seededbug"
)

// mutate stores a new topology and the work of the mutation.
func (pt *podTurn) mutate() error {
	var request pod.Mutate
	if err := decode(pt.turn, &request); err != nil {
		return err
	}
	ops, err := pod.ParseOps(agent.JSON(request.Ops))
	if err != nil {
		return err
	}
	id, err := newMutationID()
	if err != nil {
		return err
	}
	slot, err := pt.slot.Begin(id, ops)
	if err != nil {
		return err
	}
	if err := slot.Topology.CheckNested(pt.pod); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(slot.Topology.Nodes)) { // refuse a key that is too long now, before any node starts
		if _, err := slot.Topology.RefOf(pt.pod, name, slot.Topology.Nodes[name]); err != nil {
			return err
		}
	}
	pt.slot = slot
	progress := pod.Progress{Step: pod.Step{MutationID: id}}
	if _, more, err := slot.Wave(); err != nil {
		return err
	} else if more {
		if err := pt.setStepTimer(0, time.Now().Add(StepTimeout)); err != nil {
			return err
		}
	} else {
		var report pod.Report
		if pt.slot, report, err = slot.Finish(id); err != nil {
			return err
		}
		progress.Report = &report
	}
	if err := pt.store(); err != nil {
		return err
	}
	return reply(pt.turn, progress)
}

// step runs one wave of a mutation. A repeated step, or one of an ended
// mutation, changes nothing. If byTimer is true, the pod's own timer sent the
// signal, and this turn acknowledges that timer.
func (pt *podTurn) step(ctx context.Context, byTimer bool) error {
	var request pod.Step
	if err := decode(pt.turn, &request); err != nil {
		return err
	}
	m := &pt.slot.Mutation
	switch {
	case m.ID != request.MutationID && byTimer:
		return reply(pt.turn, pod.Progress{Step: request, Report: &pod.Report{MutationID: request.MutationID}}) // it ended earlier
	case m.ID != request.MutationID:
		return agent.Errorf(agent.CodeConflict, "mutation %s has ended: the newest is %s", request.MutationID, m.ID)
	case m.Status != pod.MutationRunning:
		return reply(pt.turn, pod.Progress{Step: request, Report: m.Report})
	case request.Step < m.Step:
		return reply(pt.turn, pod.Progress{Step: pod.Step{MutationID: m.ID, Step: m.Step}})
	case request.Step > m.Step:
		return agent.Errorf(agent.CodeConflict, "mutation %s is at step %d", m.ID, m.Step)
	}
	next, _, err := pt.slot.Wave()
	if err != nil {
		return err
	}
	outcome, err := pt.runWave(ctx, next)
	if err != nil {
		return err
	}
	var report *pod.Report
	if pt.slot, report, err = pt.slot.Advance(outcome); err != nil {
		return err
	}
	if err := pt.scheduleNextStep(request.Step, byTimer, report != nil); err != nil {
		return err
	}
	if err := pt.store(); err != nil {
		return err
	}
	return reply(pt.turn, pod.Progress{Step: pod.Step{MutationID: request.MutationID, Step: request.Step + 1}, Report: report})
}

// runWave runs a wave. A transient error fails the step, which then runs again.
func (pt *podTurn) runWave(ctx context.Context, next pod.Wave) (pod.Outcome, error) {
	var done *waveResult
	var err error
	if next.Stop {
		done, err = pt.stopNodes(ctx, next.Nodes, pt.slot.Mutation.Removed)
	} else {
		done, err = pt.startNodes(ctx, next.Nodes, func(string) agent.JSON { return nil })
	}
	if err == nil {
		err = done.unreachable()
	}
	if err != nil {
		return pod.Outcome{}, err
	}
	outcome := pod.Outcome{Failures: done.failures}
	if next.Stop {
		outcome.Stopped = done.succeeded(next.Nodes)
		return outcome, nil
	}
	for _, node := range done.succeeded(next.Nodes) { // the wave has the nodes that these need too
		if slices.Contains(pt.slot.Mutation.Start, node) {
			outcome.Started = append(outcome.Started, node)
		}
	}
	return outcome, nil
}

// scheduleNextStep deletes the timer of this step and sets the one of the next
// step. After a step of the timer the next one is due at once, because no
// client requests steps.
func (pt *podTurn) scheduleNextStep(step uint64, byTimer, ended bool) error {
	if !byTimer {
		pt.turn.Commit(&agent.DeleteTimer{Manager: pt.pod.Manager, Key: pt.pod.Key, ID: timerID(step)})
	}
	if ended {
		return nil
	}
	at := time.Now()
	if !byTimer {
		at = at.Add(StepTimeout)
	}
	return pt.setStepTimer(step+1, at)
}

// setStepTimer sets the timer that runs a step if no client requests it.
func (pt *podTurn) setStepTimer(step uint64, at time.Time) error {
	if seededbug.Is(seededbug.MutationNotResumed) {
		return nil
	}
	data, err := json.Marshal(pod.Step{MutationID: pt.slot.Mutation.ID, Step: step})
	if err != nil {
		return agent.Errorf(agent.CodeInternal, "%v", err)
	}
	pt.turn.Commit(&agent.PutTimer{Timer: agent.Timer{
		Manager: pt.pod.Manager, Key: pt.pod.Key, ID: timerID(step), Next: at.UnixMilli(), Type: pod.SignalResume, Data: data,
	}})
	return nil
}

// timerID returns the id of a step's timer. Consecutive steps have different
// ids, because the turn of a step acknowledges that step's timer.
func timerID(step uint64) string { return pod.SlotName + "/" + strconv.FormatUint(step%2, 10) }
