package pod

import (
	"context"
	"errors"
	"time"

	"github.com/go-json-experiment/json"
	"golang.org/x/sync/errgroup"

	"dormouse/agent"
	"dormouse/internal/pause"
)

// Pods makes the calls on pods, over any agent.Instances and the service that
// stores them: a node's own, or a client's. Errors are *agent.Error.
//
// All methods may be called concurrently.
type Pods struct {
	Instances agent.Instances
	Service   agent.Service
	Scope     string // of references without a scope
}

// View is a pod as it is stored.
type View struct {
	agent.InstanceRef
	Status agent.InstanceStatus // of the pod's own instance
	Slot   Slot
}

// GetResult is the result of Get: the pod, and the report on its eager nodes.
type GetResult struct {
	Opened
	Report Reconciled
}

// Get creates the pod if it does not exist, wakes it, and starts its eager
// nodes. It first finishes a mutation whose runner died. If nodes fail it
// returns the report and reconcile_failed; the pod stays awake.
func (p Pods) Get(ctx context.Context, ref agent.InstanceRef, open Open) (GetResult, error) {
	found, err := p.read(ctx, &ref)
	if err != nil {
		return GetResult{}, err
	}
	if found.slot == nil {
		if _, err := found.topology(open); err != nil { // before an instance wakes for it
			return GetResult{}, err
		}
	}
	return p.OpenAndReconcile(ctx, ref, open)
}

// OpenAndReconcile is Get without the check of the pod's manager.
func (p Pods) OpenAndReconcile(ctx context.Context, ref agent.InstanceRef, open Open) (GetResult, error) {
	got := GetResult{}
	if err := p.signal(ctx, ref, SignalOpen, agent.Request{}, open, &got.Opened); err != nil {
		return got, err
	}
	if running := got.Mutation; running != nil {
		if _, err := p.runSteps(ctx, ref, Progress{Step: *running}); err != nil {
			return got, err
		}
		got.Mutation = nil
	}
	var err error
	got.Report, err = p.reconcile(ctx, ref, Reconcile{})
	return got, err
}

// Reconcile starts the named nodes and all nodes that they need; without names,
// the eager nodes. If nodes fail it returns the report and reconcile_failed.
func (p Pods) Reconcile(ctx context.Context, ref agent.InstanceRef, nodes ...string) (Reconciled, error) {
	if err := p.checkExists(ctx, &ref); err != nil {
		return Reconciled{}, err
	}
	return p.reconcile(ctx, ref, Reconcile{Nodes: nodes})
}

// Ensure starts a node after all nodes that it needs. initial replaces the
// topology's initial state of a fresh node, unless it is nil.
func (p Pods) Ensure(ctx context.Context, ref agent.InstanceRef, node string, initial agent.JSON) (Snapshot, Reconciled, error) {
	if err := p.checkExists(ctx, &ref); err != nil {
		return Snapshot{}, Reconciled{}, err
	}
	report, err := p.reconcile(ctx, ref, Reconcile{Nodes: []string{node}, InitialState: []byte(initial)})
	if err != nil {
		return Snapshot{}, report, err
	}
	snapshot, err := p.Node(ctx, ref, node)
	return snapshot, report, err
}

func (p Pods) reconcile(ctx context.Context, ref agent.InstanceRef, r Reconcile) (report Reconciled, err error) {
	if err := p.signal(ctx, ref, SignalReconcile, agent.Request{}, r, &report); err != nil {
		return report, err
	}
	return report, failureOf(agent.CodeReconcileFailed, "reconcile", report.Failures)
}

// Mutate changes the topology. It stores the new topology first, and then stops
// and starts nodes. The same request id gets the same mutation. If nodes fail
// it returns the report and mutation_failed, and keeps the new topology. If the
// call ends early, or a step is refused, the error is unknown: the pod continues
// the mutation.
func (p Pods) Mutate(ctx context.Context, ref agent.InstanceRef, ops agent.JSON, request agent.Request) (Report, error) {
	if err := p.checkExists(ctx, &ref); err != nil {
		return Report{}, err
	}
	ops, err := agent.Compact(ops)
	if err != nil {
		return Report{}, agent.Invalid("ops", "ops: %v", err)
	}
	var begun Progress
	if err := p.signal(ctx, ref, SignalMutate, request, Mutate{Ops: []byte(ops)}, &begun); err != nil {
		return Report{}, err
	}
	report, err := p.runSteps(ctx, ref, begun)
	if err != nil {
		return report, err
	}
	return report, failureOf(agent.CodeMutationFailed, "mutation "+report.MutationID, report.Failures)
}

// stepRetry is the delay before an unanswered step is requested again.
const stepRetry = 200 * time.Millisecond

// runSteps requests a mutation's steps until it has ended. Each step has its
// own request id, so concurrent callers do not interfere.
func (p Pods) runSteps(ctx context.Context, ref agent.InstanceRef, at Progress) (Report, error) {
	for at.Report == nil {
		step := at.Step
		err := p.signal(ctx, ref, SignalStep, step.Request(), step, &at)
		switch {
		case err == nil:
			continue
		case agent.CodeOf(err) == agent.CodeConflict: // the pod has continued the mutation
			return Report{MutationID: step.MutationID}, agent.Errorf(agent.CodeUnknown, "the result of mutation %s is no longer stored: %v", step.MutationID, err)
		case !agent.Retryable(err) && agent.OutcomeOf(err) != agent.Undecided:
			return Report{MutationID: step.MutationID}, agent.Errorf(agent.CodeUnknown,
				"mutation %s is stored and the pod continues it; step %d was refused: %v", step.MutationID, step.Step, err)
		}
		if !pause.For(ctx, stepRetry) {
			return Report{MutationID: step.MutationID}, agent.Errorf(agent.CodeUnknown,
				"mutation %s is stored and the pod continues it; the call ended at step %d: %v", step.MutationID, step.Step, err)
		}
	}
	return *at.Report, nil
}

