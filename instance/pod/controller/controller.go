// Package foreman is the handler of pods: it drives a pod's nodes.
//
// A pod is an instance, and each of its signals one turn: what it changes of the
// pod is one commit, fenced by the owner's epoch and made once. What a turn does
// to other instances, to wake them or to let them sleep, comes before that
// commit, and is safe to do again: a node keeps what it is, whoever wakes it and
// how often. So a turn that is not applied is simply made again, by this owner
// or the next. What must not be done twice (a mutation's start, its report) is
// in the commit, and a mutation is stored before anything is done for it.
//
// A mutation goes on in steps, one wave of nodes each, every one a turn under a
// request id of its own. Whoever asked for the mutation asks for its steps; a
// timer of the pod's, set with each step, does where they do not, on whichever
// node owns the pod by then.
package controller

import (
	"context"
	"errors"
	"maps"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/uuid"

	"dormouse/agent"
	"dormouse/instance"
	"dormouse/instance/pod"
	"dormouse/internal/strictjson"
)

// StepTimeout is how long a mutation's next step is waited for before the pod
// takes it by itself.
const StepTimeout = 10 * time.Second

// Handler is what a host registers under pod.HandlerName. instances tells who
// answers for all instances, once there is traffic.
func Handler(instances func() agent.Instances) instance.GoHandler {
	return instance.GoHandler{New: func(ref agent.InstanceRef) instance.Handler {
		return &controller{pod: ref, instances: instances}
	}}
}

// WithPods is a program's handlers with that of pods, unless it has pods of its own.
func WithPods(handlers map[string]instance.GoHandler, instances func() agent.Instances) map[string]instance.GoHandler {
	all := map[string]instance.GoHandler{pod.HandlerName: Handler(instances)}
	maps.Copy(all, handlers)
	return all
}

// controller handles the signals of one pod that is awake.
type controller struct {
	pod       agent.InstanceRef
	instances func() agent.Instances
}

// Handle implements instance.Handler.
func (c *controller) Handle(ctx context.Context, t *instance.Turn) error {
	t.Durable()
	if t.Type() == pod.SignalOpen {
		return c.open(ctx, t)
	}
	slot, there, err := pod.ReadSlot(t.State())
	if err == nil && !there {
		err = agent.Errorf(agent.CodeNotFound, "pod %q has not been opened yet", c.pod.Key)
	}
	if err != nil {
		return err
	}
	pt := &podTurn{controller: c, turn: t, slot: slot.WithRun(t.Run())} // what hung under the pod before it woke is nobody's
	switch t.Type() {
	case pod.SignalReconcile:
		return pt.reconcile(ctx)
	case pod.SignalMutate:
		return pt.mutate()
	case pod.SignalStep, pod.SignalResume:
		return pt.step(ctx, t.Type() == pod.SignalResume)
	case pod.SignalStopAll:
		return pt.stopAll(ctx)
	case pod.SignalFork:
		return pt.fork(ctx)
	case pod.SignalPatch:
		return pt.patch()
	case pod.SignalGet:
		return t.Reply(append(append(agent.JSON(`{"state":`), t.State()...), '}'))
	default:
		return agent.Invalid("type", "a pod takes no signal of type %q", t.Type())
	}
}

// open makes the pod's slot where there is none.
func (c *controller) open(ctx context.Context, t *instance.Turn) error {
	var asked pod.Open
	if err := decode(t, &asked); err != nil {
		return err
	}
	slot, there, err := pod.ReadSlot(t.State())
	if err != nil {
		return err
	}
	if there {
		opened := pod.Opened{TopologyVersion: slot.TopologyVersion}
		if m, running := slot.Running(); running {
			opened.Mutation = &pod.Step{MutationID: m.ID, Step: m.Step}
		}
		return reply(t, opened)
	}
	answers, err := t.Read(ctx, &agent.GetManager{Name: c.pod.Manager})
	if err != nil {
		return err
	}
	manager, err := pod.ManagerOf(c.pod.Manager, answers[0])
	if err != nil {
		return err
	}
	topology, err := pod.TopologyOf(*manager, asked)
	if err != nil {
		return err
	}
	if err := topology.CheckNested(c.pod); err != nil {
		return err
	}
	state := t.State()
	if asked.InitialState != nil && t.Revision() == 0 {
		if state, err = agent.CompactObject("initial_state", agent.JSON(asked.InitialState)); err != nil {
			return err
		}
	}
	if state, err = pod.NewSlot(topology).AddTo(state); err != nil {
		return err
	}
	if err := t.SetState(state); err != nil {
		return err
	}
	return reply(t, pod.Opened{Created: true, TopologyVersion: topology.Version})
}

