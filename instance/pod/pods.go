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

// Pods makes the calls on pods, over any instances and the service that they are
// stored in: a node's own, or a client's. Errors are *agent.Error.
//
// All methods may be called concurrently.
type Pods struct {
	Instances agent.Instances
	Service   agent.Service
	Scope     string // of pods that name none
}

// View is a pod as it is stored.
type View struct {
	agent.InstanceRef
	Status agent.InstanceStatus // of the pod's own instance
	Slot   Slot
}

// GetResult is a pod that was asked for, and what came of its eager nodes.
type GetResult struct {
	Opened
	Report Reconciled
}

// Get makes the pod where there is none, wakes it, and starts its eager nodes. A
// mutation whose runner died is finished first. Where nodes fail it is
// reconcile_failed, with the report: the pod lives on.
func (p Pods) Get(ctx context.Context, ref agent.InstanceRef, open Open) (GetResult, error) {
	found, err := p.read(ctx, &ref)
	if err != nil {
		return GetResult{}, err
	}
	if found.slot == nil {
		if _, err := found.topology(open); err != nil { // before an instance is woken for it
			return GetResult{}, err
		}
	}
	return p.OpenAndReconcile(ctx, ref, open)
}

// OpenAndReconcile is Get of a pod whose manager is known to be one of pods.
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

// Reconcile starts the nodes that are named, and all that they need; where none
// is, the eager ones. Where nodes fail it is reconcile_failed, with the report.
func (p Pods) Reconcile(ctx context.Context, ref agent.InstanceRef, nodes ...string) (Reconciled, error) {
	if err := p.checkExists(ctx, &ref); err != nil {
		return Reconciled{}, err
	}
	return p.reconcile(ctx, ref, Reconcile{Nodes: nodes})
}

// Ensure starts a node, after all that it needs. What it is given to begin with,
// where it is fresh, stands for what the topology says; nil does not.
func (p Pods) Ensure(ctx context.Context, ref agent.InstanceRef, node string, initial agent.JSON) (Snapshot, Reconciled, error) {
	if err := p.checkExists(ctx, &ref); err != nil {
		return Snapshot{}, Reconciled{}, err
	}
	report, err := p.reconcile(ctx, ref, Reconcile{Nodes: []string{node}, InitialState: []byte(initial)})
	if err != nil {
		return Snapshot{}, report, err
	}
	shot, err := p.Node(ctx, ref, node)
	return shot, report, err
}

func (p Pods) reconcile(ctx context.Context, ref agent.InstanceRef, r Reconcile) (report Reconciled, err error) {
	if err := p.signal(ctx, ref, SignalReconcile, agent.Request{}, r, &report); err != nil {
		return report, err
	}
	return report, failureOf(agent.CodeReconcileFailed, "reconcile", report.Failures)
}

// Mutate changes the topology: it is stored first, and then nodes stop and start
// for it. Sent again under its request id it is the same mutation. Where nodes
// fail it is mutation_failed, with the report, and the topology stays. Where the
// call ends before the mutation does, the pod goes on with it by itself.
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

// stepRetry is when a step that was not answered is asked for again.
const stepRetry = 200 * time.Millisecond

// runSteps asks for a mutation's steps until there are no more. Each goes under its
// own request id, so it does not matter who else asks for them meanwhile.
func (p Pods) runSteps(ctx context.Context, ref agent.InstanceRef, at Progress) (Report, error) {
	for at.Report == nil {
		step := at.Step
		err := p.signal(ctx, ref, SignalStep, step.Request(), step, &at)
		switch {
		case err == nil:
			continue
		case agent.CodeOf(err) == agent.CodeConflict: // the pod went on with it by itself
			return Report{MutationID: step.MutationID}, agent.Errorf(agent.CodeUnknown, "what came of mutation %s is kept no more: %v", step.MutationID, err)
		case !agent.Retryable(err) && agent.OutcomeOf(err) != agent.Undecided:
			return Report{MutationID: step.MutationID}, err
		}
		if !pause.For(ctx, stepRetry) {
			return Report{MutationID: step.MutationID}, agent.Errorf(agent.CodeUnknown,
				"mutation %s is stored, and the pod goes on with it by itself; the call ended at step %d: %v", step.MutationID, step.Step, err)
		}
	}
	return *at.Report, nil
}

// Hibernate stops all nodes, those of nested pods too, in the reverse of the
// order in which they start, and then the pod. It tells what was stored of all,
// as of one index. Where nodes cannot be stopped it is reconcile_failed, and the
// pod stays awake.
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

// TearDown stops the nodes of a pod for good, those of nested pods too, and ends
// a mutation that runs. The pod itself stays awake.
func (p Pods) TearDown(ctx context.Context, ref agent.InstanceRef) error {
	var rested Rested
	if err := p.signal(ctx, ref, SignalStopAll, agent.Request{}, StopAll{Teardown: true}, &rested); err != nil {
		return err
	}
	return failureOf(agent.CodeReconcileFailed, "tear down", rested.Failures)
}

// Fork makes another pod of what is stored of this one and its nodes, of nested
// pods too, at one index and in one commit. What nodes have not stored yet is
// not in it, nor are memories and timers. A key that is taken is already_exists.
func (p Pods) Fork(ctx context.Context, ref agent.InstanceRef, key string, request agent.Request) (Forked, error) {
	if err := p.checkExists(ctx, &ref); err != nil {
		return Forked{}, err
	}
	var forked Forked
	err := p.signal(ctx, ref, SignalFork, request, Fork{Key: key}, &forked)
	if errors.Is(err, agent.ErrRevisionMismatch) {
		err = agent.Errorf(agent.CodeAlreadyExists, "something is stored under pod %q already: %v", key, err)
	}
	return forked, err
}

// Lookup reads a pod without waking it.
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

// Node is Nodes for one; a name that the topology does not have is not_found.
func (p Pods) Node(ctx context.Context, ref agent.InstanceRef, name string) (Snapshot, error) {
	view, err := p.Lookup(ctx, ref)
	if err != nil {
		return Snapshot{}, err
	}
	if _, known := view.Slot.Topology.Nodes[name]; !known {
		return Snapshot{}, errUnknownNode(name, view.Slot.Topology)
	}
	shots, err := p.snapshots(ctx, view)
	for _, shot := range shots {
		if shot.Name == name {
			return shot, nil
		}
	}
	return Snapshot{}, err
}

// Nodes tells how all nodes of a pod stand, in the order of their names. It
// wakes none of them.
func (p Pods) Nodes(ctx context.Context, ref agent.InstanceRef) ([]Snapshot, error) {
	view, err := p.Lookup(ctx, ref)
	if err != nil {
		return nil, err
	}
	return p.snapshots(ctx, view)
}

// lookupsParallel is how many nodes are looked up at once.
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
	there := map[string]agent.Instance{}
	for at, i := range found {
		if i != nil {
			there[names[at]] = *i
		}
	}
	return view.Slot.Snapshots(view.InstanceRef, view.Status != agent.InstanceDormant, there)
}

// signal sends the pod a signal.
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
		return agent.Errorf(agent.CodeInternal, "the pod's answer to %s cannot be read: %v", kind, err)
	}
	return nil
}