// Hibernate stops all nodes, including those of nested pods, in reverse start
// order, and then hibernates the pod. It returns the stored versions of all
// nodes at one index. If nodes cannot be stopped it returns reconcile_failed,
// and the pod stays awake.
func (p Pods) Hibernate(ctx context.Context, ref agent.InstanceRef) (Rested, error) {
	if err := p.checkExists(ctx, &ref); err != nil {
		return Rested{}, err
	}
	var rested Rested
	if err := p.signal(ctx, ref, SignalStopAll, agent.Request{}, StopAll{}, &rested); err != nil {
		return rested, err
	}
	if err := failureOf(agent.CodeReconcileFailed, "hibernate", rested.Failures); err != nil {
		return rested, err
	}
	return rested, p.Instances.Hibernate(ctx, ref)
}

// TearDown stops the nodes of a pod, including those of nested pods, and ends
// its running mutation. The pod itself stays awake.
func (p Pods) TearDown(ctx context.Context, ref agent.InstanceRef) error {
	var rested Rested
	if err := p.signal(ctx, ref, SignalStopAll, agent.Request{}, StopAll{Teardown: true}, &rested); err != nil {
		return err
	}
	return failureOf(agent.CodeReconcileFailed, "tear down", rested.Failures)
}

// Fork copies the stored state of a pod and its nodes, including nested pods,
// to a new pod, at one index and in one commit. The copy has no unsaved state,
// memories or timers. An existing key is already_exists.
func (p Pods) Fork(ctx context.Context, ref agent.InstanceRef, key string, request agent.Request) (Forked, error) {
	if err := p.checkExists(ctx, &ref); err != nil {
		return Forked{}, err
	}
	var forked Forked
	err := p.signal(ctx, ref, SignalFork, request, Fork{Key: key}, &forked)
	if errors.Is(err, agent.ErrRevisionMismatch) {
		err = agent.Errorf(agent.CodeAlreadyExists, "pod %q already has stored state: %v", key, err)
	}
	return forked, err
}

// Lookup returns a pod as it is stored, without waking it.
func (p Pods) Lookup(ctx context.Context, ref agent.InstanceRef) (View, error) {
	found, err := p.read(ctx, &ref)
	if err == nil && found.slot == nil {
		err = errNoPod(ref)
	}
	if err != nil {
		return View{}, err
	}
	i, err := p.Instances.Lookup(ctx, ref)
	return View{InstanceRef: ref, Status: i.Status, Slot: *found.slot}, err
}

// Node returns one node of a pod. A name that the topology does not have is
// not_found.
func (p Pods) Node(ctx context.Context, ref agent.InstanceRef, name string) (Snapshot, error) {
	view, err := p.Lookup(ctx, ref)
	if err != nil {
		return Snapshot{}, err
	}
	if _, known := view.Slot.Topology.Nodes[name]; !known {
		return Snapshot{}, errUnknownNode(name, view.Slot.Topology)
	}
	snapshots, err := p.snapshots(ctx, view)
	for _, snapshot := range snapshots {
		if snapshot.Name == name {
			return snapshot, nil
		}
	}
	return Snapshot{}, err
}

// Nodes returns all nodes of a pod, sorted by name. It wakes none of them.
func (p Pods) Nodes(ctx context.Context, ref agent.InstanceRef) ([]Snapshot, error) {
	view, err := p.Lookup(ctx, ref)
	if err != nil {
		return nil, err
	}
	return p.snapshots(ctx, view)
}

// lookupsParallel is the number of concurrent lookups of nodes.
const lookupsParallel = 16

func (p Pods) snapshots(ctx context.Context, view View) ([]Snapshot, error) {
	names := view.Slot.Topology.names()
	found := make([]*agent.Instance, len(names))
	g, lookups := errgroup.WithContext(ctx)
	g.SetLimit(lookupsParallel)
	for at, name := range names {
		g.Go(func() error {
			ref, err := view.Slot.Topology.NodeRef(view.InstanceRef, name)
			if err != nil {
				return err
			}
			i, err := p.Instances.Lookup(lookups, ref)
			if err == nil {
				found[at] = &i
			}
			if errors.Is(err, agent.ErrNotFound) {
				err = nil
			}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	existing := map[string]agent.Instance{}
	for at, i := range found {
		if i != nil {
			existing[names[at]] = *i
		}
	}
	return view.Slot.Snapshots(view.InstanceRef, view.Status != agent.InstanceDormant, existing)
}

// signal sends a signal to the pod and decodes the reply.
func (p Pods) signal(ctx context.Context, ref agent.InstanceRef, kind string, request agent.Request, body, answer any) error {
	data, err := json.Marshal(body)
	if err != nil {
		return agent.Invalid("body", "%v", err)
	}
	reply, err := p.Instances.Signal(ctx, ref, agent.Signal{Request: request, Type: kind, Data: data})
	if err != nil {
		return err
	}
	if err := json.Unmarshal(reply.Data, answer); err != nil {
		return agent.Errorf(agent.CodeInternal, "the pod's reply to %s cannot be decoded: %v", kind, err)
	}
	return nil
}
