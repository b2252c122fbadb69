package node_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"dormouse/agent"
)

// watchLog records the last event of each instance in a watch.
type watchLog struct {
	mu     sync.Mutex
	newest map[string]agent.InstanceEvent // :: key
	missed map[string]int                 // :: node → number of its missed events; "" for all
	wrong  []string
}

// read watches all instances through a node until the test ends.
func (s *instanceCluster) read(through string) *watchLog {
	s.t.Helper()
	g := &watchLog{newest: map[string]agent.InstanceEvent{}, missed: map[string]int{}}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	watch := s.awake[through].Instances().Watch(ctx, agent.InstanceWatch{Manager: "docs"})
	go func() {
		defer close(done)
		for e, err := range watch {
			g.take(e, err)
		}
	}()
	s.t.Cleanup(func() { cancel(); <-done })
	s.await("the watch to begin", func() bool { return g.misses("") == 1 })
	return g
}

func (g *watchLog) take(e agent.InstanceEvent, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch before := g.newest[e.Key]; {
	case err != nil:
		g.wrong = append(g.wrong, err.Error())
	case e.Missed && strings.HasPrefix(e.Reason, "changes came after"): // retried later
	case e.Missed:
		g.missed[e.Node]++
	case e.Epoch < before.Epoch || e.Epoch == before.Epoch && before.Node != "" && e.Node != before.Node:
		g.wrong = append(g.wrong, fmt.Sprintf("%+v after %+v", e, before))
	default:
		g.newest[e.Key] = e
	}
}

func (g *watchLog) misses(node string) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.missed[node]
}

func (g *watchLog) of(key string) agent.InstanceEvent {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.newest[key]
}

// A watch through one node reports the instances of all nodes. If a node is cut off, the watch
// reports that, and reports its instances again later.
func TestAWatchHearsOfAllNodesSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newInstanceCluster(t, 3, 24)
		g := s.read("n1")
		homes := map[string]bool{}
		awake := func(through string) {
			t.Helper()
			for _, key := range s.keys {
				reply := s.signal(through, key)
				homes[reply.Node] = true
				s.await("the watch to tell that "+key+" is awake", func() bool {
					e := g.of(key)
					return e.Status == agent.InstanceAwake && e.Node == reply.Node && e.Epoch == reply.Epoch
				})
			}
		}
		awake("n2")
		if len(homes) != 3 {
			t.Errorf("the instances live on %v", homes)
		}
		s.isolate("n3")
		s.await("the watch to miss n3", func() bool { return g.misses("n3") == 1 })
		awake("n1")
		s.heal()
		s.await("the watch to hear n3 again", func() bool { return g.misses("n3") == 2 })
		s.settled("n1", "n2", "n3")
		awake("n3")
		for _, key := range s.keys {
			if err := s.awake["n2"].Instances().Stop(t.Context(), agent.InstanceRef{Manager: "docs", Key: key}); err != nil {
				t.Fatal(err)
			}
			s.await("the watch to tell that "+key+" sleeps", func() bool {
				e := g.of(key)
				return e.Status == agent.InstanceDormant && e.Reason == agent.ReasonManual
			})
		}
		if len(g.wrong) > 0 {
			t.Errorf("%d events were wrong, such as %s", len(g.wrong), g.wrong[0])
		}
		if g.misses("") != 1 || g.misses("n1") != 0 || g.misses("n2") != 0 {
			t.Errorf("missed: %v", g.missed)
		}
	})
}
