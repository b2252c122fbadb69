package foreman

import (
	"context"
	"errors"
	"sync"

	"golang.org/x/sync/errgroup"

	"dormouse/agent"
	"dormouse/instance/pod"
	"dormouse/internal/clip"
)

// atOnce is how many nodes of a wave are started or stopped at a time.
const atOnce = 16

// wave is what came of one.
type wave struct {
	mu       sync.Mutex
	sources  map[string]pod.Source
	failures map[string]pod.Failure
	passing  error // something said nothing about its node
}

func newWave() *wave {
	return &wave{sources: map[string]pod.Source{}, failures: map[string]pod.Failure{}}
}

// note keeps what came of a node.
func (v *wave) note(node string, source pod.Source, stage pod.Stage, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if err == nil {
		v.sources[node] = source
		return
	}
	if passing(err) {
		v.passing = err
	}
	v.failures[node] = failure(stage, err)
}

// detailMax bounds what is kept of a failure.
const detailMax = 256

// failure is what is kept of an error, in whole characters: a slot that is not
// UTF-8 is stored nowhere, and its mutation would never end.
func failure(stage pod.Stage, err error) pod.Failure {
	detail := err.Error()
	var own *agent.Error
	if errors.As(err, &own) {
		detail = own.Detail
	}
	return pod.Failure{Stage: stage, Code: agent.CodeOf(err), Detail: clip.Marked(detail, detailMax)}
}

// each does something to all of a wave's nodes. What ends the turn ends it.
func each(ctx context.Context, nodes []string, do func(ctx context.Context, node string)) error {
	var g errgroup.Group
	g.SetLimit(atOnce)
	for _, node := range nodes {
		g.Go(func() error {
			if ctx.Err() == nil { // this node may no longer act for the pod
				do(ctx, node)
			}
			return nil
		})
	}
	_ = g.Wait() // none of them fails
	return ctx.Err()
}

// raise starts a wave of nodes, and has those that started be the pod's. initial
// is what a node begins with, nil for what the topology says.
func (w *work) raise(ctx context.Context, nodes []string, initial func(node string) agent.JSON) (*wave, error) {
	done := newWave()
	err := each(ctx, nodes, func(ctx context.Context, node string) {
		source, stage, err := w.start(ctx, node, initial(node))
		done.note(node, source, stage, err)
	})
	if err != nil {
		return done, err
	}
	for _, node := range nodes { // in order: what one has just lost another may be about to adopt
		if source, ok := done.sources[node]; ok {
			w.slot = w.slot.Bind(node, source == pod.SourceStarted)
		}
	}
	return done, nil
}

// start starts a node, or adopts it.
func (w *work) start(ctx context.Context, node string, initial agent.JSON) (pod.Source, pod.Stage, error) {
	n := w.slot.Topology.Nodes[node]
	ref, err := w.slot.Topology.NodeRef(w.pod, node)
	if err == nil && n.Kind == pod.KindPod {
		err = w.keepsPods(ctx, n.Manager)
	}
	if err != nil {
		return "", pod.StageStart, err
	}
	if initial == nil {
		initial = agent.JSON(n.InitialState)
	}
	i, err := w.instances().Start(ctx, ref, agent.StartInstance{InitialState: initial})
	if err != nil {
		return "", pod.StageStart, err
	}
	source := pod.SourceStarted
	if i.Source == agent.SourceAwake {
		// What owns it was in an earlier wave, so it is awake.
		actual := w.slot.Actual(w.pod, node, func(string) bool { return true })
		switch pod.StatusOf(true, actual, w.slot.Topology.ParentOf(w.pod, node)) {
		case pod.Misplaced:
			return "", pod.StageAdopt, agent.Errorf(agent.CodeConflict, "node %q is misplaced: it hangs under node %q; stop it first", node, actual.Node)
		case pod.Adopted:
			source = pod.SourceRunning
		default:
			source = pod.SourceAdopted
		}
	}
	if n.Kind == pod.KindPod {
		if _, err := (pod.Pods{Instances: w.instances()}).Raise(ctx, ref, pod.Open{}); err != nil {
			return "", pod.StageNested, err
		}
	}
	return source, "", nil
}

// keepsPods refuses a manager that does not.
func (w *work) keepsPods(ctx context.Context, manager string) error {
	if err := pod.Recursive(pod.Ancestry(w.pod), manager); err != nil {
		return err
	}
	answers, err := w.turn.Read(ctx, &agent.GetManager{Name: manager})
	if err != nil {
		return err
	}
	_, err = pod.ManagerOf(manager, answers[0])
	return err
}

// lower stops a wave of nodes; which says what each is.
func (w *work) lower(ctx context.Context, nodes []string, which map[string]pod.Node) (*wave, error) {
	done := newWave()
	err := each(ctx, nodes, func(ctx context.Context, node string) {
		done.note(node, "", pod.StageStop, w.stop(ctx, node, which[node]))
	})
	if err != nil {
		return done, err
	}
	for _, node := range nodes {
		if _, ok := done.sources[node]; ok {
			w.slot = w.slot.Unbind(node)
		}
	}
	return done, nil
}

// stop stops a node, and of one that is a pod all of its own first. One that is
// not awake is fine.
func (w *work) stop(ctx context.Context, node string, n pod.Node) error {
	ref, err := w.slot.Topology.RefOf(w.pod, node, n)
	if err != nil {
		return err
	}
	if n.Kind == pod.KindPod {
		if err := w.tearDown(ctx, ref); err != nil {
			return err
		}
	}
	if err := w.instances().Stop(ctx, ref); agent.CodeOf(err) != agent.CodeNotFound {
		return err
	}
	return nil
}

// tearDown stops the nodes of a nested pod.
func (w *work) tearDown(ctx context.Context, ref agent.InstanceRef) error {
	_, err := w.instances().Lookup(ctx, ref)
	if agent.CodeOf(err) == agent.CodeNotFound {
		return nil // it never was
	}
	if err != nil {
		return err
	}
	return (pod.Pods{Instances: w.instances()}).TearDown(ctx, ref)
}

// unasked is the error of a wave of which a node could not be asked; nil where
// each could.
func (v *wave) unasked() error {
	if v.passing == nil {
		return nil
	}
	return agent.Errorf(agent.CodeUnavailable, "a node could not be asked: %v", v.passing)
}

// done is the nodes of a wave that nothing went wrong with.
func (v *wave) done(nodes []string) (done []string) {
	for _, node := range nodes {
		if _, failed := v.failures[node]; !failed {
			done = append(done, node)
		}
	}
	return done
}
