// Package controller is the handler of pods. It starts and stops a pod's nodes.
//
// A pod is an instance, and each of its signals is one turn. The turn's changes
// of the pod are one commit, fenced by the owner's epoch. A turn starts and
// stops other instances before its commit, and may safely repeat that. So a
// turn that was not applied runs again, on this owner or the next. The commit
// holds what must happen once, such as the start of a mutation and its report.
// A mutation is stored before any node changes.
//
// A mutation runs in steps. Each step is one wave of nodes and one turn with
// its own request id. The client that requested the mutation requests the
// steps. If it stops, a timer of the pod continues, on the pod's current owner.
// Each step sets the timer of the next one.
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

// StepTimeout is how long the pod waits for a client to request the next step
// of a mutation, before it runs the step itself.
const StepTimeout = 10 * time.Second

// Handler returns the handler for the name pod.HandlerName. instances returns
// the entry point to all instances. It is called when signals arrive, not
// before.
func Handler(instances func() agent.Instances) instance.GoHandler {
	return instance.GoHandler{New: func(ref agent.InstanceRef) instance.Handler {
		return &controller{pod: ref, instances: instances}
	}}
}

// WithPods returns a program's handlers with the handler of pods added, unless
// the program has its own.
func WithPods(handlers map[string]instance.GoHandler, instances func() agent.Instances) map[string]instance.GoHandler {
	all := map[string]instance.GoHandler{pod.HandlerName: Handler(instances)}
	maps.Copy(all, handlers)
	return all
}

// controller handles the signals of one awake pod.
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
	slot, exists, err := pod.ReadSlot(t.State())
	if err == nil && !exists {
		err = c.unopened(t)
	}
	if err != nil || !exists {
		return err
	}
	pt := &podTurn{controller: c, turn: t, slot: slot.WithRun(t.Run())} // parents of an earlier run no longer count
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

// unopened handles a signal to a pod without a slot. A nested pod may stay
// without one, if its topology is refused; its parent can still tear it down.
func (c *controller) unopened(t *instance.Turn) error {
	var request pod.StopAll
	if t.Type() == pod.SignalStopAll && decode(t, &request) == nil && request.Teardown {
		return reply(t, pod.Rested{Nodes: map[string]pod.Stored{}, Failures: map[string]pod.Failure{}})
	}
	return agent.Errorf(agent.CodeNotFound, "pod %q has not been opened: get it first", c.pod.Key)
}

// open creates the pod's slot if it does not exist.
func (c *controller) open(ctx context.Context, t *instance.Turn) error {
	var request pod.Open
	if err := decode(t, &request); err != nil {
		return err
	}
	slot, exists, err := pod.ReadSlot(t.State())
	if err != nil {
		return err
	}
	if exists {
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
	topology, err := pod.TopologyOf(*manager, request)
	if err != nil {
		return err
	}
	if err := topology.CheckNested(c.pod); err != nil {
		return err
	}
	state := t.State()
	if request.InitialState != nil && t.Revision() == 0 {
		if state, err = agent.CompactObject("initial_state", agent.JSON(request.InitialState)); err != nil {
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

// podTurn is one signal of an existing pod.
type podTurn struct {
	*controller
	turn *instance.Turn
	slot pod.Slot
}

// store writes the slot to the turn's state.
func (pt *podTurn) store() error {
	state, err := pt.slot.AddTo(pt.turn.State())
	if err != nil {
		return err
	}
	return pt.turn.SetState(state)
}

func (pt *podTurn) reconcile(ctx context.Context) error {
	var request pod.Reconcile
	if err := decode(pt.turn, &request); err != nil {
		return err
	}
	if request.InitialState != nil && len(request.Nodes) != 1 {
		return agent.Invalid("initial_state", "initial_state requires exactly one node")
	}
	if len(request.Nodes) == 0 {
		request.Nodes = pt.slot.Topology.Eager()
	}
	waves, err := pt.slot.Topology.Waves(request.Nodes)
	if err != nil {
		return err
	}
	report := pod.Reconciled{Requested: request.Nodes, Waves: waves, Nodes: map[string]pod.Outcomes{}, Failures: map[string]pod.Failure{}}
	for _, wave := range waves {
		if len(report.Failures) > 0 {
			report.Pending = append(report.Pending, wave...)
			continue
		}
		done, err := pt.startNodes(ctx, wave, func(node string) agent.JSON {
			if request.InitialState != nil && node == request.Nodes[0] {
				return agent.JSON(request.InitialState)
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

// patch changes the state without the slot.
func (pt *podTurn) patch() error {
	var request map[string]any
	if err := json.Unmarshal(pt.turn.Data(), &request); err != nil {
		return agent.Invalid("data", "%v", err)
	}
	if _, own := request[pod.SlotName]; own {
		return agent.Invalid("data", "%s cannot be patched: use a mutation", pod.SlotName)
	}
	if err := pt.turn.Patch(pt.turn.Data()); err != nil {
		return err
	}
	return pt.turn.Reply(agent.JSON(`{}`))
}

// newMutationID returns a UUIDv7. Later ids are greater.
func newMutationID() (string, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return "", agent.Errorf(agent.CodeUnavailable, "cannot make a mutation id: %v", err)
	}
	return id.String(), nil
}

// decode decodes a signal's data.
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

// isTransient reports whether an error says nothing about the node itself: the
// call failed on the way, or its outcome is unknown.
func isTransient(err error) bool {
	return agent.Retryable(err) || agent.OutcomeOf(err) == agent.Undecided || agent.CodeOf(err) == agent.CodeNotOwner ||
		errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}
