package foreman

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"

	"dormouse/agent"
	"dormouse/instance/pod"
	"dormouse/internal/seededbug"
)

// mutate stores a new topology, and what is to be done for it.
func (w *work) mutate() error {
	var asked pod.Mutate
	if err := read(w.turn, &asked); err != nil {
		return err
	}
	ops, err := pod.ParseOps(agent.JSON(asked.Ops))
	if err != nil {
		return err
	}
	id, err := newMutationID()
	if err != nil {
		return err
	}
	slot, err := w.slot.Begin(id, ops)
	if err != nil {
		return err
	}
	if err := slot.Topology.CheckNested(w.pod); err != nil {
		return err
	}
	for name, n := range slot.Topology.Nodes { // a key that is too long is found now, not when the node is to start
		if _, err := slot.Topology.RefOf(w.pod, name, n); err != nil {
			return err
		}
	}
	w.slot = slot
	progress := pod.Progress{Step: pod.Step{MutationID: id}}
	if _, more, err := slot.Wave(); err != nil {
		return err
	} else if more {
		if err := w.arm(0, time.Now().Add(ResumeAfter)); err != nil {
			return err
		}
	} else {
		var report pod.Report
		if w.slot, report, err = slot.Finish(id); err != nil {
			return err
		}
		progress.Report = &report
	}
	if err := w.store(); err != nil {
		return err
	}
	return answer(w.turn, progress)
}

// step does one wave of a mutation. One that was done already, or whose mutation
// has ended, changes nothing. byTimer tells that the pod's own timer asks: its
// turn ends that timer.
func (w *work) step(ctx context.Context, byTimer bool) error {
	var asked pod.Step
	if err := read(w.turn, &asked); err != nil {
		return err
	}
	m := &w.slot.Mutation
	switch {
	case m.ID != asked.MutationID && byTimer:
		return answer(w.turn, pod.Progress{Step: asked, Report: &pod.Report{MutationID: asked.MutationID}}) // it has long ended
	case m.ID != asked.MutationID:
		return agent.Errorf(agent.CodeConflict, "mutation %s has ended: the newest is %s", asked.MutationID, m.ID)
	case m.Status != pod.MutationRunning:
		return answer(w.turn, pod.Progress{Step: asked, Report: m.Report})
	case asked.Step < m.Step:
		return answer(w.turn, pod.Progress{Step: pod.Step{MutationID: m.ID, Step: m.Step}})
	case asked.Step > m.Step:
		return agent.Errorf(agent.CodeConflict, "mutation %s is at step %d", m.ID, m.Step)
	}
	next, _, err := w.slot.Wave()
	if err != nil {
		return err
	}
	outcome, err := w.do(ctx, next)
	if err != nil {
		return err
	}
	var report *pod.Report
	if w.slot, report, err = w.slot.Advance(outcome); err != nil {
		return err
	}
	if err := w.hand(asked.Step, byTimer, report != nil); err != nil {
		return err
	}
	if err := w.store(); err != nil {
		return err
	}
	return answer(w.turn, pod.Progress{Step: pod.Step{MutationID: asked.MutationID, Step: asked.Step + 1}, Report: report})
}

// do does a wave. What says nothing of a node leaves the step to be done again.
func (w *work) do(ctx context.Context, next pod.Wave) (pod.Outcome, error) {
	var done *wave
	var err error
	if next.Stop {
		done, err = w.lower(ctx, next.Nodes, w.slot.Mutation.Removed)
	} else {
		done, err = w.raise(ctx, next.Nodes, func(string) agent.JSON { return nil })
	}
	if err == nil {
		err = done.unasked()
	}
	if err != nil {
		return pod.Outcome{}, err
	}
	outcome := pod.Outcome{Failures: done.failures}
	if next.Stop {
		outcome.Stopped = done.done(next.Nodes)
		return outcome, nil
	}
	for _, node := range done.done(next.Nodes) { // what these need is in the wave too
		if slices.Contains(w.slot.Mutation.Start, node) {
			outcome.Started = append(outcome.Started, node)
		}
	}
	return outcome, nil
}

// hand sees to it that somebody goes on: the timer of the step that is done goes,
// and, where there is another step, its own comes; at once, where nobody but the
// timer asks.
func (w *work) hand(step uint64, byTimer, ended bool) error {
	if !byTimer {
		w.turn.Commit(&agent.DeleteTimer{Manager: w.pod.Manager, Key: w.pod.Key, ID: timerID(step)})
	}
	if ended {
		return nil
	}
	at := time.Now()
	if !byTimer {
		at = at.Add(ResumeAfter)
	}
	return w.arm(step+1, at)
}

// arm sets the timer that takes a step where nobody asks for it.
func (w *work) arm(step uint64, at time.Time) error {
	if seededbug.Is(seededbug.MutationNotResumed) {
		return nil
	}
	data, err := json.Marshal(pod.Step{MutationID: w.slot.Mutation.ID, Step: step})
	if err != nil {
		return agent.Errorf(agent.CodeInternal, "%v", err)
	}
	w.turn.Commit(&agent.PutTimer{Timer: agent.Timer{
		Manager: w.pod.Manager, Key: w.pod.Key, ID: timerID(step), Next: at.UnixMilli(), Type: pod.SignalResume, Data: data,
	}})
	return nil
}

// timerID is of the timer that takes a step: never that of the step before, whose
// turn acknowledges its own.
func timerID(step uint64) string { return pod.SlotName + "/" + strconv.FormatUint(step%2, 10) }
