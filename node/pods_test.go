package node_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/agent"
	"dormouse/instance"
	"dormouse/instance/pod"
	"dormouse/instance/pod/podtest"
	"dormouse/placement"
)

func (r *testNode) pods() pod.Pods { return pod.Pods{Instances: r.Instances(), Service: r.Service()} }

func TestPodsOverTheRouter(t *testing.T) {
	podtest.Run(t, func(t *testing.T) pod.Pods {
		t.Helper()
		w := &instanceCluster{simCluster: newPlacedCluster(t, 0)}
		w.handlers = podtest.Handlers()
		w.found(1)
		w.owned()
		return w.awake["n1"].pods()
	})
}

// gate blocks the first handler that wakes, until it is opened.
type gate struct {
	instance.Handler
	once    *sync.Once
	reached chan<- struct{}
	open    <-chan struct{}
}

// Restore implements instance.Restorer.
func (g gate) Restore(agent.JSON) error {
	g.once.Do(func() { close(g.reached) })
	<-g.open
	return nil
}

// PD-15: the owner of a pod dies during a wave of a mutation. The next owner finishes it, for
// any caller: each step has one turn, nothing is done twice, and no member is left half-changed.
func TestAPodsMutationOutlivesItsOwnerSim(t *testing.T) {
	for name, callerDies := range map[string]bool{"asked for through the owner": true, "asked for through another node": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { mutationOutlives(t, callerDies) })
		})
	}
}

func mutationOutlives(t *testing.T, callerDies bool) {
	t.Helper()
	reached, open, once := make(chan struct{}), make(chan struct{}), &sync.Once{}
	s := &instanceCluster{simCluster: newPlacedCluster(t, 0)}
	s.handlers = map[string]instance.GoHandler{"gate": {New: func(agent.InstanceRef) instance.Handler { return gate{once: once, reached: reached, open: open} }}}
	s.found(3)
	for _, m := range []agent.Manager{
		{Name: "teams", Handler: agent.Handler{Kind: agent.HandlerGo, Name: pod.HandlerName}},
		{Name: "docs", Handler: agent.Handler{Kind: agent.HandlerDocument}},
		{Name: "gates", Handler: agent.Handler{Kind: agent.HandlerGo, Name: "gate"}},
	} {
		if _, err := s.leader().Service().Commit(t.Context(), agent.Commit{Ops: []agent.Op{&agent.PutManager{Manager: m}}}); err != nil {
			t.Fatal(err)
		}
	}
	s.owned()
	var dying *testNode
	s.await("a follower to own something", func() bool { dying = s.follower(); return shares(dying)[dying.name] > 0 })
	other := s.leader()
	ref := agent.InstanceRef{Scope: agent.DefaultScope, Manager: "teams"}
	for n := 0; ref.Key == ""; n++ { // a pod that the dying node owns
		key := fmt.Sprint("k", n)
		if other.Machine().Partition(placement.Partition(ref.Scope, ref.Manager, key)).Owner == dying.name {
			ref.Key = key
		}
	}
	const topology = `{"name":"t","nodes":{"old":{"manager":"docs","activation":"eager"},"older":{"manager":"docs","activation":"eager"}},"links":[["owns","old","older"]]}`
	if _, err := other.pods().Get(t.Context(), ref, pod.Open{Topology: []byte(topology)}); err != nil {
		t.Fatal(err)
	}
	before, err := other.Instances().Lookup(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}

	// Two waves that stop, then three that start: the second of these is blocked.
	caller := other
	if callerDies {
		caller = dying
	}
	told := make(chan error, 1)
	go func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 2*time.Minute)
		defer cancel()
		report, err := caller.pods().Mutate(ctx, ref, agent.JSON(`[{"remove_node":{"name":"old"}},
			{"add_node":{"name":"a","node":{"manager":"docs","activation":"eager","initial_state":{"n":1}}}},
			{"add_node":{"name":"b","node":{"manager":"gates","activation":"eager","initial_state":{"n":2}},"owner":"a"}},
			{"add_node":{"name":"c","node":{"manager":"docs","activation":"eager","initial_state":{"n":3}},"owner":"b"}}]`), agent.Request{})
		if err == nil && report.Status != pod.MutationCompleted {
			err = fmt.Errorf("the mutation is %+v", report)
		}
		told <- err
	}()
	<-reached
	s.isolate(dying.name)
	close(open)
	s.crash(dying.name)

	s.await("the next owner to finish the mutation", func() bool {
		view, err := other.pods().Lookup(t.Context(), ref)
		return err == nil && view.Slot.Mutation.Status == pod.MutationCompleted
	})
	if err := <-told; err != nil && !callerDies {
		t.Errorf("whoever asked was told: %v", err)
	}
	view, err := other.pods().Lookup(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	if r := view.Slot.Mutation.Report; fmt.Sprint(r.Stopped, r.Started, len(r.Failures), r.TopologyVersion) != "[old older] [a b c] 0 2" {
		t.Errorf("the report: %+v", r)
	}
	after, err := other.Instances().Lookup(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	if got := after.Revision - before.Revision; got != 6 || after.Node == dying.name {
		t.Errorf("%d commits of the pod, now at %s: one for the mutation and one for each of its five waves are 6", got, after.Node)
	}
	shots, err := other.pods().Nodes(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	for _, shot := range shots {
		i, err := other.Instances().Lookup(t.Context(), agent.InstanceRef{Manager: shot.Manager, Key: shot.Key})
		if err != nil || i.Revision != 1 {
			t.Errorf("node %s was stored %d times, %v", shot.Name, i.Revision, err)
		}
	}
}
