package controller

import (
	"context"
	"errors"
	"sync"

	"golang.org/x/sync/errgroup"

	"dormouse/agent"
	"dormouse/instance/pod"
	"dormouse/internal/clip"
)

// waveParallel is how many nodes of a wave start or stop concurrently.
const waveParallel = 16

// waveResult is the result of a wave.
type waveResult struct {
	mu           sync.Mutex
	sources      map[string]pod.Source
	failures     map[string]pod.Failure
	transientErr error // an error that says nothing about its node
}

func newWaveResult() *waveResult {
	return &waveResult{sources: map[string]pod.Source{}, failures: map[string]pod.Failure{}}
}

// record stores the result of a node.
func (r *waveResult) record(node string, source pod.Source, stage pod.Stage, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil {
		r.sources[node] = source
		return
	}
	if isTransient(err) {
		r.transientErr = err
	}
	r.failures[node] = newFailure(stage, err)
}

// detailMax is the maximum length of a stored failure.
const detailMax = 256

// newFailure returns an error as it is stored. It cuts the text between
// characters: a slot with invalid UTF-8 cannot be stored, so its mutation would
// never end.
func newFailure(stage pod.Stage, err error) pod.Failure {
	detail := err.Error()
	var own *agent.Error
	if errors.As(err, &own) {
		detail = own.Detail
	}
	return pod.Failure{Stage: stage, Code: agent.CodeOf(err), Detail: clip.Marked(detail, detailMax)}
}

// forEachNode calls do for all nodes of a wave, and waits. The error is that of
// ctx.
func forEachNode(ctx context.Context, nodes []string, do func(ctx context.Context, node string)) error {
	var g errgroup.Group
	g.SetLimit(waveParallel)
	for _, node := range nodes {
		g.Go(func() error {
			if ctx.Err() == nil { // otherwise this process may no longer act for the pod
				do(ctx, node)
			}
			return nil
		})
	}
	_ = g.Wait() // the functions return no errors
	return ctx.Err()
}

// startNodes starts a wave of nodes and sets the parents of those that started.
// initial returns a node's initial state; nil means the topology's.
func (pt *podTurn) startNodes(ctx context.Context, nodes []string, initial func(node string) agent.JSON) (*waveResult, error) {
	done := newWaveResult()
	err := forEachNode(ctx, nodes, func(ctx context.Context, node string) {
		source, stage, err := pt.startNode(ctx, node, initial(node))
		done.record(node, source, stage, err)
	})
	if err != nil {
		return done, err
	}
	for _, node := range nodes { // in this order, because SetParent detaches children that a later node may be
		if source, ok := done.sources[node]; ok {
			pt.slot = pt.slot.SetParent(node, source == pod.SourceStarted)
		}
	}
	return done, nil
}

// startNode starts or adopts a node.
func (pt *podTurn) startNode(ctx context.Context, node string, initial agent.JSON) (pod.Source, pod.Stage, error) {
	n := pt.slot.Topology.Nodes[node]
	ref, err := pt.slot.Topology.NodeRef(pt.pod, node)
	if err == nil && n.Kind == pod.KindPod {
		err = pt.checkPodManager(ctx, n.Manager)
	}
	if err != nil {
		return "", pod.StageStart, err
	}
	if initial == nil {
		initial = agent.JSON(n.InitialState)
	}
	i, err := pt.instances().Start(ctx, ref, agent.StartInstance{InitialState: initial})
	if err != nil {
		return "", pod.StageStart, err
	}
	source := pod.SourceStarted
	if i.Source == agent.SourceAwake {
		// The owner was in an earlier wave, so it is awake.
		actual := pt.slot.ActualParent(pt.pod, node, func(string) bool { return true })
		switch pod.StatusOf(true, actual, pt.slot.Topology.ParentOf(pt.pod, node)) {
		case pod.Misplaced:
			return "", pod.StageAdopt, agent.Errorf(agent.CodeConflict, "node %q is misplaced: its parent is node %q; stop it first", node, actual.Node)
		case pod.Adopted:
			source = pod.SourceRunning
		default:
			source = pod.SourceAdopted
		}
	}
	if n.Kind == pod.KindPod {
		if _, err := (pod.Pods{Instances: pt.instances()}).OpenAndReconcile(ctx, ref, pod.Open{}); err != nil {
			return "", pod.StageNested, err
		}
	}
	return source, "", nil
}

// checkPodManager returns an error if a manager is not one of pods, or if the
// nested pod would contain itself.
func (pt *podTurn) checkPodManager(ctx context.Context, manager string) error {
	if err := pod.CheckRecursion(pod.Ancestry(pt.pod), manager); err != nil {
		return err
	}
	answers, err := pt.turn.Read(ctx, &agent.GetManager{Name: manager})
	if err != nil {
		return err
	}
	_, err = pod.ManagerOf(manager, answers[0])
	return err
}

// stopNodes stops a wave of nodes. which has the nodes by name.
func (pt *podTurn) stopNodes(ctx context.Context, nodes []string, which map[string]pod.Node) (*waveResult, error) {
	done := newWaveResult()
	err := forEachNode(ctx, nodes, func(ctx context.Context, node string) {
		done.record(node, "", pod.StageStop, pt.stopNode(ctx, node, which[node]))
	})
	if err != nil {
		return done, err
	}
	for _, node := range nodes {
		if _, ok := done.sources[node]; ok {
			pt.slot = pt.slot.ClearParent(node)
		}
	}
	return done, nil
}

// stopNode stops a node, and first all nodes of a nested pod. A node that is
// not awake is no error.
func (pt *podTurn) stopNode(ctx context.Context, node string, n pod.Node) error {
	ref, err := pt.slot.Topology.RefOf(pt.pod, node, n)
	if err != nil {
		return err
	}
	if n.Kind == pod.KindPod {
		if err := pt.tearDownNested(ctx, ref); err != nil {
			return err
		}
	}
	if err := pt.instances().Stop(ctx, ref); agent.CodeOf(err) != agent.CodeNotFound {
		return err
	}
	return nil
}

// tearDownNested stops the nodes of a nested pod.
func (pt *podTurn) tearDownNested(ctx context.Context, ref agent.InstanceRef) error {
	_, err := pt.instances().Lookup(ctx, ref)
	if agent.CodeOf(err) == agent.CodeNotFound {
		return nil // it never existed
	}
	if err != nil {
		return err
	}
	return (pod.Pods{Instances: pt.instances()}).TearDown(ctx, ref)
}

// unreachable returns an error if a node of the wave failed with a transient
// error.
func (r *waveResult) unreachable() error {
	if r.transientErr == nil {
		return nil
	}
	return agent.Errorf(agent.CodeUnavailable, "a node could not be reached: %v", r.transientErr)
}

// succeeded returns the nodes of a wave that did not fail.
func (r *waveResult) succeeded(nodes []string) (done []string) {
	for _, node := range nodes {
		if _, failed := r.failures[node]; !failed {
			done = append(done, node)
		}
	}
	return done
}