// podTurn is one signal of a pod that is there.
type podTurn struct {
	*controller
	turn *instance.Turn
	slot pod.Slot
}

// store has the slot be what the turn leaves.
func (pt *podTurn) store() error {
	state, err := pt.slot.AddTo(pt.turn.State())
	if err != nil {
		return err
	}
	return pt.turn.SetState(state)
}

func (pt *podTurn) reconcile(ctx context.Context) error {
	var asked pod.Reconcile
	if err := decode(pt.turn, &asked); err != nil {
		return err
	}
	if asked.InitialState != nil && len(asked.Nodes) != 1 {
		return agent.Invalid("initial_state", "initial_state goes with one node")
	}
	if len(asked.Nodes) == 0 {
		asked.Nodes = pt.slot.Topology.Eager()
	}
	waves, err := pt.slot.Topology.Waves(asked.Nodes)
	if err != nil {
		return err
	}
	report := pod.Reconciled{Requested: asked.Nodes, Waves: waves, Nodes: map[string]pod.Outcomes{}, Failures: map[string]pod.Failure{}}
	for _, wave := range waves {
		if len(report.Failures) > 0 {
			report.Pending = append(report.Pending, wave...)
			continue
		}
		done, err := pt.startNodes(ctx, wave, func(node string) agent.JSON {
			if asked.InitialState != nil && node == asked.Nodes[0] {
				return agent.JSON(asked.InitialState)
			}
			return nil
		})
		if err != nil {
			return err
		}
		for _, node := range wave {
			if why, failed := done.failures[node]; failed {
				report.Failures[node] = why
				report.Failed = append(report.Failed, node)
				continue
			}
			report.Nodes[node] = pod.Outcomes{Source: done.sources[node], Owner: pt.ownerOf(node), Parent: pt.slot.Topology.ParentOf(pt.pod, node)}
			report.Completed = append(report.Completed, node)
		}
	}
	if err := pt.store(); err != nil {
		return err
	}
	return reply(pt.turn, report)
}

func (pt *podTurn) ownerOf(node string) string {
	owner, _ := pt.slot.Topology.Owner(node)
	return owner
}

// patch changes the state, the slot apart.
func (pt *podTurn) patch() error {
	var asked map[string]any
	if err := json.Unmarshal(pt.turn.Data(), &asked); err != nil {
		return agent.Invalid("data", "%v", err)
	}
	if _, own := asked[pod.SlotName]; own {
		return agent.Invalid("data", "%s is the pod's own: mutate it", pod.SlotName)
	}
	if err := pt.turn.Patch(pt.turn.Data()); err != nil {
		return err
	}
	return pt.turn.Reply(agent.JSON(`{}`))
}

// newMutationID is a UUIDv7: ids grow with time.
func newMutationID() (string, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return "", agent.Errorf(agent.CodeUnavailable, "no id for a mutation: %v", err)
	}
	return id.String(), nil
}

// decode is what a signal asks for.
func decode(t *instance.Turn, into any) error {
	if err := strictjson.Unmarshal(t.Data(), into); err != nil {
		return agent.Invalid("data", "%s: %v", t.Type(), err)
	}
	return nil
}

func reply(t *instance.Turn, v any) error {
	reply, err := pod.Reply(v)
	if err != nil {
		return err
	}
	return t.Reply(reply)
}

// isTransient tells of an error that says nothing of a node: it is not known, or it
// could not be asked now.
func isTransient(err error) bool {
	return agent.Retryable(err) || agent.OutcomeOf(err) == agent.Undecided || agent.CodeOf(err) == agent.CodeNotOwner ||
		errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}
